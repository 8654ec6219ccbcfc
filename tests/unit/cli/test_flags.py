"""What ``--help`` shows of a flag, and that every verb shows one call that its parser takes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

import pytest

from recommit.cli import command_line, examples
from recommit.cli.flags import overriding, presented, usual
from recommit.cli.requests import BOXES, SIZE, gathered
from recommit.cli.verbs.data import LENGTHS, USUAL
from recommit.puzzles.registry import TASKS

tyro = pytest.importorskip("tyro")


@usual(seed="7")
def command(
    word: Literal["b", "a"] | None = None,
    seed: int | None = None,
    exact: bool | None = None,
    length: tuple[int, ...] = (),
) -> tuple[object, ...]:
    """Do nothing.

    Args:
        word: A word.
        seed: A seed.
        exact: Whether.
        length: Numbers.
    """
    return word, seed, exact, length


def parsed(*words: str) -> object:
    return tyro.cli(presented(command), args=list(words))


def test_values_come_through() -> None:
    assert parsed() == (None, None, None, ())
    assert parsed("--word", "a", "--seed", "3", "--exact", "False", "--length", "8", "9") == ("a", 3, False, (8, 9))


def test_choices_stand_in_their_order_without_none(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        with pytest.raises(SystemExit):
            parsed("--word", "c")
        assert "('b', 'a')" in capsys.readouterr().err


def test_a_word_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--seed", "x")
    assert "--seed" in capsys.readouterr().err


def test_the_help_says_what_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    shown = capsys.readouterr().out
    assert "(default: 7)" in shown
    assert "None" not in shown


@pytest.mark.parametrize("verb", command_line.VERBS)
def test_no_help_shows_none_and_each_has_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([*verb.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert "(default: None)" not in shown
    assert "(default: )" not in shown
    assert f"Example: {examples.EXAMPLES[verb]}" in shown


@pytest.mark.parametrize("verb", command_line.VERBS)
def test_the_example_is_a_call_of_the_verb(verb: str) -> None:
    words = shlex.split(examples.EXAMPLES[verb])
    assert words[: 1 + len(verb.split())] == ["recommit", *verb.split()]
    command, calls = command_line.VERBS[verb], []
    stand_in = presented(command)

    def record(*arguments: object, **options: object) -> int:
        calls.append((arguments, options))
        return 0

    record.__annotations__, record.__doc__ = stand_in.__annotations__, command.__doc__
    vars(record)["__signature__"] = vars(stand_in)["__signature__"]
    rest = gathered(words[1 + len(verb.split()) :], command)
    assert tyro.cli(record, args=rest, config=(tyro.conf.FlagCreatePairsOff,)) == 0
    assert len(calls) == 1


def test_there_are_no_examples_of_other_verbs() -> None:
    assert examples.EXAMPLES.keys() == command_line.VERBS.keys()


@dataclass
class Options:
    """Something to change."""

    name: str
    """A name."""
    count: int = 4
    """How many."""


def test_a_command_takes_over_the_fields_of_a_dataclass(capsys: pytest.CaptureFixture[str]) -> None:
    @overriding(Options, "name", "count")
    def change(exact: bool = False, **changes: object) -> tuple[object, ...]:
        """Change something.

        Args:
            exact: whether.
        """
        return exact, changes

    assert tyro.cli(presented(change), args=["--name", "a", "--exact"]) == (True, {"name": "a"})
    with pytest.raises(SystemExit):
        tyro.cli(presented(change), args=["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "How many. (default: 4)" in shown
    assert "A name. (default: that of the recipe)" in shown


def test_the_usual_sizes_and_lengths_that_help_shows_are_real() -> None:
    assert {name: kind.usual.size for name, kind in TASKS.items()} == {
        "sliding": (3, 3),
        "sokoban": (8, 8),
        "ice": (8, 8),
    }
    assert SIZE == "8 of sokoban and ice, 3 of sliding"
    assert USUAL["boxes"] == f"{BOXES} of sokoban"
    every = {name: LENGTHS.get(name, kind.usual.length) for name, kind in TASKS.items()}
    assert USUAL["length"] == ", ".join(f"{low} to {high} of {name}" for name, (low, high) in every.items())
