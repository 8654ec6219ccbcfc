"""Work that ranks divide: who looks at which states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.policy.config import PASS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recommit.runs.ranks import Team


def divided(items: NDArray[np.int64], world: int, size: int = 0) -> list[NDArray[np.int64]]:
    """Pieces of at most ``size`` items; of a pass at most, and enough for every rank, where none is said."""
    size = size or min(PASS, -(-len(items) // world))
    return [items[begin : begin + size] for begin in range(0, len(items), max(size, 1))]


def turns(pieces: list[NDArray[np.int64]], team: Team, together: bool) -> list[NDArray[np.int64]]:
    """A rank's pieces. If all ranks need equally many, it has an empty one where others have one more."""
    mine = pieces[team.rank :: team.world]
    idle = together and len(mine) * team.world < len(pieces)
    return [*mine, pieces[0][:0]] if idle else mine
