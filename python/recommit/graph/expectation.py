"""Depths that are drawn, on the plans of a commitment graph: everything by expectation, nothing is sampled.

With k looks left and chances pi(h | s) of the depths,

    V^r_k(s) = sum over h of pi(h | s) (V^r_{k-1}(s') - price_action * n - price_observation)
    r_k(s)   = sum over h of pi(h | s) (V^p_k(s) - Q_k(s, h)), Q of the best depths from then on

and of any start V^p - V^r is the sum of expected visits times r, as for a rule without chance
(``recommit.graph.regret``). What episodes come to and what they give away is worked out backwards from the end; visits
and causes forwards from the starts. Both have the same sum.

A state does not say where an episode has been, so a ``round`` is here what ends where it began: a longer way round
counts as too deep or too shallow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.attribution import CAUSES, JudgedStates
from recommit.graph.regret import TIE
from recommit.horizon import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.commitments import Commitments, Prices
    from recommit.graph.regret import Best

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Chances of a state may miss 1 by this.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Expectation:
    """What episodes with drawn depths come to on average, and what they give away where, by cause."""

    starts: Nodes
    ends: Floats  #: [starts, 4] solved, actions, looks and regret
    lost: Floats  #: [N, causes] over the episodes of all starts

    def outcome(self) -> tuple[Floats, Floats, Floats]:
        """[starts] solved, actions and looks."""
        return self.ends[:, 0], self.ends[:, 1], self.ends[:, 2]

    def value(self, graph: Commitments, prices: Prices) -> Floats:
        """[starts] V^r."""
        del graph  # a start at the goal is solved already
        solved, actions, looks = self.outcome()
        result: Floats = solved - prices.action * actions - prices.look * looks
        return result

    def total(self) -> Floats:
        """[starts] V^p - V^r."""
        result: Floats = self.ends[:, 3]
        return result

    def shares(self) -> dict[str, float]:
        """Shares of all regret by cause; they add up to 1, or are all 0 if there is none."""
        sums = self.lost.sum(axis=0)
        return dict(zip(CAUSES, (sums / max(sums.sum(), TIE)).tolist(), strict=True))

    @property
    def node(self) -> Nodes:
        """Where something is given away; beside it ``cause`` and ``regret``."""
        return np.nonzero(self.lost)[0]

    @property
    def cause(self) -> NDArray[np.int8]:
        """Why; a place in ``CAUSES``."""
        return np.nonzero(self.lost)[1].astype(np.int8)

    @property
    def regret(self) -> Floats:
        """How much, of the episodes of all starts."""
        result: Floats = self.lost[np.nonzero(self.lost)]
        return result


def expect(best: Best, starts: NDArray[np.integer], probs: Floats) -> Expectation:
    """Everything about depths that are drawn by ``chance`` [N, depths], the same at every visit; rows of states where
    nobody chooses are not read."""
    graph, nodes = best.graph, np.asarray(starts, np.int64)
    checks.shape("probs", checks.array("probs", probs, "f"), (len(graph), len(graph.depths)))
    checks.between("probs", probs[graph.rows], 0, 1)
    checks.sums("probs", probs[graph.rows], SLACK)
    return Expectation(nodes, _ends(best, probs)[nodes], _lost(best, nodes, probs))


def _ends(best: Best, probs: Floats) -> Floats:
    """[N, 4] solved, actions, looks and regret of episodes from every state with all looks."""
    graph, rows = best.graph, best.graph.rows
    own, landing = probs[rows], graph.landing[rows]
    drawn, paid = np.flatnonzero(own.any(axis=0)), (own * best.prices.cost(graph)).sum(axis=1)
    result = np.zeros((len(graph), 4))
    result[graph.goal, 0] = 1.0
    stuck = ~graph.planned & ~graph.goal  # never solved; the least depth is paid for at every look
    now = np.ones((len(rows), 4))
    now[:, 0], now[:, 1] = 0.0, (own * graph.executed[rows]).sum(axis=1)
    for remaining in range(1, best.budget + 1):
        now[:, 3] = best.value[remaining, rows] + paid
        after = now.copy()
        for column in drawn:
            there = landing[:, column]
            onward = result[there]
            onward[:, 3] -= best.value[remaining - 1][there]
            after += own[:, column, None] * onward
        result[rows] = after
        result[stuck, 1:3] += graph.depths[0], 1
    return result


def _lost(best: Best, starts: Nodes, probs: Floats) -> Floats:
    """[N, causes] expected visits times what each depth gives away."""
    graph = best.graph
    lost, visits = np.zeros((len(graph), len(CAUSES))), np.bincount(starts, minlength=len(graph)).astype(np.float64)
    choosing = np.zeros(len(graph), np.bool_)
    choosing[graph.rows] = True
    for remaining in range(best.budget, 0, -1):
        here = np.flatnonzero((visits > 0) & choosing)
        mass, after = visits[here, None] * probs[here], np.zeros(len(graph))
        states = JudgedStates(best, remaining, here)
        for column in np.flatnonzero(mass.any(axis=0)):
            taken = np.flatnonzero(mass[:, column])
            nodes, there = here[taken], graph.landing[here[taken], column]
            each = states.taken(np.full(len(nodes), column), there == nodes, taken)
            some = np.flatnonzero(each.cause >= 0)
            place = nodes[some] * len(CAUSES) + each.cause[some]
            lost += np.bincount(place, mass[taken[some], column] * each.regret[some], lost.size).reshape(lost.shape)
            after += np.bincount(there, mass[taken, column], len(graph))
        visits = after
    return lost
