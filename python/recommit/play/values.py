"""The value of every depth, without sampling: a dynamic program over the states that greedy plans reach.

Under greedy plans an episode is a walk in the graph of ``PlanGraph``, and the depth head turns it into a Markov chain.
With k decisions left, the value of committing to depth h in state s is

    Q_k(s, h) = 1 - price * n                        if that reaches the goal, n the actions executed
                V_{k-1}(s') - price * n              otherwise, s' the state where it ends
    V_k(s) = sum over h of pi(h | s) Q_k(s, h),      V_0 = 0

and the expected visits m_k(s) follow forward from the starts. The gradient of the expected return is then exactly
sum of m_k(s) pi(h | s) (Q_k(s, h) - V_k(s)) grad log pi(h | s). States that were not looked at (their visits are few,
see ``CreditConfig.width``) take the mean value of the known states at their distance. States that nobody can solve any
more, or not with the decisions left, are never solved, which is a theorem; what is done there until the end still has
its price, that of as many decisions of average length, or else to lose a level would save what playing on costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.play.graph import PlanGraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """Of every node, by decisions left 0..K."""

    value: Floats  #: [K + 1, nodes]
    quality: Floats  #: [K + 1, expanded nodes in order, depths]: Q
    visits: Floats  #: [K + 1, nodes], expected
    by_distance: Floats  #: [K + 1, longest distance + 2]; the last column is of states that cannot be solved
    distance: NDArray[np.int32]
    begin: Floats  #: [K + 1]: which share of the episodes begins with so many decisions left
    #: Expected visits that fell on nodes with a plan or without a hope, as a share: all of it, and values are exact.
    known: float


def explore(
    reach: PlanGraph,
    roots: NDArray[np.int64],
    budget: int,
    choose: Callable[[PlanGraph, NDArray[np.int64]], Floats],
    limit: int,
) -> None:
    """Look at the states that are likeliest to be visited, at most ``limit`` new ones per decision.

    ``choose`` gives the probabilities [N, depths] of the depths at nodes that have a plan.
    """
    mass = np.zeros(len(reach))
    np.add.at(mass, roots, 1.0)
    for left in range(budget, 0, -1):
        distance = reach.task.distance(reach.states)
        hopeless = (distance < 0) | (distance > MAX_ACTIONS * left)
        wanted = np.flatnonzero((mass > 0) & ~reach.expanded & ~reach.goal & ~hopeless)
        reach.expand(wanted[np.argsort(-mass[wanted], kind="stable")[:limit]])
        here = np.flatnonzero((mass > 0) & reach.expanded[: len(mass)])
        mass = _onward(reach, mass, here, choose(reach, here))


def _onward(reach: PlanGraph, mass: Floats, here: NDArray[np.int64], chance: Floats) -> Floats:
    # What is solved lands on a goal, where nothing goes on.
    moved: Floats = np.bincount(reach.landing[here].ravel(), (mass[here, None] * chance).ravel(), len(reach)).astype(
        np.float64
    )
    moved[reach.goal] = 0.0
    return moved


def evaluate(
    reach: PlanGraph, roots: NDArray[np.int64], chance: Floats, budget: int, price: float, budgets: Sequence[int] = ()
) -> Values:
    """``chance`` [nodes, depths]: probabilities of the depths; rows of nodes without a plan are not read. Equal parts
    of the episodes have each of ``budgets``, or ``budget`` where that is less (so that a recipe's budgets do not forbid
    to train with fewer decisions); all have ``budget`` if there are none."""
    nodes = len(reach)
    distance = reach.task.distance(reach.states)
    bucket, longest = _buckets(reach)
    known = np.flatnonzero(reach.expanded)
    value, by_distance = np.zeros((budget + 1, nodes)), np.zeros((budget + 1, longest + 2))
    by_distance[:, 0] = value[:, reach.goal] = 1.0
    landing, cost, likely = reach.landing[known], price * reach.executed[known], chance[known]
    quality = np.zeros((budget + 1, *landing.shape))
    wasted = float((cost * likely).sum(axis=1).mean()) if len(known) else 0.0  # by a decision where all is lost
    for k in range(1, budget + 1):
        quality[k] = value[k - 1][landing] - cost  # a goal is worth 1 whatever is left
        value[k, known] = np.einsum("nd,nd->n", likely, quality[k])
        by_distance[k, 1:] = _mean_by(bucket[known], value[k, known], longest, k, -wasted * k)
        rest = ~reach.expanded & ~reach.goal
        value[k, rest] = by_distance[k, bucket[rest]]
    begin = _begin(budget, budgets)
    visits = begin[:, None] * np.bincount(roots, minlength=nodes)
    visits[:, reach.goal] = 0.0
    for k in range(budget, 1, -1):
        visits[k - 1] += _onward(reach, visits[k], known, likely)
    left = np.arange(budget + 1)[:, None]
    settled = reach.expanded | (distance < 0) | (distance > MAX_ACTIONS * left)
    total = visits.sum()
    share = float((visits * settled).sum() / total) if total else 1.0
    return Values(value, quality, visits, by_distance, distance, begin, share)


class Program:
    """``evaluate`` and ``depth_advantages`` for one choice of depths after the other, over a graph that does not grow.

    What no choice changes is worked out once, and states that were not looked at stand together by their distance: they
    are worth the same and lead nowhere. That takes little more than a third of the time.
    """

    def __init__(
        self, reach: PlanGraph, roots: NDArray[np.int64], budget: int, price: float, budgets: Sequence[int] = ()
    ) -> None:
        self.nodes = np.flatnonzero(reach.expanded)
        self._known = len(self.nodes)
        bucket, self._longest = _buckets(reach)
        place = self._known + bucket
        place[self.nodes] = np.arange(self._known)
        self._landing, self._bucket = place[reach.landing[self.nodes]], bucket[self.nodes]
        self._cost = price * reach.executed[self.nodes]
        self._places = self._known + self._longest + 2
        self._roots = np.bincount(place[roots], minlength=self._places)[: self._known]
        self._begin = _begin(budget, budgets)
        self._quality = np.zeros((budget + 1, *self._landing.shape))

    def advantages(self, chance: Floats) -> tuple[Floats, Floats]:
        """Q - V [known, depths] and visits [known] of ``nodes``, under probabilities ``chance`` [known, depths]."""
        self._value(chance)
        visits, mass, total = np.zeros(self._known), np.zeros(self._known), np.zeros(chance.shape)
        for k in range(len(self._begin) - 1, 0, -1):
            visits += self._begin[k] * self._roots
            mass += visits
            total += visits[:, None] * self._quality[k]
            moved = np.bincount(self._landing.ravel(), (visits[:, None] * chance).ravel(), self._places)
            visits = moved[: self._known].astype(np.float64)
        total /= np.maximum(mass, 1e-12)[:, None]
        return total - (chance * total).sum(axis=1, keepdims=True), mass

    def _value(self, chance: Floats) -> None:
        """Fill in Q."""
        wasted = float((self._cost * chance).sum(axis=1).mean()) if self._known else 0.0
        worth = np.zeros(self._places)
        worth[self._known] = 1.0  # the goal
        for k in range(1, len(self._quality)):
            np.subtract(worth[self._landing], self._cost, out=self._quality[k])
            worth[: self._known] = np.einsum("nd,nd->n", chance, self._quality[k])
            lost = -wasted * k
            worth[self._known + 1 :] = _mean_by(self._bucket, worth[: self._known], self._longest, k, lost)


def _buckets(reach: PlanGraph) -> tuple[NDArray[np.int64], int]:
    """Every node's column of ``Values.by_distance``, and the longest distance."""
    distance = reach.task.distance(reach.states)
    longest = max(int(distance.max(initial=0)), 1)
    return np.where(distance < 0, longest + 1, distance).astype(np.int64), longest


