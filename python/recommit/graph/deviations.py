"""A commitment graph of branches: what each depth comes to in states of any deterministic environment.

``SnapshotEnv.branch`` says it state by state. In the graph each such state is a start whose edges are the depths;
behind an edge the base rule's queries follow one by one, whatever a rule would choose there. So the value of a rule is
the mean of Q(s, h) at the depths that it takes in these states, the oracle is the best of them, and regret and gain
shares are those of the states: ``recommit graph score`` computes them, for fixed depths and for tables of depths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.graph import CommitmentGraph
from recommit.puzzles.solutions import UNSOLVABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.envs.branching import Branches

#: The first two nodes: an episode that has succeeded, and one that has not.
GOAL, ENDED = 0, 1


@dataclass(eq=False)
class _Chains:
    """The base rule's queries behind a commitment, each a node; those that come to the same are the same."""

    number: dict[tuple[bool, int, int], int] = field(default_factory=dict)
    rows: list[tuple[int, int]] = field(default_factory=list)  # executed, landing

    def node(self, success: bool, queries: int, actions: int) -> int:
        """Where an episode is that ends so after so many queries and actions."""
        new = []
        while queries and (success, queries, actions) not in self.number:
            first = -(-actions // queries)  # how they are spread over the queries is not known, and makes no difference
            new.append(((success, queries, actions), first))
            queries, actions = queries - 1, actions - first
        here = self.number[success, queries, actions] if queries else GOAL if success else ENDED
        for key, first in reversed(new):
            self.rows.append((first, here))
            here = self.number[key] = 1 + len(self.rows)
        return here


def deviation_graph(
    branches: Sequence[Branches], groups: NDArray[np.integer] | None = None, source: dict[str, Any] | None = None
) -> CommitmentGraph:
    """A start for each of the states, in order.

    Args:
        branches: Of every state, all with the same depths and in their one future.
        groups: [states] equal where states are of one episode; intervals draw whole groups again.
        source: Where it is from: any plain values; ``queries``, the most that an episode has, is added.
    """
    if not len(branches):
        raise ValueError("branches: expected those of at least one state, got none")
    depths = branches[0].depths
    for each in branches:
        each.refuse_unsaid()
        if each.depths != depths or list(depths) != sorted(set(depths)) or each.futures != (0,):
            raise ValueError(
                f"branches: expected the depths {depths}, ascending, in the future (0,), got {each.depths} in "
                f"{each.futures}"
            )
    chains, edges = _Chains(), []
    for each in branches:
        columns = (row[0].tolist() for row in (each.success, each.queries, each.actions, each.executed))
        edges.append([(first, chains.node(s, k - 1, n - first)) for s, k, n, first in zip(*columns, strict=True)])
    queries = max(int(each.queries.max()) for each in branches)
    return _graph(depths, np.array(edges), chains, branches, groups, {**(source or {}), "queries": queries})


def _graph(
    depths: tuple[int, ...],
    edges: NDArray[np.integer],
    chains: _Chains,
    branches: Sequence[Branches],
    groups: NDArray[np.integer] | None,
    source: dict[str, Any],
) -> CommitmentGraph:
    """Goal and end, chains, and the states behind them."""
    many, chained = len(depths), np.array(chains.rows, np.int64).reshape(-1, 2)
    rows = np.concatenate([np.zeros((2, many, 2), np.int64), np.repeat(chained[:, None], many, axis=1), edges])
    rows[ENDED, :, 1] = ENDED
    actions = np.array([np.where(each.success[0], each.actions[0], np.iinfo(np.int32).max) for each in branches])
    least = np.where(actions.min(axis=1) == np.iinfo(np.int32).max, UNSOLVABLE, actions.min(axis=1))
    along = [actions if success else UNSOLVABLE for success, _, actions in chains.number]
    nodes, begin = np.arange(len(rows)), 2 + len(chained)
    return CommitmentGraph(
        depths=depths,
        landing=rows[:, :, 1].astype(np.int32),
        executed=rows[:, :, 0].astype(np.int8 if rows[:, :, 0].max() <= 127 else np.int64),
        goal=nodes == GOAL,
        ended=nodes == ENDED,
        planned=nodes > ENDED,
        distance=np.concatenate([[0, UNSOLVABLE], along, least]).astype(np.int32),
        starts=nodes[begin:].astype(np.int32),
        groups=np.arange(len(branches), dtype=np.int32) if groups is None else np.asarray(groups, np.int32),
        source=source,
    )
