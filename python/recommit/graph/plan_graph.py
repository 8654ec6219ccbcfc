"""The commitment graph: the states that a policy's greedy plans can lead to, each looked at once.

With deterministic plans an episode is a walk in a graph: a node is a state, an edge is "commit to the first h actions
of the plan made here". Whatever chooses the depths -- a depth head, a fixed depth, an oracle -- walks in the same
graph, so one pass of the policy per distinct state serves all of them, and the value of a depth policy over a
decision budget is a sum over edges instead of a sample of episodes (``graph/values.py``). Every rank has the whole
graph, in one order, and looks at its share. ``PlanGraph.expand`` looks, ``walk`` plays an episode from every start,
and the functions below it are who chooses: each gives the column of a depth for episodes that are under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from recommit import rng
from recommit.policy.config import MAX_ACTIONS
from recommit.runs.ranks import Team, divided, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

T = TypeVar("T")


class RunPass(Protocol):
    """How a pass through the policy is made; see ``Engine.run``."""

    def __call__(self, work: Callable[[], T]) -> T:
        """The result of ``work``."""


def run_directly(work: Callable[[], T]) -> T:
    """In this process, at once."""
    return work()


class PlanGraph:
    """Distinct states, growing; the columns of every array below are the ``depths``, ascending."""

    def __init__(
        self,
        policy: CommitPolicy,
        task: Puzzle,
        depths: tuple[int, ...],
        *,
        run_pass: RunPass = run_directly,
        team: Team | None = None,
        together: bool = False,
        piece: int = 0,
        keep_inputs: bool = False,
        keep_probabilities: bool = False,
    ) -> None:
        """Look at ``piece`` states at a time, or as many as divide the work evenly; ``together``: see ``Engine``."""
        self.policy, self.task, self.depths, self.run_pass = policy, task, depths, run_pass
        self.team, self.together, self.piece, self.keep_inputs = team or Team(), together, piece, keep_inputs
        self._index: dict[bytes, int] = {}
        self._inputs: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        many = len(depths)
        self.states: NDArray[np.uint8] = np.empty((0, *task.shape), np.uint8)
        #: Eight greedy actions by depth, and logits of the policy's own depths.
        self.plans: NDArray[np.uint8] = np.empty((0, many, MAX_ACTIONS), np.uint8)
        self.logits: NDArray[np.float32] = np.empty((0, len(policy.config.depths)), np.float32)
        #: Of every action at every place of the plans: by depth, in one column where depth makes no difference to them,
        #: in none without ``keep_probabilities``.
        plans = (1 if policy.plans_first else many) if keep_probabilities else 0
        self.probabilities: NDArray[np.float32] = np.empty((0, plans, MAX_ACTIONS, 4), np.float32)
        #: Is the policy told how many decisions are left? Then the same state is another node with another number of
        #: them.
        self.shows_budget = policy.config.budget_conditioned
        self.remaining: NDArray[np.int64] = np.empty(0, np.int64)
        #: By depth: the node that the plan leads to, the actions until then, and whether that is the goal.
        self.landing: NDArray[np.int64] = np.empty((0, many), np.int64)
        self.executed: NDArray[np.int32] = np.empty((0, many), np.int32)
        self.solved: NDArray[np.bool_] = np.empty((0, many), np.bool_)
        self.goal: NDArray[np.bool_] = np.empty(0, np.bool_)
        self.expanded: NDArray[np.bool_] = np.empty(0, np.bool_)

    def __len__(self) -> int:
        return len(self.states)

    def nodes(self, states: NDArray[np.uint8], remaining: NDArray[np.int64] | int = 0) -> NDArray[np.int64]:
        """The node of each state, with so many decisions ``left``, which only counts where the policy is told; new
        ones are added without a plan."""
        numbers = np.broadcast_to(remaining if self.shows_budget else 0, len(states))
        keys = [state.tobytes() + bytes([number]) for state, number in zip(states, numbers.tolist(), strict=True)]
        fresh: list[int] = []
        for i, key in enumerate(keys):
            if key not in self._index:
                self._index[key] = len(self) + len(fresh)
                fresh.append(i)
        if fresh:
            self._append(np.ascontiguousarray(states[fresh]), numbers[fresh])
        return np.fromiter((self._index[key] for key in keys), np.int64, len(keys))

    def find(self, states: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The node of each state, -1 where it is none; of a policy that is told nothing of the decisions left."""
        return np.fromiter((self._index.get(state.tobytes() + b"\0", -1) for state in states), np.int64, len(states))

    def _append(self, states: NDArray[np.uint8], remaining: NDArray[np.int64]) -> None:
        more = len(states)
        fresh = {
            "states": states,
            "remaining": remaining.astype(np.int64),
            "plans": np.zeros((more, len(self.depths), MAX_ACTIONS), np.uint8),
            "logits": np.zeros((more, self.logits.shape[1]), np.float32),
            "probabilities": np.zeros((more, *self.probabilities.shape[1:]), np.float32),
            "landing": np.zeros((more, len(self.depths)), np.int64),
            "executed": np.zeros((more, len(self.depths)), np.int32),
            "solved": np.zeros((more, len(self.depths)), np.bool_),
            "goal": self.task.is_solved(states),
            "expanded": np.zeros(more, np.bool_),
        }
        for name, values in fresh.items():
            setattr(self, name, np.concatenate([getattr(self, name), values]))

    def expand(self, wanted: NDArray[np.int64]) -> None:
        """Look at the nodes that nobody has looked at, pieces in turn by rank; every rank calls this with the same
        ones.
        """
        missing = np.unique(wanted[~self.expanded[wanted] & ~self.goal[wanted]])
        if not len(missing):
            return
        pieces = divided(missing, self.team.world, self.piece)
        empty = {name: getattr(self, name)[:0] for name in ("logits", "plans", "probabilities")}
        mine = [self._look(piece, missing) for piece in turns(pieces, self.team, self.together)]
        gathered = self.team.exchange(
            {name: np.concatenate([none, *(each[name] for each in mine)]) for name, none in empty.items()}
        )
        used = [0] * self.team.world
        for i, piece in enumerate(pieces):  # in one order everywhere, since it numbers the nodes
            rank = i % self.team.world
            part = slice(used[rank], used[rank] + len(piece))
            self._connect(piece, {name: values[part] for name, values in gathered[rank].items()})
            used[rank] += len(piece)

    def _look(self, piece: NDArray[np.int64], others: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """What the policy says of a piece; with an empty one the first of ``others`` is looked at, and nothing comes
        of it."""
        nodes = piece if len(piece) else others[:1]
        remaining = {"remaining": self.remaining[nodes]} if self.shows_budget else {}
        plan = self.policy.plan_with_probabilities if self.probabilities.shape[1] else self.policy.plan
        inputs, logits, plans, *more = self.run_pass(
            partial(plan, self.task, self.states[nodes], self.depths, **remaining)
        )
        if self.keep_inputs and len(piece):
            self._inputs.append((piece, inputs))
        probabilities = more[0] if more else np.zeros((len(nodes), *self.probabilities.shape[1:]), np.float32)
        every = {"logits": logits, "plans": plans, "probabilities": probabilities}
        return {name: values[: len(piece)] for name, values in every.items()}

    def read(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The nodes that this rank looked at, ascending, and what the depth head read of them: it stays where it is,
        since it is as wide as the backbone. Needs ``keep_inputs``."""
        empty = np.empty(0, np.int64), np.empty((0, self.policy.depth_head.inputs), np.float32)
        nodes, inputs = (np.concatenate(parts) for parts in zip(empty, *self._inputs, strict=True))
        order = np.argsort(nodes)
        return nodes[order], inputs[order]

    def _connect(self, chosen: NDArray[np.int64], looks: dict[str, NDArray[Any]]) -> None:
        many = len(self.depths)
        for name, values in looks.items():
            getattr(self, name)[chosen] = values
        outcome = self.task.execute(
            np.repeat(self.states[chosen], many, axis=0),
            looks["plans"].reshape(-1, MAX_ACTIONS),
            np.tile(np.array(self.depths, np.int32), len(chosen)),
        )
        landing = self.nodes(outcome.states, np.repeat(self.remaining[chosen] - 1, many)).reshape(-1, many)
        self.landing[chosen] = landing
        self.executed[chosen] = outcome.executed.reshape(-1, many)
        self.solved[chosen] = outcome.solved.reshape(-1, many)
        self.expanded[chosen] = True


@dataclass(frozen=True)
class Episodes:
    """How episodes ended, by start."""

    solved: NDArray[np.bool_]
    actions: NDArray[np.int64]
    decisions: NDArray[np.int64]
    #: Decisions by column of ``PlanGraph.depths``.
    depths: NDArray[np.int64]

    @property
    def solve_rate(self) -> float:
        """Share of the episodes that reached the goal."""
        return float(self.solved.mean())

    @property
    def mean_actions(self) -> float:
        """Executed actions per episode."""
        return float(self.actions.mean())

    @property
    def mean_looks(self) -> float:
        """Decisions per episode, each of which has one look."""
        return float(self.decisions.mean())


class Chooser(Protocol):
    """Who decides how far to go."""

    def __call__(self, turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The column of the depth for each of the ``episodes`` that are under way, now at expanded ``nodes``."""


def turns_on_graph(
    graph: PlanGraph, starts: NDArray[np.uint8], budget: int, choose: Chooser
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Play one episode from every start, at most ``budget`` decisions each.

    Turn by turn: which episodes are under way, the nodes where they are, and the columns of the depths that they take.
    The one loop of episodes on a graph.
    """
    at = graph.nodes(starts, budget)
    alive = ~graph.goal[at]
    for turn in range(budget):
        who = np.flatnonzero(alive)
        if not len(who):
            return
        nodes = at[who]
        graph.expand(nodes)
        columns = choose(turn, who, nodes)
        yield turn, who, nodes, columns
        at[who], alive[who] = graph.landing[nodes, columns], ~graph.solved[nodes, columns]


def walk(graph: PlanGraph, starts: NDArray[np.uint8], budget: int, choose: Chooser) -> Episodes:
    """Play one episode from every start, and say how each ended."""
    nodes = graph.nodes(starts, budget)  # grows the graph: only then is there a goal to ask for
    solved = graph.goal[nodes].copy()
    actions, decisions = np.zeros(len(solved), np.int64), np.zeros(len(solved), np.int64)
    used = np.zeros(len(graph.depths), np.int64)
    for _, who, at, columns in turns_on_graph(graph, starts, budget, choose):
        actions[who] += graph.executed[at, columns]
        decisions[who] += 1
        solved[who] = graph.solved[at, columns]
        used += np.bincount(columns, minlength=len(used))
    return Episodes(solved, actions, decisions, used)


def always(graph: PlanGraph, depth: int) -> Chooser:
    """One fixed depth."""
    column = graph.depths.index(depth)
    return lambda _turn, episodes, _nodes: np.full(len(episodes), column)


def head(graph: PlanGraph) -> Chooser:
    """The depth head's likeliest depth, ties to the smaller."""
    columns = np.array([graph.depths.index(depth) for depth in graph.policy.config.depths])
    return lambda _turn, _episodes, nodes: columns[graph.logits[nodes].argmax(axis=1)]


def adaptive_memory(graph: PlanGraph) -> Chooser:
    """``head`` with a memory: where an episode comes by again, the next likeliest depth, so that it need not go
    round."""
    columns = np.array([graph.depths.index(depth) for depth in graph.policy.config.depths])
    times: dict[tuple[int, int], int] = {}

    def choose(turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        if turn == 0:
            times.clear()
        before = np.zeros(len(nodes), np.int64)
        for i, here in enumerate(zip(episodes.tolist(), nodes.tolist(), strict=True)):
            before[i] = times.get(here, 0)
            times[here] = int(before[i]) + 1
        order = np.argsort(-graph.logits[nodes], axis=1, kind="stable")
        return columns[order[np.arange(len(nodes)), before % len(columns)]]

    return choose


def drawn(graph: PlanGraph, probs: NDArray[np.floating] | None, seed: int) -> Chooser:
    """The policy's depths, drawn by ``chance`` -- the same in every state -- or by the depth head if that is None."""
    columns = np.array([graph.depths.index(depth) for depth in graph.policy.config.depths])

    def choose(turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        number = episodes.astype(np.uint64) * np.uint64(256) + np.uint64(turn)
        words = rng.draw(rng.streams(seed, rng.Purpose.DEPTHS, number), 0)
        uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        weights = softmax(graph.logits[nodes]) if probs is None else np.asarray(probs, np.float64)[None]
        return columns[(uniform[:, None] >= np.cumsum(weights, axis=1)[:, :-1]).sum(axis=1)]

    return choose


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """Over the last axis."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    result: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return result
