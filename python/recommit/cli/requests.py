"""What the verbs of the command line share: how a request is refused, and which puzzle its flags name."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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


def puzzle(task: str, size: tuple[int, ...], boxes: int) -> Puzzle:
    """The puzzle that ``--task``, ``--size`` and ``--boxes`` ask for."""
    from recommit.puzzles import registry

    if len(size) not in (1, 2):
        raise WrongCall(f"size: expected rows, or rows and columns, got {len(size)} numbers")
    return registry.puzzle(task).of((size[0], size[-1]), boxes)


def window(length: tuple[int, ...] | None) -> int | tuple[int, int] | None:
    """``--length`` with one number or two, as ``generate`` takes it."""
    if not length:
        return None
    if len(length) > 2:
        raise WrongCall(f"length: expected one length, or shortest and longest, got {len(length)} numbers")
    return length[0] if len(length) == 1 else (length[0], length[1])
