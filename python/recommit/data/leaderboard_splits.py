"""The frozen splits of the leaderboard, on which agents of all kinds are scored.

A split is a file of the package with levels, their exact optimal lengths, budgets and prices, under one sha256;
``bench/pages/frozen.py`` of ``e8bb05dc`` wrote them. The levels are the test split of ``recipe``, which no other data
set of the package has for its own; they are text, so that any program reads them.
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

#: Of the splits, by name.
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
    """Levels that stay what they are."""

    name: str
    recipe: DataSpec
    starts: NDArray[np.uint8]
    ids: tuple[str, ...]
    #: The fewest actions that solve each.
    length: NDArray[np.int32]
    #: The number of the room of each, where the data keeps rooms apart.
    rooms: NDArray[np.int64] | None
    budgets: tuple[int, ...]
    prices: Prices
    sha256: str

    @property
    def task(self) -> Puzzle:
        """The puzzle of its levels."""
        return self.recipe.puzzle()


def names() -> list[str]:
    """All frozen splits."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(name: str) -> FrozenSplit:
    """The split of a name, if its file is what was frozen."""
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
