from __future__ import annotations

import pytest

import recommit
from recommit.calls import WrongCall, puzzle, window


@pytest.mark.parametrize(("length", "asked"), [(None, None), ((), None), ((9,), 9), ((8, 32), (8, 32))])
def test_window(length: tuple[int, ...] | None, asked: object) -> None:
    assert window(length) == asked


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
