"""The Bellman backup over a commitment graph with at most K observations, exactly: nothing is sampled.

With k observations left, prices c(s, h) of a commitment, and s' where it ends,

    Q_k(s, h) = V_{k-1}(s') - c(s, h),     V_k(goal) = 1,     V_0 = 0
    optimal values      V_k(s) = max over h of Q_k(s, h)
    policy values       V_k(s) = sum over h of pi_k(h | s) Q_k(s, h)

A state without a plan that is no goal is never solved, and pays for the least depth at every observation that is left.
So does a state of a graph with a budget that is too far from the goal for them.
``backup`` is this recursion. ``optimal_values`` serves many prices at once. ``outcomes`` gives the expected solved,
actions and observations of a depth policy, from which its value at any prices follows. Training also needs Q and
advantages: ``graph/policy_evaluation.py``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from recommit.graph.graph import CUT
from recommit.prices import Prices, arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph, Floats, Nodes

    #: A choice of depths: a column for every node, or probabilities [N, depths]; either may have an axis [K, ...]
    #: before, row k - 1 with k observations left.
    DepthPolicy: TypeAlias = "NDArray[np.integer] | Floats"

#: Nodes per block, so that their values for 16 prices stay in a processor's cache.
BLOCK = 2048
#: Values closer than this are equal.
TIE = 1e-12


def chosen_rows(graph: CommitmentGraph) -> Nodes:
    """The nodes where a depth is chosen; raises ``ValueError`` if an edge leads out of the graph."""
    rows = graph.rows
    if len(rows) and graph.landing[rows].min() < 0:
        raise ValueError(CUT)
    return rows


def backup(
    budget: int, certain: Callable[[int], NDArray[Any]], fill: Callable[[int, NDArray[Any], NDArray[Any]], None]
) -> Iterator[NDArray[Any]]:
    """Yield V_0, V_1, ... V_budget. ``certain(k)`` is V_k where no depth is chosen; ``fill(k, V_{k-1}, V_k)`` writes
    the other values. Every value of a graph is computed here."""
    value = certain(0)
    yield value
    for remaining in range(1, budget + 1):
        before, value = value, certain(remaining)
        fill(remaining, before, value)
        yield value


@overload
def optimal_values(graph: CommitmentGraph, budget: int, prices: Prices) -> Floats: ...
@overload
def optimal_values(graph: CommitmentGraph, budget: int, prices: Sequence[Prices], *, last: bool = False) -> Floats: ...
def optimal_values(
    graph: CommitmentGraph, budget: int, prices: Prices | Sequence[Prices], *, last: bool = False
) -> Floats:
    """[K + 1, N, prices] the value of the best depths by observations left; [K + 1, N] at one price. ``last`` returns
    V_K alone, [N, prices], and holds only two tables in memory."""
    if isinstance(prices, Prices):
        return np.ascontiguousarray(optimal_values(graph, budget, [prices])[:, :, 0])
    action, observation = arrays(prices)
    rows = chosen_rows(graph)
    blocks = [rows[begin : begin + BLOCK] for begin in range(0, len(rows), BLOCK)]

    def best(_remaining: int, before: Floats, value: Floats) -> None:
        for block in blocks:
            value[block] = _largest(graph, block, before, action) - observation

    tables = backup(budget, lambda k: _unchosen(graph, k, np.ones(len(action)), -action, -observation), best)
    return deque(tables, maxlen=1)[0] if last else np.stack(list(tables))


def _unchosen(graph: CommitmentGraph, remaining: int, goal: Floats, action: Floats, observation: Floats) -> Floats:
    """[N, columns] values where no depth is chosen (goals and nodes that fail for certain), 0 elsewhere."""
    table = np.zeros((len(graph), len(goal)))
    if remaining:
        failing = remaining * (observation + action * graph.depths[0])
        table[~graph.planned | _hopeless(graph, remaining)] = failing
    table[graph.goal] = goal
    return table


def _hopeless(graph: CommitmentGraph, remaining: int) -> NDArray[np.bool_]:
    return graph.hopeless(np.arange(len(graph)), remaining)


def _largest(graph: CommitmentGraph, rows: Nodes, value: Floats, action: Floats) -> Floats:
    """[rows, prices] maximum over depths of the landing's value less the price of the actions until there."""
    result = np.full((len(rows), len(action)), -np.inf)
    onward, cost = np.empty_like(result), np.empty_like(result)
    for landing, executed in zip(graph.landing[rows].T, graph.executed[rows].T, strict=True):
        value.take(landing, axis=0, out=onward, mode="clip")  # clip: without it, the result is copied once more
        onward -= np.multiply(executed[:, None], action, out=cost)
        np.maximum(result, onward, out=result)
    return result


