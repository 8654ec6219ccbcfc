"""Commitment graphs of a policy whose plans come late, on ground where actions may fail.

At an observation of state s, ``delay`` d actions are still queued. They run while the plan is made, so the plan's own
first d actions are dropped: action i of a plan is meant for the i-th action after its observation. Committing to depth
D, d < D <= 8, puts actions d..D-1 of the plan behind the queue; the next observation is taken when d actions are left
of it, after D - d actions. So a node is a state and a queue, whose first part is all that a commitment from s needs to
know of the past, and an edge leads to the queue of actions D-d..D-1 and, where actions slip on the way, to several
states with their probabilities (``Chances``), which are enumerated and merged where they are equal. Episodes begin with
the first d actions of the first plan queued: the first plan is waited for. With no observation left the queue runs out.

Plans, and what else a policy says of a state, are those of a graph of the policy without delay: a finished one of every
state, or one that grows and plans wherever episodes come by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.chances import Chances
from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN, CommitmentGraph
from recommit.horizon.checks import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.graph import Nodes, States
    from recommit.puzzles.slip import Slip

    Actions = NDArray[np.uint8]
    Floats = NDArray[np.float64]

#: Nodes of a graph, and ends of all its commitments, at most.
LIMIT, MOST_ENDS = 2_000_000, 1 << 26
#: Nodes whose commitments are enumerated together.
PIECE = 1024


def delayed(
    plans: CommitmentGraph,
    starts: States,
    groups: NDArray[np.integer] | None = None,
    *,
    delay: int = 0,
    slip: Slip | None = None,
    budget: int = 0,
    limit: int = LIMIT,
) -> CommitmentGraph:
    """The graph of ``plans`` that come ``delay`` actions late, where actions ``slip``: every state and queue that any
    choice of depths can lead to from these starts.

    ``plans`` is a finished graph of every state that comes up, or a ``PolicyGraph``, which grows. ``budget`` is that of
    ``recommit.graph.build.build``: nodes are only made where they can matter to episodes of so many observations.
    More than ``limit`` nodes are an error. Without a delay and slips, it is the graph of the policy itself.
    """
    if whole("delay", delay, 0) >= PLAN:
        raise ValueError(f"delay: expected 0..{PLAN - 1}, since something of a plan must be left, got {delay}")
    if plans.budget:
        raise ValueError(f"plans: expected a graph of every state, got one for {plans.budget} observations")
    graph = _Growing(_Ground(plans, slip), delay, budget, limit)
    numbers = graph.begin(starts)
    done, remaining = 0, budget
    while done < len(graph) and (remaining or not budget):
        front, done = np.arange(done, len(graph)), len(graph)
        if budget:
            front = front[~graph.hopeless(front, remaining)]
            remaining -= 1
        for begin in range(0, len(front), PIECE):
            graph.expand(front[begin : begin + PIECE])
    return graph.finished(numbers, np.arange(len(starts)) if groups is None else groups)


def marks_ahead(graph: CommitmentGraph, slip: Slip) -> NDArray[np.bool_]:
    """[N, 8] on which places of its plan, the queue first, does a node's way begin an action on a marked cell if
    nothing slips? None beyond the goal."""
    sequence, here = sequences(graph, np.arange(len(graph))), graph.states.copy()
    result = np.zeros(sequence.shape, np.bool_)
    for place in range(PLAN):
        on = np.flatnonzero(~graph.puzzle.is_solved(here))
        result[on, place] = slip.marked(graph.puzzle, here[on])
        here[on] = graph.puzzle.step(here[on], np.ascontiguousarray(sequence[on, place]))
    return result


def sequences(graph: CommitmentGraph, nodes: Nodes) -> Actions:
    """[nodes, 8] what runs from each node on if the whole plan is committed to: the queue, then the plan without the
    actions whose time is over."""
    plans = graph.plans[nodes]
    return plans if graph.pending is None else np.concatenate([graph.pending[nodes], plans[:, graph.delay :]], axis=1)


class _Ground:
    """Where single actions lead from the nodes of a graph without delay, each asked of the puzzle once."""

    def __init__(self, plans: CommitmentGraph, slip: Slip | None) -> None:
        self.plans, self.slip = plans, slip
        self.probability = slip.probability if slip else 0.0
        self._next, self._marked = np.zeros((0, 4), np.int64), np.zeros(0, np.bool_)

    def step(self, nodes: Nodes, actions: Actions) -> tuple[Nodes, NDArray[np.bool_]]:
        """Where each action leads if it does not fail, and whether it may."""
        self._grow()
        wanted = np.unique(nodes * 4 + actions)
        at, action = wanted // 4, (wanted % 4).astype(np.uint8)
        new = self._next[at, action] == NOWHERE
        if new.any():
            after = self.plans.nodes(
                self.plans.puzzle.step(np.ascontiguousarray(self.plans.states[at[new]]), action[new])
            )
            self._next[at[new], action[new]] = after
        there = self._next[nodes, actions]
        return there, self._marked[nodes] & (there != nodes) & (self.probability > 0)

    def _grow(self) -> None:
        fresh = self.plans.states[len(self._next) :]
        if not len(fresh):
            return
        marked = self.slip.marked(self.plans.puzzle, fresh) if self.slip else np.zeros(len(fresh), np.bool_)
        self._marked = np.concatenate([self._marked, marked])
        self._next = np.concatenate([self._next, np.full((len(fresh), 4), NOWHERE)])


@dataclass(frozen=True)
class _Spread:
    """Where some roots may be by now: nodes without delay, each once per root, in the order of the roots."""

    root: Nodes
    node: Nodes
    probs: Floats

    @classmethod
    def at(cls, nodes: Nodes) -> _Spread:
        """For certain."""
        return cls(np.arange(len(nodes)), nodes, np.ones(len(nodes)))

    def after(self, ground: _Ground, actions: Actions) -> tuple[_Spread, Floats]:
        """After one action of each root, [roots]; and how many actions that are, in expectation: none at a goal."""
        on = ~ground.plans.goal[self.node]
        root, node, probs = self.root[on], self.node[on], self.probs[on]
        there, slips = ground.step(node, actions[root])
        fails = np.where(slips, ground.probability, 0.0)
        ways = [
            (self.root[~on], self.node[~on], self.probs[~on]),
            (root, there, probs * (1.0 - fails)),
            (root[slips], node[slips], probs[slips] * ground.probability),
        ]
        roots, nodes, weights = (np.concatenate(each) for each in zip(*ways, strict=True))
        keys, place = np.unique(roots * len(ground.plans) + nodes, return_inverse=True)
        merged: Floats = np.bincount(place, weights, len(keys)).astype(np.float64, copy=False)
        executed: Floats = np.bincount(root, probs, len(actions)).astype(np.float64, copy=False)
        some = merged > 0
        spread = _Spread(keys[some] // len(ground.plans), keys[some] % len(ground.plans), merged[some])
        return spread, executed


class _Growing:
    """A graph while its nodes are found."""

    def __init__(self, ground: _Ground, delay: int, budget: int, limit: int) -> None:
        self.ground, self.plans = ground, ground.plans
        self.delay, self.budget, self.limit = delay, budget, limit
        self.depths = ALL_DEPTHS[delay:]
        self._index: dict[int, int] = {}
        self._keys: list[int] = []
        #: Of the nodes that were expanded, piece by piece: which, where their commitments land -- a chance is the least
        #: number minus its place -- and how many actions they execute.
        self._expanded: list[tuple[Nodes, Nodes, Floats]] = []
        self._ends: list[tuple[Nodes, Nodes, Floats]] = []
        self._chances = self._total = 0

    def __len__(self) -> int:
        return len(self._keys)

    def begin(self, starts: States) -> Nodes:
        """The nodes where episodes begin: the first plan is there, and begins to run."""
        nodes = self.plans.nodes(starts)
        self.plans.expand(nodes)
        return self._numbered(nodes, self.plans.plans[nodes][:, : self.delay])

    def hopeless(self, nodes: Nodes, remaining: int) -> NDArray[np.bool_]:
        """See ``CommitmentGraph.hopeless``."""
        distance = self.plans.distance[self._places(nodes)[0]]
        return (distance < 0) | (distance > (PLAN - self.delay) * remaining + self.delay)

    def expand(self, nodes: Nodes) -> None:
        """All commitments of these nodes."""
        at, pending = self._places(nodes)
        open_ = ~self.plans.goal[at]
        nodes, at, pending = nodes[open_], at[open_], pending[open_]
        self.plans.expand(at)
        if not self.plans.planned[at].all():
            raise ValueError("plans: expected a graph with plans in all states that come up, got one without some")
        sequence = np.concatenate([pending, self.plans.plans[at][:, self.delay :]], axis=1)
        spread, executed = _Spread.at(at), np.zeros(len(nodes))
        landing, actions = np.empty((len(nodes), len(self.depths)), np.int64), np.empty((len(nodes), len(self.depths)))
        for place in range(len(self.depths)):
            spread, more = spread.after(self.ground, sequence[:, place])
            executed = executed + more
            landing[:, place] = self._landed(spread, sequence[:, place + 1 : place + 1 + self.delay], len(nodes))
            actions[:, place] = executed
        self._expanded.append((nodes, landing, actions))

    def _landed(self, spread: _Spread, pending: Actions, roots: int) -> Nodes:
        """[roots] where a commitment of each ends."""
        nodes = self._numbered(spread.node, pending[spread.root])
        counts = np.bincount(spread.root, minlength=roots)
        first = np.cumsum(counts) - counts
        several = counts > 1
        result = nodes[first]
        result[several] = NOWHERE - 1 - self._chances - np.arange(several.sum())
        within = several[spread.root]
        self._total += int(within.sum())
        if self._total > MOST_ENDS:
            raise ValueError(
                f"limit: expected at most {MOST_ENDS:,} ends of commitments, got more; ask for fewer starts"
            )
        self._ends.append((counts[several], nodes[within], spread.probs[within]))
        self._chances += int(several.sum())
        return result

    def _numbered(self, at: Nodes, pending: Actions) -> Nodes:
        """The node of each state, by its node without delay, with each queue; at a goal nothing is queued any more."""
        code = pending.astype(np.int64) @ 4 ** np.arange(self.delay) if self.delay else np.zeros(len(at), np.int64)
        keys, place = np.unique(at * 4**self.delay + np.where(self.plans.goal[at], 0, code), return_inverse=True)
        fresh = [key for key in keys.tolist() if key not in self._index]
        if len(self) + len(fresh) > self.limit:
            raise ValueError(
                f"limit: expected at most {self.limit:,} nodes, got {len(self) + len(fresh):,} and more to come; "
                "ask for fewer starts, a budget or a smaller delay"
            )
        self._index.update(zip(fresh, range(len(self), len(self) + len(fresh)), strict=True))
        self._keys += fresh
        numbers = np.fromiter((self._index[key] for key in keys.tolist()), np.int64, len(keys))
        return numbers[place]

    def _places(self, nodes: Nodes) -> tuple[Nodes, Actions]:
        """Nodes without delay, and queues."""
        keys = np.fromiter((self._keys[node] for node in nodes.tolist()), np.int64, len(nodes))
        code = keys % 4**self.delay
        pending = (code[:, None] // 4 ** np.arange(self.delay)) % 4
        return keys // 4**self.delay, pending.astype(np.uint8)

    def _run_out(self, at: Nodes, pending: Actions) -> Floats:
        """[nodes, 2] solved, and actions, of what is queued."""
        spread, executed = _Spread.at(at), np.zeros(len(at))
        for place in range(self.delay):
            spread, more = spread.after(self.ground, pending[:, place])
            executed = executed + more
        solved = np.bincount(spread.root, spread.probs * self.plans.goal[spread.node], len(at))
        return np.column_stack([solved, executed])

    def finished(self, starts: Nodes, groups: NDArray[np.integer]) -> CommitmentGraph:
        """The graph as it is now."""
        count, many = len(self), len(self.depths)
        at, pending = self._places(np.arange(count))
        landing, executed = np.full((count, many), NOWHERE, np.int64), np.zeros((count, many))
        planned = np.zeros(count, np.bool_)
        for nodes, there, actions in self._expanded:
            planned[nodes] = True
            landing[nodes], executed[nodes] = np.where(there < NOWHERE, count + NOWHERE - 1 - there, there), actions
        ending = None
        if self.delay:
            parts = [slice(begin, begin + PIECE) for begin in range(0, count, PIECE)]
            ending = np.concatenate([self._run_out(at[part], pending[part]) for part in parts])
        plans = self.plans
        said: dict[str, Any] = {
            name: None if array is None or array.shape == (0,) else array[at]
            for name in ("states", "plans", "probs", "logits", "features", "disagreement", "samples")
            for array in [getattr(plans, name)]
        }
        return CommitmentGraph(
            depths=self.depths,
            landing=landing,
            executed=executed if self._chances else executed.astype(np.int8),
            goal=plans.goal[at],
            planned=planned,
            distance=plans.distance[at],
            task=plans.task,
            head_depths=plans.head_depths,
            starts=starts.astype(np.int32),
            groups=groups.astype(np.int32),
            budget=self.budget,
            delay=self.delay,
            pending=pending if self.delay else None,
            ending=ending,
            chances=self._all_chances() if self._chances else None,
            source=plans.source,
            **{name: array for name, array in said.items() if array is not None},
        )

    def _all_chances(self) -> Chances:
        counts, nodes, probs = (np.concatenate(each) for each in zip(*self._ends, strict=True))
        return Chances(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), nodes.astype(np.int32), probs)
