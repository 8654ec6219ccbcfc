from __future__ import annotations

import pytest

import recommit
from recommit.cli.requests import WrongCall, gathered, puzzle, span, window


@pytest.mark.parametrize(("length", "asked"), [(None, None), ((), None), ((9,), 9), ((8, 32), (8, 32))])
def test_window(length: tuple[int, ...] | None, asked: object) -> None:
    assert window(length) == asked


@pytest.mark.parametrize(("length", "pair"), [(None, ()), ((), ()), ((9,), (9, 9)), ((8, 32), (8, 32))])
def test_one_number_is_a_span_of_lengths(length: tuple[int, ...] | None, pair: tuple[int, ...]) -> None:
    assert span(length) == pair


def command(
    data: tuple[int, ...], length: tuple[int, int] | None = None, two_words: tuple[int, ...] | None = None
) -> None:
    """Flags that take several values, and one that takes two."""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--data a --out o --data b c", "--out o --data a b c"),
        ("x --data=a --two-words 1 --data=b", "x --two-words 1 --data a b"),
        ("--length 1 2 --length 3 4", "--length 1 2 --length 3 4"),
        ("--two-words -1 --two-words 2 --show", "--two-words -1 2 --show"),
        ("x y", "x y"),
    ],
)
def test_a_flag_of_several_values_keeps_all_of_them(words: str, expected: str) -> None:
    assert gathered(words.split(), command) == expected.split()


def test_puzzle() -> None:
    sokoban = puzzle("sokoban", (6, 9), 3)
    assert isinstance(sokoban, recommit.Sokoban)
    assert (sokoban.shape, sokoban.boxes) == ((6, 9), 3)
    assert puzzle("sliding", (4,), 3).shape == (4, 4)


def test_too_many_numbers_are_refused() -> None:
    with pytest.raises(WrongCall, match=r"size: .* got 3 numbers"):
        puzzle("sliding", (3, 3, 3), 1)
    with pytest.raises(WrongCall, match=r"length: .* got 3 numbers"):
        window((1, 2, 3))