def solver_values(
    distance: NDArray[np.integer], depths: tuple[int, ...], budget: int, prices: Prices | None = None
) -> Floats:
    """[K + 1, N] V*: optimal plans and the best depths for them, from exact distances alone.

    Solving takes ``distance`` actions and an observation per deepest commitment; where that is too far, or costs more
    than it brings, the least depth at every observation left is the cheapest way to fail.
    """
    prices = prices or Prices()
    remaining, observations = np.arange(budget + 1)[:, None], -(-distance // depths[-1])
    within = (distance >= 0) & (observations <= remaining)
    solving = np.where(within, prices.returns(1.0, distance, observations), -np.inf)
    failing = -remaining * (prices.observation + prices.action * depths[0])
    return np.where(distance == 0, 1.0, np.maximum(solving, failing))


#: Columns of ``outcomes``.
SOLVED, ACTIONS, OBSERVATIONS = range(3)


def outcomes(graph: CommitmentGraph, budget: int, policy: DepthPolicy) -> Iterator[Floats]:
    """Yield [N, 3] expected solved, actions and observations of episodes from every node, for 0, 1, ... ``budget``
    observations. Their values at any prices are ``prices.returns(*table.T)``."""
    return _evaluated(graph, budget, policy, *np.eye(3))


def policy_values(graph: CommitmentGraph, budget: int, policy: DepthPolicy, prices: Prices) -> Floats:
    """[K + 1, N] V of a depth policy."""
    action, observation = arrays([prices])
    return np.stack([table[:, 0] for table in _evaluated(graph, budget, policy, np.ones(1), -action, -observation)])


def _evaluated(
    graph: CommitmentGraph, budget: int, policy: DepthPolicy, goal: Floats, action: Floats, observation: Floats
) -> Iterator[Floats]:
    """Yield [N, columns] for 0, 1, ... ``budget`` observations: each column is the expected sum of its own rewards for
    the ``goal``, each ``action`` and each ``observation``."""
    rows = chosen_rows(graph)
    ways: list[tuple[Any, NDArray[np.intp], Any]] = []
    reward = np.zeros((len(rows), len(goal)))

    def follow(remaining: int) -> None:
        ways.clear()
        reward[:] = 0.0
        for nodes, column, probs in _ways(graph, rows, policy, remaining):
            place = slice(None) if len(nodes) == len(rows) else np.searchsorted(rows, nodes)
            weight = 1.0 if probs is None else probs[:, None]
            reward[place] += weight * (graph.executed[nodes, column][:, None] * action + observation)
            ways.append((place, graph.landing[nodes, column].astype(np.intp), weight))

    def expected(remaining: int, before: Floats, table: Floats) -> None:
        if remaining == 1 or _by_budget(policy):  # else it chooses the same at every k
            follow(remaining)
        value = reward.copy()
        for place, landing, weight in ways:
            onward = before.take(landing, axis=0, mode="clip")
            onward *= weight
            value[place] += onward
        on = ~_hopeless(graph, remaining)[rows]
        table[rows[on]] = value[on]

    return backup(budget, lambda k: _unchosen(graph, k, goal, action, observation), expected)


def commitments(
    graph: CommitmentGraph, starts: NDArray[np.integer], budget: int, policy: DepthPolicy
) -> Iterator[tuple[int, Nodes, Any, Floats]]:
    """Forward pass from these starts: yields observations left, nodes, the column of a depth (one for all, or one
    each), and the expected number of commitments to it there. Episodes end where no depth is chosen."""
    choosing, visits = np.zeros(len(graph), np.bool_), np.bincount(starts, minlength=len(graph)).astype(np.float64)
    choosing[chosen_rows(graph)] = True
    for remaining in range(budget, 0, -1):
        after = np.zeros(len(graph))
        on = (visits > 0) & choosing & ~_hopeless(graph, remaining)
        for nodes, column, probs in _ways(graph, np.flatnonzero(on), policy, remaining):
            mass = visits[nodes] if probs is None else visits[nodes] * probs
            yield remaining, nodes, column, mass
            after += np.bincount(graph.landing[nodes, column], mass, len(graph))
        visits = after


def _by_budget(policy: DepthPolicy) -> bool:
    return policy.ndim == (3 if policy.dtype.kind == "f" else 2)


def _ways(
    graph: CommitmentGraph, rows: Nodes, policy: DepthPolicy, remaining: int
) -> Iterator[tuple[Nodes, Any, Floats | None]]:
    """Nodes among ``rows``, the column of a depth there, and its probabilities (None: it is certain)."""
    now = policy[remaining - 1] if _by_budget(policy) else policy
    if now.dtype.kind != "f":
        yield rows, now[rows], None
        return
    for column in range(len(graph.depths)):
        probs = now[rows, column]
        some = np.flatnonzero(probs)
        if len(some):
            yield rows[some], column, probs[some]


@dataclass(frozen=True, eq=False)
class OptimalValues:
    """Values of the optimal depths for the plans of a graph, by observations left."""

    graph: CommitmentGraph
    prices: Prices
    value: Floats  #: [K + 1, N]

    @classmethod
    def of(cls, graph: CommitmentGraph, budget: int, prices: Prices | None = None) -> OptimalValues:
        """Compute the values by the backup."""
        prices = prices or Prices()
        return cls(graph, prices, optimal_values(graph, budget, prices))

    @property
    def budget(self) -> int:
        """Observations K."""
        return len(self.value) - 1

    @cached_property
    def solvable(self) -> NDArray[np.bool_]:
        """[K + 1, N] True where some choice of depths still solves."""
        return optimal_values(self.graph, self.budget, Prices()) > 0

    def q_values(self, remaining: int, nodes: Nodes) -> Floats:
        """[nodes, depths] Q of nodes with a plan."""
        graph = self.graph
        onward = self.value[remaining - 1][graph.landing[nodes]]
        return onward - self.prices.cost(graph.executed[nodes])
