"""Episodes as rows, one per decision. Everything else -- episodes, metrics, tables -- is computed from these."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit.graph.episodes import episodes, softmax, turns
from recommit.policy.config import MOST_ACTIONS, PLAN_LENGTH
from recommit.puzzles.solutions import UNKNOWN
from recommit.rollout.trace import joined

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import Chooser
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.rollout import Actor
    from recommit.rollout.trace import Trace
    from recommit.runs.distributed import Team

#: Any agent: states [N, rows, columns] and the turn -> depths [N] and actions [N, 8], or up to 16.
Agent: TypeAlias = "Callable[[NDArray[np.uint8], int], tuple[NDArray[np.int64], NDArray[np.uint8]]]"

#: Upper limit of instances, more than any recipe can have.
MOST_INSTANCES = 1 << 24
#: Value in ``entropy`` and ``probs`` if the depth head was not used.
NOT_ASKED = np.nan


@dataclass(frozen=True)
class DecisionRows:
    """Decisions, in the order (turn, instance)."""

    instance: NDArray[np.int32]
    turn: NDArray[np.int16]  #: 0 is the first observation
    depth: NDArray[np.int8]  #: committed
    executed: NDArray[np.int8]  #: actions until the goal or the end of the commitment
    before: NDArray[np.int32]  #: distance, UNSOLVABLE for a state that cannot be solved any more
    after: NDArray[np.int32]
    solved: NDArray[np.bool_]
    entropy: NDArray[np.float32]  #: of the depth head, in nats
    probs: NDArray[np.float32]  #: that the depth head gave to the depth
    actions: NDArray[np.uint32]  #: of the plan, two bits each, the first lowest
    depth_probs: NDArray[np.uint64]  #: that the head gave to depth h, in 255ths, in byte h - 1; 0: not used
    #: That the decoder gave to action i of the plan after those before it, in 255ths, in byte i; 0: not known.
    plan_probs: NDArray[np.uint64]
    #: The same for depths and actions beyond eight, the ninth in the first byte; stored for longer plans only.
    depth_probs_9: NDArray[np.uint64]
    plan_probs_9: NDArray[np.uint64]

    @classmethod
    def of(cls, **columns: NDArray[Any]) -> DecisionRows:
        """Build rows from columns of any dtype; missing columns of probabilities become ``NOT_ASKED`` and 0."""
        count = len(columns["instance"])
        columns = {name: np.full(count, default, _KINDS[name]) for name, default in _UNASKED.items()} | columns
        return cls(**{name: columns[name].astype(kind, copy=False) for name, kind in _KINDS.items()})

    def head_probs(self) -> NDArray[np.uint8]:
        """[N, 16] probability that the depth head gave to each depth, in 255ths."""
        return np.stack([self.depth_probs, self.depth_probs_9], axis=1).astype("<u8").view(np.uint8)

    def stored(self) -> dict[str, NDArray[Any]]:
        """Columns to store; narrower and fewer for plans of at most eight actions."""
        columns = {name: getattr(self, name) for name in _KINDS}
        if any(columns[name].any() for name in _LONG) or (self.actions >> 2 * PLAN_LENGTH).any():
            return columns
        narrow = {name: columns[name] for name in _KINDS if name not in _LONG}
        return {**narrow, "actions": self.actions.astype(_SHORT_ACTIONS)}

    @classmethod
    def of_table(cls, path: Path, table: Any, instances: int = MOST_INSTANCES) -> DecisionRows:
        """Read rows from the parsed file ``path``, which must hold decisions on at most this many instances."""
        from recommit.data import parquet

        stored = _KINDS
        if not set(_LONG) & set(table.column_names):
            stored = {name: kind for name, kind in _KINDS.items() if name not in _LONG} | {"actions": _SHORT_ACTIONS}
        kinds = {name: str(parquet.pa.from_numpy_dtype(np.dtype(kind))) for name, kind in stored.items()}
        rows = cls.of(**parquet.columns(path, table, kinds))
        limits = {"instance": (0, instances - 1), "turn": (0, 2**15 - 1)}
        limits |= dict.fromkeys(("before", "after"), (UNKNOWN, 2**31 - 1))
        for name, (low, high) in (limits | dict.fromkeys(("depth", "executed"), (0, MOST_ACTIONS))).items():
            parquet.within(path, name, getattr(rows, name), low, high)
        return rows

    def __len__(self) -> int:
        return len(self.instance)

    def where(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> DecisionRows:
        """Select rows by a mask or by indices."""
        return DecisionRows(*(getattr(self, f.name)[keep] for f in fields(self)))


_KINDS = dict(
    zip(
        (f.name for f in fields(DecisionRows)),
        ["i4", "i2", "i1", "i1", "i4", "i4", "?", "f4", "f4", "u4", "u8", "u8", "u8", "u8"],
        strict=True,
    )
)
#: Columns of plans with more than eight actions only, and the dtype of ``actions`` for shorter plans.
_LONG, _SHORT_ACTIONS = ("depth_probs_9", "plan_probs_9"), "u2"
_UNASKED = {"entropy": NOT_ASKED, "probs": NOT_ASKED, **dict.fromkeys(("depth_probs", "plan_probs", *_LONG), 0)}


def join(parts: list[DecisionRows]) -> DecisionRows:
    """Concatenate rows, in order; also of no parts."""
    return joined([DecisionRows(*(np.zeros(0, kind) for kind in _KINDS.values())), *parts])


def each_by_rank(team: Team, count: int, play: Callable[[int], DecisionRows]) -> list[DecisionRows]:
    """Call ``play`` with 0..``count`` - 1, each number on one rank; every rank returns all rows."""
    names = [f.name for f in fields(DecisionRows)]
    mine: dict[str, NDArray[Any]] = {}
    for i in range(team.rank, count, team.world):
        rows = play(i)
        mine |= {f"{i}.{name}": getattr(rows, name) for name in names}
    columns: dict[str, NDArray[Any]] = {}
    for gathered in team.gather(mine):
        columns |= gathered
    return [DecisionRows(*(columns[f"{i}.{name}"] for name in names)) for i in range(count)]


def on_graph(graph: PolicyGraph, starts: NDArray[np.uint8], budget: int, choose: Chooser) -> DecisionRows:
    """Play episodes with the policy's greedy plans, at the depths of ``choose``."""
    steps = [
        (who, np.full(len(who), turn), nodes, columns)
        for turn, who, nodes, columns in episodes(graph, graph.nodes(starts, budget), budget, choose)
    ]
    if not steps:
        return join([])
    who, turn, nodes, columns = (np.concatenate(column) for column in zip(*steps, strict=True))
    after, logits, depth = graph.landing[nodes, columns], graph.logits[nodes], np.array(graph.depths)[columns]
    entropy, probs = depth_head_of(logits, depth, graph.head_depths)
    return DecisionRows.of(
        instance=who,
        turn=turn,
        depth=depth,
        executed=graph.executed[nodes, columns],
        before=graph.distance[nodes],
        after=graph.distance[after],
        solved=graph.goal[after],
        entropy=entropy,
        probs=probs,
        actions=packed(graph.plans_of(nodes, columns)),
        **in_bytes("depth_probs", softmax(logits), graph.head_depths),
        **in_bytes("plan_probs", plan_probs(graph, nodes, columns)),
    )


