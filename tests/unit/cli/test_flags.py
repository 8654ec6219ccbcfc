"""A dataclass of options and the switches of a function become flags."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from recommit.cli import command_line, flags
from recommit.cli.flags import Verb, dotted, gathered

pytest.importorskip("tyro")


@dataclass(frozen=True)
class Base:
    """What every such command takes.

    Args:
        file: A file.
        seed: A seed (default: 7).
    """

    file: str | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Options(Base):
    """What this one takes besides.

    Args:
        word: A word.
        length: Numbers.
        count: How many.
        web: Whether there is a page.
    """

    word: Literal["b", "a"] | None = None
    length: tuple[int, ...] = ()
    count: int = 4
    web: bool = True

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")


seen: list[tuple[Options, bool]] = []


def command(options: Options, json: bool = False) -> None:
    """Do something.

    Args:
        json: Print JSON.
    """
    seen.append((options, json))


VERB = Verb(command, "--count 3", ("file",))


def parsed(*words: str) -> tuple[Options, bool]:
    VERB.run(words, "recommit do")
    return seen.pop()


def test_values_come_through_as_the_genuine_dataclass() -> None:
    assert parsed() == (Options(), False)
    words = ["x", "--word", "a", "--seed", "3", "--no-web", "--length", "8", "9", "--json", "--length=7"]
    assert parsed(*words) == (Options("x", 3, word="a", web=False, length=(8, 9, 7)), True)
    assert VERB.bound(file="x", count=3, json=True)() is None
    assert seen.pop() == (Options("x", count=3), True)


def test_the_help_shows_every_docstring_and_every_real_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("usage: recommit do [-h] [OPTIONS] [STR] Do something. Example: recommit do --count 3")
    for said in ("A seed (default: 7).", "A word.", "How many. (default: 4)", "Print JSON.", "--word {b,a}"):
        assert said in shown
    assert "None" not in shown
    with pytest.raises(SystemExit):
        parsed("--seed", "1.5")
    assert "--seed: expected a whole number, got 1.5" in capsys.readouterr().err


@pytest.mark.parametrize("name", command_line.VERBS)
def test_every_verb_has_help_and_an_example_that_it_understands(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command_line.main([*name.split(), "--help"]) == 0
    shown, verb, calls = capsys.readouterr().out, command_line.VERBS[name], list[Any]()
    assert "(default: None)" not in shown
    assert "None}" not in shown
    assert "{None" not in shown
    assert "(default: )" not in shown
    assert f"Example: recommit {name}" in shown
    monkeypatch.setattr(Verb, "bound", lambda _self, **values: lambda: calls.append(values))
    monkeypatch.setattr(flags, "refuse_missing", lambda *_: None)
    verb.run(shlex.split(verb.example), f"recommit {name}")
    assert len(calls) == 1


def test_options_are_read_without_what_a_verb_works_with() -> None:
    """``--help`` is quick, and needs no extra but that of the command line."""

    code = (
        "import sys; import recommit.cli; print([m for m in ('torch', 'tyro', 'pyarrow', 'yaml') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--length 1 --count 2 --length 3 4", "--count 2 --length 1 3 4"),
        ("x --length=1 --json --length=2", "x --json --length 1 2"),
        ("--length -1 --length 2 --json", "--length -1 2 --json"),
        ("x y", "x y"),
    ],
)
def test_a_flag_of_several_values_keeps_all_of_them(words: str, expected: str) -> None:
    assert gathered(words.split(), VERB.shown()) == expected.split()


def test_lerobots_words_for_an_environment_become_its_arguments() -> None:
    words = ["--lerobot", "saved", "--env.type=pusht", "--out", "sweep", "--env.task=a=b", "--env", "x"]
    *rest, name, values = dotted(words)
    assert rest == ["--lerobot", "saved", "--out", "sweep", "--env", "x"]
    assert (name, json.loads(values)) == ("--env-kwargs", {"type": "pusht", "task": "a=b"})
    assert dotted(rest) == rest
