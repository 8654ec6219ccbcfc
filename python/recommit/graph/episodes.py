"""Episodes on a commitment graph, and choosers of their depths.

``turns`` is the loop of all episodes. ``episodes`` plans the visited nodes (if the graph still grows), calls a
``Chooser`` for columns of depths, and follows the edges. The functions at the end are choosers; rules that read plans
are in ``recommit.graph.rule_episodes``, the oracle depth is in ``recommit.graph.oracle``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.graph.graph import CommitmentGraph, Floats, Nodes

    #: Chooses the depths: takes the turn, the running episodes and their nodes, which are planned, and returns the
    #: column of each episode's depth. It may keep a state per episode; turn 0 begins new episodes.
    Chooser: TypeAlias = Callable[[int, Nodes, Nodes], Nodes]


def turns(
    over: NDArray[np.bool_], budget: Nodes | int, most: Callable[[int], int] = int
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The loop of all episodes, in lock step: yields each turn with the running episodes, neither ``over`` nor out of
    ``budget``. The caller observes, chooses, executes and updates ``over``. ``most`` takes the maximum of a count over
    all ranks, which take part until the last episode has ended."""
    for turn in count():
        who = np.flatnonzero(~over & (np.asarray(budget) > turn))
        if not most(len(who)):
            return
        yield turn, who


def episodes(
    graph: CommitmentGraph, starts: NDArray[np.integer], budget: int | Nodes, choose: Chooser
) -> Iterator[tuple[int, Nodes, Nodes, Nodes]]:
    """One episode from every start node, of at most ``budget`` decisions, an int or [starts].

    Yields the turn, the running episodes, their nodes, and the columns of the depths that they take. An episode ends at
    a goal, at a node without a plan, or at one that is ``hopeless`` with the observations left.
    """
    here, budgets = np.array(starts, np.int64), np.broadcast_to(budget, len(starts))
    over = graph.goal[here]
    for turn, who in turns(over, budgets):
        graph.expand(here[who])
        on = graph.planned[here[who]] & ~graph.hopeless(here[who], budgets[who] - turn)
        over[who[~on]] = True
        if not len(who := who[on]):
            return
        nodes = here[who]
        columns = choose(turn, who, nodes)
        yield turn, who, nodes, columns
        here[who] = graph.landing[nodes, columns]
        over[who] = graph.goal[here[who]]


@dataclass(frozen=True)
class Episodes:
    """Outcomes of episodes, by start."""

    solved: NDArray[np.bool_]
    actions: Nodes
    decisions: Nodes
    #: Decisions by column of ``graph.depths``.
    depths: Nodes

    @property
    def solve_rate(self) -> float:
        """Share of the episodes that reached the goal."""
        return float(self.solved.mean())

    @property
    def mean_actions(self) -> float:
        """Executed actions per episode."""
        return float(self.actions.mean())

    @property
    def mean_observations(self) -> float:
        """Decisions per episode, each of which has one observation."""
        return float(self.decisions.mean())

    def outcome(self) -> tuple[NDArray[Any], ...]:
        """[starts] solved, actions and observations: what ``Prices.returns`` takes."""
        return self.solved, self.actions, self.decisions


def play(graph: CommitmentGraph, starts: NDArray[np.integer], budget: int, choose: Chooser) -> Episodes:
    """Play one episode from every start node; returns their outcomes."""
    solved = graph.goal[starts].copy()
    actions, decisions = np.zeros(len(solved), np.int64), np.zeros(len(solved), np.int64)
    used = np.zeros(len(graph.depths), np.int64)
    for _, who, nodes, columns in episodes(graph, starts, budget, choose):
        actions[who] += graph.executed[nodes, columns]
        decisions[who] += 1
        solved[who] = graph.goal[graph.landing[nodes, columns]]
        used += np.bincount(columns, minlength=len(used))
    pay_for_the_rest(graph, budget, solved, actions, decisions)
    return Episodes(solved, actions, decisions, used)


