"""When to re-commit: exact, fast puzzles and policies that decide how many actions to commit to before looking again."""

from __future__ import annotations

from recommit._core import LevelError
from recommit.levels import Levels, format_levels, parse_levels, read_levels, write_levels
from recommit.puzzles.instances import Instances
from recommit.puzzles.puzzle import Outcome, Puzzle
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.puzzles.solutions import UNKNOWN, UNSOLVABLE, Limits, Solutions, Status
from recommit.registration import register_when_imported

__version__ = "0.1.0"

#: The four primitive actions, by index.
ACTIONS = ("up", "down", "left", "right")

register_when_imported()

__all__ = [
    "ACTIONS",
    "UNKNOWN",
    "UNSOLVABLE",
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
