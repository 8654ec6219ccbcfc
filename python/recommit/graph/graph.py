"""A commitment graph: with it, any rule that says how much of a plan to execute is judged exactly, without the policy.

A node is a state. A look at it makes one plan, eight greedy actions. An edge (node, depth) executes the first ``depth``
of them: it knows where that lands, how many actions were executed (fewer than ``depth`` only if the goal came first)
and whether the goal was reached. Plans do not depend on the depth, so a rule chooses among the eight edges of a node,
and the value of a rule is a sum over edges instead of a mean over sampled episodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.commitments import Commitments
from recommit.puzzles import registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: Actions of a plan, and so the number of edges of a node.
PLAN = 8
#: Numbers per action of a plan that say how far views agree on it.
DISAGREEMENTS = 2
#: A landing that is no node of the graph; ``stop`` of a plan that does not reach the goal.
NOWHERE, NEVER = -1, 0


@dataclass(frozen=True)
class CommitmentGraph:
    """Columns by node; those of a node that was never looked at (the goal, or beyond a limit) are zero, its landings
    ``NOWHERE``. Depth h stands in column h - 1."""

    task: str
    #: The depths that the policy's own head chooses from, ascending.
    depths: tuple[int, ...]
    states: NDArray[np.uint8]  #: [N, rows, columns]
    distance: NDArray[np.int32]  #: exact number of actions to the goal; -1: out of reach
    looked: NDArray[np.bool_]  #: [N] has it a plan?
    plans: NDArray[np.uint8]  #: [N, 8]
    probabilities: NDArray[np.float32]  #: [N, 8, 4] of every action at every place of the plan
    logits: NDArray[np.float32]  #: [N, depths] of the policy's own head
    landing: NDArray[np.int32]  #: [N, 8] nodes
    stop: NDArray[np.uint8]  #: [N] after how many actions the plan reaches the goal, or ``NEVER``
    starts: NDArray[np.int32]  #: [M] nodes where episodes begin
    #: [M] starts of one room have one number: they are drawn together when intervals are made.
    groups: NDArray[np.int32]
    #: Where it is from: any plain values.
    source: dict[str, Any]
    #: [N, width] what a look gave besides the plan, z: for whoever trains another head. None where it was not kept.
    features: NDArray[np.float32] | None = None
    #: [N, 16] how far several views of a look agree on the plan, kept beside ``features`` of a policy with views.
    disagreement: NDArray[np.float32] | None = None
    #: [N, S, 8] other plans of the same look, drawn from the policy. None where there are none.
    samples: NDArray[np.uint8] | None = None

    def __post_init__(self) -> None:
        nodes = len(self.states)
        shapes = {
            "distance": (nodes,),
            "looked": (nodes,),
            "plans": (nodes, PLAN),
            "probabilities": (nodes, PLAN, 4),
            "logits": (nodes, len(self.depths)),
            "landing": (nodes, PLAN),
            "stop": (nodes,),
            "groups": self.starts.shape,
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name}: expected the shape {shape}, got {getattr(self, name).shape}")
        if self.features is not None and (self.features.ndim != 2 or len(self.features) != nodes):
            raise ValueError(f"features: expected the shape ({nodes}, width), got {self.features.shape}")
        if self.disagreement is not None and self.disagreement.shape != (nodes, DISAGREEMENTS * PLAN):
            raise ValueError(
                f"disagreement: expected the shape ({nodes}, {DISAGREEMENTS * PLAN}), got {self.disagreement.shape}"
            )
        if self.samples is not None:
            _check_samples(self.samples, nodes)
        _within("landing", self.landing, NOWHERE, nodes - 1)
        _within("starts", self.starts, 0, nodes - 1)
        _within("stop", self.stop, NEVER, PLAN)
        _within("plans", self.plans, 0, 3)
        _within("depths", np.array(self.depths), 1, PLAN)
        if list(self.depths) != sorted(set(self.depths)):
            raise ValueError(f"depths: expected each once, ascending, got {self.depths}")

    def __len__(self) -> int:
        return len(self.states)

    @property
    def puzzle(self) -> Puzzle:
        """Whose states these are."""
        return registry.puzzle(self.task).of_states((self.states.shape[1], self.states.shape[2]))

    @property
    def read(self) -> NDArray[np.float32] | None:
        """[N, numbers] what a head may read beside the plan's probabilities: features, then disagreement."""
        if self.features is None or self.disagreement is None:
            return self.features
        return np.concatenate([self.features, self.disagreement], axis=1)

    @property
    def goal(self) -> NDArray[np.bool_]:
        """[N] which nodes are goals?"""
        result: NDArray[np.bool_] = self.distance == 0
        return result

    @property
    def closed(self) -> bool:
        """Is every landing of every node that was looked at a goal or a node that was looked at too?"""
        landing = self.landing[self.looked]
        ends = self.looked | self.goal
        return bool((landing != NOWHERE).all() and ends[landing].all() and ends[self.starts].all())

    def numbers(self) -> dict[bytes, int]:
        """The number of every node by the bytes of its state."""
        return {state.tobytes(): i for i, state in enumerate(self.states)}

    def reachable(self, starts: NDArray[np.integer]) -> NDArray[np.bool_]:
        """[N] which nodes can episodes from these nodes come to, themselves too?"""
        reached = np.zeros(len(self), np.bool_)
        new = np.unique(starts)
        while len(new):
            reached[new] = True
            landing = np.unique(self.landing[new[self.looked[new]]])
            new = landing[(landing != NOWHERE) & ~reached[landing]]
        return reached

    def part(
        self, nodes: NDArray[np.bool_], starts: NDArray[np.integer], groups: NDArray[np.integer] | None = None
    ) -> CommitmentGraph:
        """Some of the nodes, in order; edges that leave them lead ``NOWHERE``. ``starts`` are among them, each a group
        of its own if there are no ``groups``."""
        number = np.full(len(self) + 1, NOWHERE, np.int32)  # the last one is that of NOWHERE
        number[:-1][nodes] = np.arange(nodes.sum(), dtype=np.int32)
        own = ("landing", "starts", "groups")
        columns: dict[str, Any] = {
            k: v[nodes] for k, v in vars(self).items() if isinstance(v, np.ndarray) and k not in own
        }
        rooms = np.arange(len(starts)) if groups is None else groups
        return replace(
            self,
            **columns,
            landing=number[self.landing[nodes]],
            starts=number[starts],
            groups=rooms.astype(np.int32),
        )

    def commitments(self, depths: Sequence[int]) -> Commitments:
        """The graph as arrays for the exact programs of ``recommit.graph.regret``, with these depths to choose from."""
        columns = columns_of(depths)
        return Commitments(
            tuple(column + 1 for column in columns),
            self.landing[:, columns],
            self.executed(columns),
            self.goal,
            self.looked,
            self.distance,
        )

    def executed(self, columns: Sequence[int]) -> NDArray[np.int32]:
        """[N, columns] actions that each of these edges executes."""
        depths = np.array(columns, np.int32) + 1
        last = np.where(self.stop == NEVER, PLAN, self.stop).astype(np.int32)
        result: NDArray[np.int32] = np.minimum(depths[None], last[:, None])
        return result

    def solved(self, columns: Sequence[int]) -> NDArray[np.bool_]:
        """[N, columns] which of these edges reach the goal?"""
        depths = np.array(columns) + 1
        result: NDArray[np.bool_] = (self.stop[:, None] != NEVER) & (self.stop[:, None] <= depths[None])
        return result


def columns_of(depths: Sequence[int]) -> list[int]:
    """The columns of these depths."""
    bad = [depth for depth in depths if not 1 <= depth <= PLAN]
    if bad or not depths:
        raise ValueError(f"depths: expected some of 1..{PLAN}, got {bad[0] if bad else 'none'}")
    return [depth - 1 for depth in sorted(set(depths))]


def _check_samples(samples: NDArray[np.uint8], nodes: int) -> None:
    if samples.ndim != 3 or not samples.shape[1] or (len(samples), samples.shape[2]) != (nodes, PLAN):
        raise ValueError(f"samples: expected the shape ({nodes}, at least 1, {PLAN}), got {samples.shape}")
    _within("samples", samples, 0, 3)


def _within(name: str, numbers: NDArray[Any], least: int, most: int) -> None:
    if numbers.size and (numbers.min() < least or numbers.max() > most):
        bad = numbers.min() if numbers.min() < least else numbers.max()
        raise ValueError(f"{name}: expected numbers {least}..{most}, got {bad}")
