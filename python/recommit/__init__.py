"""When to re-commit: exact, fast puzzles, and policies that choose how many actions to commit to per observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit._core import LevelError
from recommit.lazy import attach
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

__getattr__, __dir__ = attach(
    __name__,
    {"recommit.policy.policy": "CommitPolicy", "recommit.report.animation": "PlayedEpisode episode"},
    also=[*__all__, "__version__"],
    packages=("data", "envs", "evaluate", "horizon", "policy", "theory", "train", "zero_shot"),
)