def pay_for_the_rest(
    graph: CommitmentGraph, budget: int, solved: NDArray[np.bool_], actions: NDArray[Any], decisions: NDArray[Any]
) -> None:
    """Charge unsolved episodes, in place, for every observation that is left, each with the least depth."""
    left = np.where(solved, 0, budget - decisions).astype(actions.dtype)
    actions += left * graph.depths[0]
    decisions += left


def scores(
    graph: CommitmentGraph, starts: NDArray[np.integer], budget: int, choices: Sequence[Chooser], limit: float = np.inf
) -> list[tuple[int, int, int]]:
    """Episodes solved, negated actions and negated observations of each chooser; (-1, 0, 0) if its actions exceed
    ``limit``. All choosers play side by side, so that states are planned in large batches."""
    many = len(starts)
    here = np.tile(starts, len(choices)).astype(np.int64)
    solved, actions, observations = graph.goal[here], *np.zeros((2, len(choices)), np.int64)
    over = solved.copy()
    for turn, who in turns(over, budget):
        graph.expand(here[who])
        for i, own in enumerate(np.split(who, np.searchsorted(who, many * np.arange(1, len(choices))))):
            if not len(own):
                continue
            nodes = here[own]
            columns = choices[i](turn, own - i * many, nodes)
            actions[i] += graph.executed[nodes, columns].sum()
            observations[i] += len(own)
            here[own] = graph.landing[nodes, columns]
            solved[own] = graph.goal[here[own]]
            over[own] = solved[own] | (actions[i] > limit)
    sums = solved.reshape(len(choices), many).sum(axis=1)
    counts = zip(sums.tolist(), (-actions).tolist(), (-observations).tolist(), strict=True)
    return [each if -each[1] <= limit else (-1, 0, 0) for each in counts]


def by_state(columns: Nodes, budget: int = 0) -> Chooser:
    """Chooser by the state alone, from columns [N]; or also by the observations left, from [budget, N] with row k - 1
    for k."""
    if columns.ndim == 1:
        return lambda _turn, _episodes, nodes: columns[nodes]
    return lambda turn, _episodes, nodes: columns[budget - turn - 1, nodes]


def always(graph: CommitmentGraph, depth: int) -> Chooser:
    """Chooser of one fixed depth."""
    column = graph.column(depth)
    return lambda _turn, episodes, _nodes: np.full(len(episodes), column)


def head(graph: PolicyGraph) -> Chooser:
    """Chooser of the depth head's likeliest depth; ties go to the smaller depth."""
    columns = _head_columns(graph)
    return lambda _turn, _episodes, nodes: columns[graph.logits[nodes].argmax(axis=1)]


def sampled(graph: PolicyGraph, probs: NDArray[np.floating] | None, seed: int) -> Chooser:
    """Chooser that samples the head's depths by ``probs``, the same in every state; None: by the depth head."""
    columns = _head_columns(graph)

    def choose(turn: int, episodes: Nodes, nodes: Nodes) -> Nodes:
        number = episodes.astype(np.uint64) * np.uint64(256) + np.uint64(turn)
        weights = softmax(graph.logits[nodes]) if probs is None else np.asarray(probs, np.float64)[None]
        return columns[sampled_columns(weights, number, seed)]

    return choose


def sampled_columns(probs: Floats, numbers: NDArray[np.integer], seed: int) -> Nodes:
    """A column for each number, by its row of ``probs``, from the stream of that number."""
    uniform = rng.uniform(rng.streams(seed, rng.Purpose.DEPTHS, numbers.astype(np.uint64)), 0)
    return (uniform[:, None] >= np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)


def _head_columns(graph: CommitmentGraph) -> Nodes:
    return np.array([graph.column(depth) for depth in graph.head_depths])


def softmax(logits: NDArray[np.floating]) -> Floats:
    """Softmax over the last axis, in float64."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def log_softmax(logits: NDArray[np.floating]) -> Floats:
    """Log-softmax over the last axis; finite even where a probability underflows."""
    below = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=-1, keepdims=True))
