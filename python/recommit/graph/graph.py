"""The commitment graph of a policy: with it, any rule that chooses how much of a plan to execute is scored exactly.

A node is a state. With an observation the policy makes one plan there, and an edge commits to the first ``h`` actions
of it: the graph knows where each edge lands and how many actions were executed (fewer than ``h`` only if the goal came
first). Plans are greedy, so an episode is a walk along edges, and every choice of depths -- a depth head, a fixed
depth, the oracle -- walks in the same graph. The value of a depth policy is then a sum over edges instead of a mean
over sampled episodes (``graph/values.py``).

A graph grows while a policy plans (``graph/build.py``) and can be kept as files (``graph/files.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.puzzles import registry
from recommit.puzzles.solutions import UNSOLVABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    States = NDArray[np.uint8]

#: Actions of a plan, and every depth there is; a growing graph of a policy with longer plans has more.
PLAN = 8
ALL_DEPTHS = tuple(range(1, PLAN + 1))
#: A landing that is no node of the graph.
NOWHERE = -1
CUT = "graph: expected one whose edges all lead to nodes, got one that was cut; build it with a higher limit"


@dataclass(eq=False)
class CommitmentGraph:
    """Arrays by node; columns of ``landing`` and ``executed`` are ``depths``, ascending. Policy outputs and edges
    are valid only for ``planned``, non-goal nodes."""

    depths: tuple[int, ...]
    #: [N, depths] the node where the commitment ends, or ``NOWHERE``
    landing: NDArray[np.integer]
    executed: NDArray[np.integer]  #: [N, depths] actions until there or until the goal
    goal: NDArray[np.bool_]  #: [N] solved states
    planned: NDArray[np.bool_]  #: [N] states with a plan
    distance: NDArray[np.integer]  #: [N] actions to the goal, below zero where it is out of reach
    #: The puzzle, and its states [N, rows, columns]. Arrays that are not known are empty.
    task: str = ""
    states: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    #: Greedy actions: [N, 8], or [N, depths, 8] of a policy whose plans depend on the depth. Eight stands for the
    #: length of plans here.
    plans: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    #: [N, 8, 4], or [N, depths, 8, 4]: probability of every action at every place of the plan.
    probs: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    #: The depths that the policy's own head chooses from, ascending, and its logits [N, head_depths].
    head_depths: tuple[int, ...] = ()
    logits: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    #: [N, width]: z of the observation, from which another head can be trained.
    features: NDArray[np.float32] | None = None
    #: [N, S, 8]: other plans of the same observation, sampled from the policy.
    samples: NDArray[np.uint8] | None = None
    #: [M] nodes where episodes begin, and their groups: starts of one room have one number, since rooms are the
    #: independent units of intervals.
    starts: NDArray[np.integer] = field(default_factory=lambda: np.zeros(0, np.int32))
    groups: NDArray[np.integer] = field(default_factory=lambda: np.zeros(0, np.int32))
    #: Most observations of the episodes that plans are for; only states from which the goal can still be reached with
    #: those left have one (see ``hopeless``). 0: every state has one, for any number of observations.
    budget: int = 0
    #: Provenance: any plain values.
    source: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, many, length = len(self.goal), len(self.depths), self.plan_length
        shapes: dict[str, tuple[str, tuple[int | str, ...]]] = {
            "goal": ("b", (nodes,)),
            "planned": ("b", (nodes,)),
            "distance": ("iu", (nodes,)),
            "landing": ("iu", (nodes, many)),
            "executed": ("iu", (nodes, many)),
            "plans": ("iu", (nodes, length)),
            "probs": ("f", (nodes, length, 4)),
            "logits": ("f", (nodes, len(self.head_depths))),
            "features": ("f", (nodes, "width")),
            "samples": ("iu", (nodes, "samples", length)),
            "groups": ("iu", self.starts.shape),
        }
        for name, (kinds, wanted) in shapes.items():
            if (array := getattr(self, name)) is not None and (array.shape != (0,) or len(wanted) == 1):
                by_depth = [(nodes, many, *wanted[1:])] if name in ("plans", "probs") else []
                checks.shape(name, checks.array(name, array, kinds), wanted, *by_depth)
        for each in ("depths", "head_depths"):
            checks.between(each, np.array(getattr(self, each), np.int64), 1, length)
            if list(getattr(self, each)) != sorted(set(getattr(self, each))):
                raise ValueError(f"{each}: expected each once, ascending, got {getattr(self, each)}")
        checks.between("landing", self.landing, NOWHERE, nodes - 1)
        checks.between("executed", self.executed, 0, self.depths[-1])
        checks.between("distance", self.distance, UNSOLVABLE, np.iinfo(np.int32).max)
        checks.between("starts", self.starts, 0, nodes - 1)
        for name in ("plans", "samples"):
            if getattr(self, name) is not None:
                checks.between(name, getattr(self, name), 0, 3)

    def __len__(self) -> int:
        return len(self.goal)

    @property
    def plan_length(self) -> int:
        """Actions of a plan."""
        return self.plans.shape[-1] if self.plans.ndim > 1 else PLAN

    @property
    def rows(self) -> Nodes:
        """The nodes where a depth has to be chosen."""
        return np.flatnonzero(self.planned & ~self.goal)

    @property
    def puzzle(self) -> Puzzle:
        """Puzzle of the states."""
        return registry.puzzle(self.task).of_states((self.states.shape[1], self.states.shape[2]))

    @property
    def usual_budgets(self) -> tuple[int, ...]:
        """The puzzle's usual budgets of observations for states of this size, largest first."""
        return tuple(sorted(self.puzzle.budgets(self.states.shape[1:]).values(), reverse=True))

    @property
    def closed(self) -> bool:
        """True if every start, and every landing of a planned node, is planned or a goal; with a ``budget``, if every
        state is planned where an episode within it may choose."""
        if (self.landing[self.planned] == NOWHERE).any():
            return False
        ends = self.planned | self.goal
        if not self.budget:
            return bool(ends[self.landing[self.planned]].all() and ends[self.starts].all())
        seen, front = np.zeros(len(self), np.bool_), self.starts
        for remaining in range(self.budget, 0, -1):  # most are left where a state is first reached
            front = np.unique(front)
            front = front[~seen[front] & ~self.hopeless(front, remaining)]
            if not ends[front].all():
                return False
            seen[front] = True
            front = self.landing[front[~self.goal[front]]]
        return True

    def nodes(self, states: States) -> Nodes:
        """The node of each state; raises ``ValueError`` if the graph lacks one."""
        found = [self._numbers.get(state.tobytes(), NOWHERE) for state in states]
        if missing := found.count(NOWHERE):
            raise ValueError(
                f"graph: expected one of every state that comes up, got one without {missing:,} of {len(found):,}; "
                "build it with --every-state, or give the growing graph of a policy"
            )
        return np.array(found, np.int64)

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return self.numbers()

    def hopeless(self, nodes: NDArray[np.integer], remaining: NDArray[np.integer] | int) -> NDArray[np.bool_]:
        """True for nodes from which the goal is out of reach with these observations, on a graph with a ``budget``
        alone: an episode there is not followed any further, but pays for the least depth at every observation left."""
        if not self.budget:
            return np.zeros(len(nodes), np.bool_)  # distances are not needed
        distance = self.distance[nodes]
        return (distance < 0) | (distance > self.plan_length * np.asarray(remaining))

    def column(self, depth: int) -> int:
        """The column of a depth."""
        if depth not in self.depths:
            raise ValueError(f"depths: expected some of {self.depths}, got {depth}")
        return self.depths.index(depth)

    def only(self, depths: tuple[int, ...]) -> CommitmentGraph:
        """The graph restricted to these depths."""
        columns = [self.column(depth) for depth in sorted(set(depths))]
        chosen = {"landing": self.landing[:, columns], "executed": self.executed[:, columns]}
        by_depth = {"plans": 3, "probs": 4}
        for name, ndim in by_depth.items():
            if (array := getattr(self, name)).ndim == ndim:
                chosen[name] = array[:, columns]
        return CommitmentGraph(**{**self.arrays(), **chosen, "depths": tuple(sorted(set(depths)))})

    def arrays(self) -> dict[str, Any]:
        """All fields by name."""
        return {each.name: getattr(self, each.name) for each in fields(CommitmentGraph)}

    def numbers(self) -> dict[bytes, int]:
        """The number of every node by the bytes of its state."""
        return {state.tobytes(): i for i, state in enumerate(self.states)}

    def expand(self, nodes: Nodes) -> None:
        """Plan at these nodes: does nothing here, since only a ``PolicyGraph`` grows."""

    def plans_of(self, nodes: Nodes, columns: Nodes) -> NDArray[np.uint8]:
        """[nodes, 8] the plan of each node for the depth of this column."""
        return self.plans[nodes] if self.plans.ndim == 2 else self.plans[nodes, columns]

    def part(
        self, nodes: NDArray[np.bool_], starts: NDArray[np.integer], groups: NDArray[np.integer] | None = None
    ) -> CommitmentGraph:
        """Subgraph of ``nodes``, in order; edges that leave it lead ``NOWHERE``. ``starts`` are nodes of it, each a
        group of its own without ``groups``."""
        number = np.full(len(self) + 1, NOWHERE, np.int32)  # the last one is that of NOWHERE
        number[:-1][nodes] = np.arange(nodes.sum(), dtype=np.int32)
        arrays = {k: v for k, v in self.arrays().items() if isinstance(v, np.ndarray) and v.shape != (0,)}
        columns: dict[str, Any] = {k: v[nodes] for k, v in arrays.items() if k not in ("landing", "starts", "groups")}
        rooms = np.arange(len(starts)) if groups is None else groups
        return replace(
            self, **columns, landing=number[self.landing[nodes]], starts=number[starts], groups=rooms.astype(np.int32)
        )


def ways(puzzle: Puzzle, starts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """All states on the solver's plans from these starts, the starts first, goals too: what any depths on optimal plans
    can lead to."""
    return np.concatenate([starts, *(after for _, _, after in solver_steps(puzzle, starts))])


def solver_steps(puzzle: Puzzle, states: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.intp], States, States]]:
    """Step along the solver's plans: yields the indices of states that still move, their actions and next states."""
    solutions, here = puzzle.solve(states), states.copy()
    lengths, first = np.diff(solutions.offsets), solutions.offsets[:-1]
    for place in range(int(lengths.max(initial=0))):
        moving = np.flatnonzero(lengths > place)
        actions = solutions.actions[first[moving] + place]
        here[moving] = puzzle.step(np.ascontiguousarray(here[moving]), np.ascontiguousarray(actions))
        yield moving, actions, here[moving]