def _begin(budget: int, budgets: Sequence[int]) -> Floats:
    """Which share of the episodes begins with so many decisions left."""
    count = np.bincount([min(k, budget) for k in budgets] or [budget], minlength=budget + 1)
    share: Floats = count / max(len(budgets), 1)
    return share


def _mean_by(bucket: NDArray[np.int64], value: Floats, longest: int, left: int, lost: float) -> Floats:
    """Mean value at each distance 1..longest, interpolated where no state has it; then ``lost``, also beyond reach."""
    count = np.bincount(bucket, minlength=longest + 2)[1 : longest + 1]
    total = np.bincount(bucket, weights=value, minlength=longest + 2)[1 : longest + 1]
    result = np.full(longest + 1, lost)
    have = np.flatnonzero(count)
    if len(have):
        result[:longest] = np.interp(np.arange(longest), have, total[have] / count[have])
    result[min(MAX_ACTIONS * left, longest) :] = lost
    return result


def depth_advantages(reach: PlanGraph, found: Values, chance: Floats, nodes: NDArray[np.int64]) -> Floats:
    """[nodes, depths]: Q - V, averaged over the decisions left with the visits of each; ``nodes`` are expanded."""
    row = (np.cumsum(reach.expanded) - 1)[nodes]
    visits = found.visits[:, nodes]
    mean = np.einsum("kn,knd->nd", visits, found.quality[:, row]) / np.maximum(visits.sum(axis=0), 1e-12)[:, None]
    result: Floats = mean - (chance[nodes] * mean).sum(axis=1, keepdims=True)
    return result


def plan_advantages(
    found: Values,
    visits: Floats,
    chance: Floats,
    depths: tuple[int, ...],
    landing: NDArray[np.int64],
    bucket: NDArray[np.int64],
    solved: NDArray[np.bool_],
    executed: NDArray[np.int32],
    price: float,
) -> tuple[Floats, Floats]:
    """Advantages and weights [N, G, 8] of the actions of sampled plans.

    ``landing`` [N, G, depths] are nodes, -1 where a plan ends in a state that is none; ``bucket`` the columns of
    ``by_distance``, ``chance`` [N, depths] how much each depth counts. Action j is executed by the depths beyond it;
    what it is credited with is their expected return against the mean over the plans of the same state and depth.
    """
    many, plans, _ = landing.shape
    worth = np.zeros(landing.shape)
    for k in range(1, len(found.value)):
        later = np.where(landing >= 0, found.value[k - 1][landing], found.by_distance[k - 1][bucket])
        worth += visits[k][:, None, None] * np.where(solved, 1.0, later)
    worth /= np.maximum(visits.sum(axis=0), 1e-12)[:, None, None]
    worth -= price * executed
    centred = worth - worth.mean(axis=1, keepdims=True)
    advantage, weight = np.zeros((many, plans, MAX_ACTIONS)), np.zeros((many, plans, MAX_ACTIONS))
    for column, depth in enumerate(depths):
        reached = (np.arange(MAX_ACTIONS) < depth) & (np.arange(MAX_ACTIONS) < executed[:, :, column, None])
        share = chance[:, None, column, None] * reached
        advantage += share * centred[:, :, column, None]
        weight += share
    return advantage / np.maximum(weight, 1e-12), weight
