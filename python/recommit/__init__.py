"""When to re-commit: exact, fast puzzles, and policies that decide how many actions to commit to before a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit._core import LevelError
from recommit.puzzles.ice import Ice
from recommit.puzzles.levels import Levels, format_levels, parse_levels, read_levels, write_levels
from recommit.puzzles.puzzle import Instances, Outcome, Puzzle
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.puzzles.solutions import UNKNOWN, UNSOLVABLE, Limits, Solutions, Status
from recommit.puzzles.solver import Solution, solve
from recommit.registration import register_when_imported
from recommit.version import VERSION

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy
    from recommit.report.animation import PlayedEpisode, episode

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
    "PlayedEpisode",
    "Puzzle",
    "Sliding",
    "Sokoban",
    "Solution",
    "Solutions",
    "Status",
    "episode",
    "format_levels",
    "parse_levels",
    "read_levels",
    "solve",
    "write_levels",
]

#: Packages that are imported when they are first asked for.
PACKAGES = ("data", "envs", "evaluate", "horizon", "policy", "theory", "train", "zero_shot")
_HOME = {
    "CommitPolicy": "policy.policy",
    "PlayedEpisode": "report.animation",
    "episode": "report.animation",
}


def __getattr__(name: str) -> Any:
    """What needs more than numpy is imported when it is first asked for."""
    from importlib import import_module

    if name in _HOME:
        value = getattr(import_module(f"recommit.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in PACKAGES:
        return import_module(f"recommit.{name}")
    raise AttributeError(f"module 'recommit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *PACKAGES, "__version__"])
