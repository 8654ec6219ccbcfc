"""The frozen splits of the leaderboard, on which agents of all kinds are scored.

A split is a file of the package with levels, their exact optimal lengths, budgets and prices, under one sha256;
``bench/pages/frozen.py`` of ``e8bb05dc`` wrote them. The levels are the test split of ``recipe``, used by no other data
set of the package; they are stored as text, so that any program can read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recommit.data.spec import DataSpec
from recommit.prices import Prices
from recommit.puzzles.levels import parse_levels
from recommit.storage import safe_open, verified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: Folder of the split files, one per name.
FOLDER = Path(__file__).resolve().parents[1] / "splits"
FORMAT = 1
FIELDS: verified.Fields = {
    "format": int,
    "recipe": dict,
    "budgets": [int],
    "prices": {"action": verified.NUMBER, "observation": verified.NUMBER},
    "levels": [str],
    "ids": [str],
    "length": [int],
    "rooms": (list, type(None)),
    "sha256": str,
}


@dataclass(frozen=True, eq=False)
class FrozenSplit:
    """An immutable set of levels with exact lengths, budgets and prices."""

    name: str
    recipe: DataSpec
    starts: NDArray[np.uint8]
    ids: tuple[str, ...]
    #: Optimal length of each level.
    length: NDArray[np.int32]
    #: Room id of each level, for data with ``disjoint: layouts``.
    rooms: NDArray[np.int64] | None
    budgets: tuple[int, ...]
    prices: Prices
    sha256: str

    @property
    def task(self) -> Puzzle:
        """The puzzle of its levels."""
        return self.recipe.puzzle()


def names() -> list[str]:
    """Names of all frozen splits."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(name: str) -> FrozenSplit:
    """Read a split by name, checking its digest."""
    if name not in names():
        raise ValueError(f"split: expected one of {', '.join(names())}, got {name or 'none'}")
    path = FOLDER / f"{name}.json"
    values = verified.record(path, safe_open.content(path), FIELDS)
    return FrozenSplit(
        name=name,
        recipe=DataSpec.from_dict(values["recipe"]),
        starts=np.stack(list(parse_levels("\n\n".join(values["levels"]) + "\n"))),
        ids=tuple(values["ids"]),
        length=np.array(values["length"], np.int32),
        rooms=None if values["rooms"] is None else np.array(values["rooms"], np.int64),
        budgets=tuple(values["budgets"]),
        prices=Prices(**values["prices"]),
        sha256=values["sha256"],
    )
