"""What the verbs of the command line share: how a request is refused, and which puzzle its flags name."""

from __future__ import annotations

import re
from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recommit.puzzles.puzzle import Puzzle


class WrongCall(Exception):
    """The arguments fit no request; the message says why."""


def gathered(words: list[str], command: Callable[..., object]) -> list[str]:
    """The words of a command, with all values of a flag that takes several behind its first mention.

    The parser would keep the last mention alone.
    """
    parameters = signature(command).parameters.values()
    several = {f"--{each.name.replace('_', '-')}" for each in parameters if "..." in str(each.annotation)}
    groups: list[list[str]] = [[]]
    for word in words:
        name, equals, value = word.partition("=")
        if name not in several:
            groups += [[word]] if word.startswith("--") else []
            groups[-1] += [] if word.startswith("--") else [word]
            continue
        earlier = next((group for group in groups if group[:1] == [name]), [name])
        groups = [group for group in groups if group is not earlier] + [[*earlier, *([value] if equals else [])]]
    return [word for group in groups for word in group]


#: What a flag of a verb takes where it is not set, in the words of its help.
SIZE = "8 of sokoban and ice, 3 of sliding"
BOXES = 2
PORTS = 1 << 16


def puzzle(task: str, size: tuple[int, ...], boxes: int = BOXES) -> Puzzle:
    """The puzzle that ``--task``, ``--size`` and ``--boxes`` ask for; without a size, of the usual one."""
    from recommit.puzzles import registry

    kind = registry.puzzle(task)
    if len(size) > 2:
        raise WrongCall(f"size: expected rows, or rows and columns, got {len(size)} numbers")
    try:
        return kind.of((size[0], size[-1]) if size else kind.usual.size, boxes)
    except ValueError as error:  # rows and columns are no flags
        raise WrongCall(re.sub(r"^(rows|columns):", "size:", str(error))) from None


def window(length: tuple[int, ...] | None) -> int | tuple[int, int] | None:
    """``--length`` with one number or two, as ``generate`` takes it."""
    if not length:
        return None
    if len(length) > 2:
        raise WrongCall(f"length: expected one length, or shortest and longest, got {len(length)} numbers")
    return length[0] if len(length) == 1 else (length[0], length[1])


def span(length: tuple[int, ...] | None) -> tuple[int, ...]:
    """``--length`` as shortest and longest; one number is both, and nothing stays nothing."""
    lengths = window(length)
    return () if lengths is None else (lengths, lengths) if isinstance(lengths, int) else lengths


def check_port(port: int) -> None:
    """Refuse a number that no port has; 0 is any free one."""
    if not 0 <= port < PORTS:
        raise WrongCall(f"port: expected 0..{PORTS - 1}, got {port}")


def check_place(out: Path, makes_folders: bool = False) -> None:
    """Refuse an output file that could not be written, before the work is done."""
    if not out.name or out.is_dir():
        raise WrongCall(f"{out}: expected a file, got a folder")
    if not makes_folders and not out.absolute().parent.is_dir():
        raise WrongCall(f"{out}: there is no folder {out.parent}")
