"""When to re-commit: exact, fast puzzles, and policies that decide how many actions to commit to before a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit._core import LevelError
from recommit.levels import Levels, format_levels, parse_levels, read_levels, write_levels
from recommit.puzzles.ice import Ice
from recommit.puzzles.instances import Instances
from recommit.puzzles.outcomes import Outcome
from recommit.puzzles.puzzle import Puzzle
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.puzzles.solutions import UNKNOWN, UNSOLVABLE, Limits, Solutions, Status
from recommit.registration import register_when_imported
from recommit.version import VERSION

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy

__version__ = VERSION

#: The four primitive actions, by index.
ACTIONS = ("up", "down", "left", "right")

register_when_imported()

__all__ = [
    "ACTIONS",
    "UNKNOWN",
    "UNSOLVABLE",
    "CommitPolicy",
    "Ice",
    "Instances",
    "LevelError",
    "Levels",
    "Limits",
    "Outcome",
    "Puzzle",
    "Sliding",
    "Sokoban",
    "Solutions",
    "Status",
    "format_levels",
    "parse_levels",
    "read_levels",
    "write_levels",
]


def __getattr__(name: str) -> Any:
    """What needs more than numpy is imported when it is first asked for."""
    from importlib import import_module

    if name == "CommitPolicy":
        value = import_module("recommit.policy.policy").CommitPolicy
        globals()[name] = value
        return value
    if name in ("data", "envs", "evaluate", "horizon", "train"):
        return import_module(f"recommit.{name}")
    raise AttributeError(f"module 'recommit' has no attribute {name!r}")