def plan_probs(graph: PolicyGraph, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
    """[N, actions] probability that the policy gave to each action of its plans; 0 if the graph keeps none."""
    if graph.probs.ndim < 3:  # they were not kept
        return np.zeros((len(nodes), graph.plan_length), np.float32)
    own = graph.plans_of(nodes, columns)[..., None].astype(np.int64)
    every = graph.probs[nodes] if graph.probs.ndim == 3 else graph.probs[nodes, columns]
    return np.take_along_axis(every, own, axis=-1)[..., 0]


def packed(actions: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Pack the actions of each plan into one number, two bits each, the first lowest."""
    places = 2 * np.arange(actions.shape[1], dtype=np.uint32)
    return np.bitwise_or.reduce(actions.astype(np.uint32) << places, axis=1)


def in_bytes(
    name: str, probabilities: NDArray[np.floating], places: tuple[int, ...] = ()
) -> dict[str, NDArray[np.uint64]]:
    """Pack probabilities [N, places] into the column ``name`` and that for places beyond eight, in 255ths: place i of
    1, 2, ... in byte i - 1."""
    columns = np.array(places or range(1, probabilities.shape[1] + 1)) - 1
    whole = np.zeros((len(probabilities), MOST_ACTIONS), np.uint8)
    whole[:, columns] = np.rint(255 * probabilities.astype(np.float64))
    first, beyond = whole.view("<u8").T.astype(np.uint64, order="C")
    return {name: first, f"{name}_9": beyond}


def depth_head_of(
    logits: NDArray[np.floating], depth: NDArray[np.integer], depths: tuple[int, ...]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Entropy of the depth head, and the probability that it gave to ``depth`` (``NOT_ASKED`` outside its set)."""
    if not len(logits):
        return np.zeros(0, np.float32), np.zeros(0, np.float32)
    probability = softmax(logits)
    entropy = -(probability * np.log(np.maximum(probability, 1e-300))).sum(axis=1)
    column = np.searchsorted(depths, depth).clip(max=len(depths) - 1)
    probs = np.where(np.array(depths)[column] == depth, probability[np.arange(len(depth)), column], NOT_ASKED)
    return entropy.astype(np.float32), probs.astype(np.float32)


def sampled(actor: Actor, starts: NDArray[np.uint8], budget: int, seed: int) -> DecisionRows:
    """Play episodes with actions (and, for an adaptive variant, depths) sampled from the policy."""
    from recommit.rollout.rollout import rollout

    trace = rollout(actor, starts, budget, numbers=(seed << 24) + np.arange(len(starts), dtype=np.uint64))
    return of_trace(trace, actor.policy.config.depths, budget)


def of_trace(trace: Trace, depths: tuple[int, ...], budget: int) -> DecisionRows:
    """Rows of the first candidates in a trace."""
    made = trace.proposals
    depth = made.depth[:, 0]
    entropy, probs = depth_head_of(made.logits, depth, depths)
    return DecisionRows.of(
        instance=trace.episode,
        turn=budget - trace.remaining,
        depth=depth,
        executed=trace.executed[:, 0],
        before=trace.distance,
        after=trace.after_distance[:, 0],
        solved=trace.solved[:, 0],
        entropy=entropy,
        probs=probs,
        actions=packed(made.actions[:, 0]),
        **in_bytes("depth_probs", softmax(made.logits), depths),
        **in_bytes("plan_probs", np.exp(made.action_log[:, 0])),
    )


def of_callable(agent: Agent, task: Puzzle, starts: NDArray[np.uint8], budget: int) -> DecisionRows:
    """Play episodes with any function from states and turn to depths and actions. It sees states, never distances."""
    states, over, parts = starts.copy(), task.is_solved(starts), []
    for turn, who in turns(over, budget):
        depth, actions = agent(states[who], turn)
        depth, actions = np.asarray(depth), np.asarray(actions, np.uint8)
        most = min(actions.shape[-1], MOST_ACTIONS) if actions.ndim == 2 else PLAN_LENGTH
        if depth.shape != (len(who),) or (len(depth) and not (depth.min() >= 1 and depth.max() <= most)):
            raise ValueError(f"agent: expected {len(who)} depths of 1..{most}, got {depth.tolist()[:8]}")
        actions = np.ascontiguousarray(actions[..., :MOST_ACTIONS])
        rows, states[who] = carried_out(task, states, who, turn, depth, actions)
        over[who] = rows.solved
        parts.append(rows)
    return join(parts)


def carried_out(
    task: Puzzle,
    states: NDArray[np.uint8],
    who: NDArray[np.intp],
    turn: int,
    depth: NDArray[np.integer],
    actions: NDArray[np.uint8],
) -> tuple[DecisionRows, NDArray[np.uint8]]:
    """Execute the commitments of the instances ``who``; returns their rows and the next states."""
    outcome = task.execute(states[who], actions, depth.astype(np.int32))
    rows = DecisionRows.of(
        instance=who,
        turn=np.full(len(who), turn),
        depth=depth,
        executed=outcome.executed,
        before=task.distance(states[who]),
        after=task.distance(outcome.states),
        solved=outcome.solved,
        actions=packed(actions),
    )
    return rows, outcome.states
