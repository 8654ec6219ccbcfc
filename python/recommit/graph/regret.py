"""The exact cost of every single commitment against the best one, and its cause.

With V^p and Q of the best depths under these plans, a commitment to depth h with k observations left has the regret

    r_k(s, h) = V^p_k(s) - Q_k(s, h) >= 0,       and       V^p - V^r = the sum of visits_k(s) r_k(s, .) over all k and s

for any rule r and any start: the whole gap is made of single commitments. ``attribute`` plays a rule's episodes;
``expected_regret`` goes over every depth that a rule may sample. Each commitment that was not the best has a cause:

``last observation``: with the observations left nothing could be solved any more, so that only prices were lost. ``lost
level``: the commitment made it unsolvable. ``loop``: it led to a state where the episode had been (of depths that are
sampled: where it began, since a state does not say where an episode has been). Otherwise the depth was ``too deep`` or
``too shallow``, above or below the nearest depth that was best (of two as near, the shallower one).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.graph.episodes import episodes, pay_for_the_rest
from recommit.graph.values import TIE, chosen_rows, commitments, outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import Floats, Nodes
    from recommit.graph.values import OptimalValues


#: Causes of regret; the first that applies counts.
CAUSES = ("last observation", "lost level", "loop", "too deep", "too shallow")
#: Tolerance for the sum of a state's probabilities.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Regret:
    """Outcomes of episodes, and every regret with its node and cause."""

    starts: Nodes  #: the nodes where the episodes begin
    ends: tuple[NDArray[Any], ...]  #: [starts] solved, actions and observations
    node: Nodes
    regret: Floats
    cause: NDArray[np.int8]  #: place in ``CAUSES``, -1 where the commitment was one of the best

    def outcome(self) -> tuple[NDArray[Any], ...]:
        """[starts] solved, actions and observations."""
        return self.ends

    def shares(self) -> dict[str, float]:
        """Shares of all regret by cause; they add up to 1, or are all 0 if there is none."""
        some = self.cause >= 0
        sums = np.bincount(self.cause[some], self.regret[some], len(CAUSES))
        return dict(zip(CAUSES, (sums / max(sums.sum(), TIE)).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Attribution(Regret):
    """Every commitment of some episodes, in order (observation, start), with its regret and the cause of it."""

    start: Nodes  #: index of the start
    remaining: Nodes  #: observations left, this one too
    depth: Nodes
    executed: Nodes
    landing: Nodes
    best: Nodes  #: the nearest depth that was best, of two as near the shallower

    def total(self) -> Floats:
        """[starts] the regret of each episode: V^p - V^r."""
        return np.bincount(self.start, self.regret, len(self.starts)).astype(np.float64)


def attribute(best: OptimalValues, starts: NDArray[np.integer], choose: Chooser) -> Attribution:
    """Play every start once; returns the regret of each commitment."""
    graph, nodes = best.graph, np.asarray(starts, np.int64)
    solved, actions, observations = graph.goal[nodes], np.zeros(len(nodes)), np.zeros(len(nodes))
    path, parts = np.full((best.budget, len(nodes)), -1), []
    for turn, who, here, column in episodes(graph, nodes, best.budget, choose):
        remaining = best.budget - turn
        path[turn, who] = here
        there = graph.landing[here, column].astype(np.int64)
        executed = graph.executed[here, column].astype(np.int64)
        solved[who], actions[who], observations[who] = graph.goal[there], actions[who] + executed, turn + 1
        returned = (path[: turn + 1, who] == there).any(axis=0)
        each = commitment_regret(best, remaining, here, column, returned)
        depth = np.array(graph.depths)[column]
        parts.append((here, *each[:2], who, np.full(len(who), remaining), depth, executed, there, each[2]))
    pay_for_the_rest(graph, best.budget, solved, actions, observations)
    none = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int8), *[np.zeros(0, np.int64)] * 6)
    columns = (np.concatenate(column) for column in zip(none, *parts, strict=True))
    return Attribution(nodes, (solved, actions, observations), *columns)


@dataclass(frozen=True, eq=False)
class ExpectedRegret(Regret):
    """Expected regret of episodes with sampled depths: one entry per node and cause, summed over all starts."""

    gap: Floats  #: [starts] V^p - V^r

    def total(self) -> Floats:
        """[starts] V^p - V^r."""
        return self.gap


def expected_regret(best: OptimalValues, starts: NDArray[np.integer], probs: Floats) -> ExpectedRegret:
    """Expected outcomes and regret of depths sampled by ``probs`` [N, depths], the same at every visit. Rows of nodes
    without a choice are not read."""
    graph, nodes = best.graph, np.asarray(starts, np.int64)
    rows = chosen_rows(graph)
    checks.shape("probs", checks.array("probs", probs, "f"), (len(graph), len(graph.depths)))
    checks.between("probs", probs[rows], 0, 1)
    checks.sums("probs", probs[rows], SLACK)
    *_, table = outcomes(graph, best.budget, probs)
    ends = tuple(table[nodes].T)
    gap, lost = best.value[best.budget, nodes] - best.prices.returns(*ends), _lost(best, nodes, probs)
    node, cause = np.nonzero(lost)
    return ExpectedRegret(nodes, ends, node, lost[node, cause], cause.astype(np.int8), gap)


def _lost(best: OptimalValues, starts: Nodes, probs: Floats) -> Floats:
    """[N, causes] expected visits times the regret of each depth."""
    graph, lost = best.graph, np.zeros((len(best.graph), len(CAUSES)))
    for remaining, nodes, column, mass in commitments(graph, starts, best.budget, probs):
        columns, returned = np.full(len(nodes), column), graph.landing[nodes, column] == nodes
        regret, cause, _ = commitment_regret(best, remaining, nodes, columns, returned)
        some = np.flatnonzero(cause >= 0)
        np.add.at(lost, (nodes[some], cause[some]), mass[some] * regret[some])
    return lost


def commitment_regret(
    best: OptimalValues, remaining: int, nodes: Nodes, column: Nodes, returned: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.int8], Nodes]:
    """Regret, cause and nearest best depth of commitments at nodes with ``remaining`` observations left; ``returned``
    marks those that led to a state where the episode had been."""
    graph, each, depths = best.graph, np.arange(len(nodes)), np.array(best.graph.depths)
    q_values, most = best.q_values(remaining, nodes), best.value[remaining, nodes]
    maximal = q_values >= most[:, None] - TIE
    apart = depths[column][:, None] - depths
    nearest = np.where(maximal, np.abs(apart), np.iinfo(apart.dtype).max).argmin(axis=1)
    hopeless, lost = ~best.solvable[remaining, nodes], graph.distance[graph.landing[nodes, column]] < 0
    deep, shallow = apart[each, nearest] > 0, np.ones(len(nodes), np.bool_)
    applies = [hopeless, (graph.distance[nodes] >= 0) & lost, returned, deep, shallow]
    cause = np.where(maximal[each, column], -1, np.argmax(applies, axis=0)).astype(np.int8)
    return most - q_values[each, column], cause, depths[nearest]
