"""Many ways to choose depths on the same starts, turn by turn, so that states are looked at in large batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.plan_graph import Chooser, PlanGraph


def scores(
    reach: PlanGraph, starts: NDArray[np.uint8], budget: int, choices: Sequence[Chooser], limit: float = np.inf
) -> list[tuple[int, int]]:
    """Count for each choice the episodes solved, and the actions of all with a minus; (-1, 0) if those are more than
    ``limit``."""
    at = np.tile(reach.nodes(starts, budget), (len(choices), 1))
    solved, actions = reach.goal[at], np.zeros(len(choices), np.int64)
    for turn in range(budget):
        under_way = ~solved & (actions <= limit)[:, None]
        if not under_way.any():
            break
        reach.expand(at[under_way])
        for i in np.flatnonzero(under_way.any(axis=1)).tolist():
            who = np.flatnonzero(under_way[i])
            nodes = at[i, who]
            columns = choices[i](turn, who, nodes)
            actions[i] += reach.executed[nodes, columns].sum()
            solved[i, who] = reach.solved[nodes, columns]
            at[i, who] = reach.landing[nodes, columns]
    within = actions <= limit
    return [(int(solved[i].sum()), -int(actions[i])) if within[i] else (-1, 0) for i in range(len(choices))]
