"""A policy's commitment graph while it grows: distinct states, each planned once.

``PolicyGraph.expand`` plans at nodes and adds the states where the prefixes of the plans lead. Every rank has the whole
graph, in one order, and plans at its share. ``build`` expands in waves until nothing is new: first the starts, then
where their plans lead. On some devices the batch of a state decides the last bits of its outputs, so that a wave is
divided into pieces of one size.

Samples use a counter that is keyed by the state: they depend on the policy, the state and the seed alone, so that two
graphs of one policy agree on their common states.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from recommit import rng
from recommit.data import held_out
from recommit.graph import files
from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN, CommitmentGraph, ways
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.depth_head import head_inputs
from recommit.policy.policy import CommitPolicy
from recommit.policy.tensors import to_device, to_host
from recommit.policy.threads import threads
from recommit.puzzles.levels import format_levels, read_levels
from recommit.puzzles.solutions import UNKNOWN, Limits
from recommit.runs.directory import recipe_of
from recommit.runs.distributed import Team, find_device, rank_batches, split_batches
from recommit.runs.process import torch_settings
from recommit.storage.ownership import refuse_foreign

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.graph import Nodes, States
    from recommit.graph.options import GraphBuildOptions
    from recommit.puzzles.levels import Levels
    from recommit.puzzles.puzzle import Puzzle

    Arrays = dict[str, NDArray[Any]]
    #: Runs a pass through the policy.
    RunPass: TypeAlias = Callable[[Callable[[], Any]], Any]

#: States per pass of the policy, and nodes of a graph at most, unless another number is given.
PIECE, LIMIT = 128, 4_000_000
#: Most samples of an observation; each has a random stream of its own.
MOST_SAMPLES = 1024


def run_directly(work: Callable[[], Any]) -> Any:
    """A pass through the policy in this process, at once; see ``Engine.run``."""
    return work()


class PolicyGraph(CommitmentGraph):
    """Growing commitment graph of one policy."""

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
        limit: int = 0,
        depth_major: bool = False,
        keep_inputs: bool = False,
        keep_probs: bool = False,
        features: bool = False,
        samples: int = 0,
        seed: int = 0,
    ) -> None:
        """Plan at ``piece`` states at a time, or as many as divide the work evenly; ``together``: see ``Engine``. New
        states beyond ``limit`` nodes are left out. They are numbered plan by plan, or with ``depth_major`` depth by
        depth. ``keep_inputs`` keeps the inputs of the depth head, on the rank that planned; ``keep_probs``,
        ``features`` and ``samples`` (by ``seed``) are columns of the graph."""
        self.policy, self.depths, self.run_pass = policy, depths, run_pass
        self.team, self.together, self.piece, self.limit = team or Team(), together, piece, limit
        self.depth_major, self.keep_inputs, self.seed, self._puzzle = depth_major, keep_inputs, seed, task
        self.task, self.head_depths, self.budget, self.source = task.task, policy.config.depths, 0, {}
        self.starts = self.groups = np.zeros(0, np.int32)
        #: True if the policy reads the decisions that remain; a state then has a node for each number of them.
        self.budget_conditioned = policy.config.budget_conditioned
        self._index: dict[bytes, int] = {}
        #: [N] decisions that remain, of a policy that reads them.
        self.remaining: Nodes = np.zeros(0, np.int64)
        self._inputs: list[tuple[Nodes, NDArray[np.float32]]] = []
        self._distance: NDArray[np.int32] = np.zeros(0, np.int32)
        length = policy.config.plan_length
        plans = (length,) if policy.plans_first else (len(depths), length)
        said: dict[str, tuple[tuple[int, ...], type] | None] = {
            "plans": (plans, np.uint8),
            "logits": ((len(self.head_depths),), np.float32),
            "probs": ((*plans, 4), np.float32) if keep_probs else None,
            "features": ((policy.backbone.width,), np.float32) if features else None,
            "samples": ((samples, length), np.uint8) if samples else None,
        }
        #: The policy's outputs at a node.
        self._said = [name for name, column in said.items() if column]
        own = {
            "states": (task.shape, np.uint8),
            "remaining": ((), np.int64),
            "landing": ((len(depths),), np.int32),
            "executed": ((len(depths),), np.int8),
            "goal": ((), np.bool_),
            "planned": ((), np.bool_),
        }
        self.probs, self.features, self.samples = np.zeros(0, np.float32), None, None
        self._columns: Arrays = {
            name: np.zeros((0, *column[0]), column[1]) for name, column in {**own, **said}.items() if column
        }
        for name, array in self._columns.items():
            setattr(self, name, array)

    @property
    def puzzle(self) -> Puzzle:
        """Puzzle of the states."""
        return self._puzzle

    @property
    def distance(self) -> NDArray[np.int32]:  # type: ignore[override]
        """[N] distances of the nodes so far; computed on access, since it may need a search."""
        if len(self._distance) < len(self):
            fresh = self.states[len(self._distance) :]
            self._distance = np.concatenate([self._distance, exact_distance(self._puzzle, fresh)])
        return self._distance

    def nodes(self, states: States, remaining: Nodes | int = 0) -> Nodes:
        """The node of each state, with these decisions ``remaining``, which only count where the policy reads them; new
        ones are added without a plan, and are ``NOWHERE`` beyond the limit."""
        numbers = np.broadcast_to(remaining if self.budget_conditioned else 0, len(states))
        result, fresh, count = np.empty(len(states), np.int64), list[int](), len(self)
        for i, (state, number) in enumerate(zip(states, numbers.tolist(), strict=True)):
            key = state.tobytes() + bytes([number])
            node = self._index.get(key, NOWHERE)
            if node == NOWHERE and not 0 < self.limit <= count:
                node = self._index[key] = count
                fresh.append(i)
                count += 1
            result[i] = node
        if fresh:
            self._append(np.ascontiguousarray(states[fresh]), numbers[fresh])
        return result

    def find(self, states: States) -> Nodes:
        """The node of each state, ``NOWHERE`` if it is none; of a policy that does not read the decisions left."""
        return np.fromiter(
            (self._index.get(state.tobytes() + b"\0", NOWHERE) for state in states), np.int64, len(states)
        )

    def _append(self, states: States, remaining: Nodes) -> None:
        begin, end = len(self), len(self) + len(states)
        for name, column in self._columns.items():
            if end > len(column):
                larger = np.zeros((max(end, 2 * len(column), 64), *column.shape[1:]), column.dtype)
                larger[:begin] = column[:begin]
                self._columns[name] = larger
            setattr(self, name, self._columns[name][:end])
        self.states[begin:], self.remaining[begin:] = states, remaining
        self.landing[begin:], self.goal[begin:] = NOWHERE, self._puzzle.is_solved(states)

    def expand(self, nodes: Nodes) -> None:
        """Plan at the nodes that have no plan, pieces in turn by rank; every rank calls this with the same ones."""
        missing = np.unique(nodes[~self.planned[nodes] & ~self.goal[nodes]])
        if not len(missing):
            return
        pieces = split_batches(missing, self.team.world, self.piece)
        empty = {name: getattr(self, name)[:0] for name in self._said}
        mine = [self._plan(piece, missing) for piece in rank_batches(pieces, self.team, self.together)]
        gathered = self.team.gather(
            {name: np.concatenate([none, *(each[name] for each in mine)]) for name, none in empty.items()}
        )
        used = [0] * self.team.world
        for i, piece in enumerate(pieces):  # in one order everywhere, since it numbers the nodes
            rank = i % self.team.world
            part = slice(used[rank], used[rank] + len(piece))
            self._connect(piece, {name: values[part] for name, values in gathered[rank].items()})
            used[rank] += len(piece)

    def _plan(self, piece: Nodes, others: Nodes) -> Arrays:
        """The policy's outputs at a piece. An empty one still runs a pass, as ``together`` needs it on every rank."""
        nodes = piece if len(piece) else others[:1]
        if "features" in self._said or "samples" in self._said:
            with threads(self.policy):
                every = self.run_pass(partial(self._plan_with_features, self.states[nodes]))
            return {name: every[name][: len(piece)] for name in self._said}
        remaining = {"remaining": self.remaining[nodes]} if self.budget_conditioned else {}
        ask = partial(self.policy.plan, self._puzzle, self.states[nodes], self.depths, **remaining)
        inputs, logits, plans, probs = self.run_pass(ask)
        if self.keep_inputs and len(piece):
            self._inputs.append((piece, inputs))
        if self.policy.plans_first:
            plans, probs = plans[:, 0], probs[:, 0]
        every = {"logits": logits, "plans": plans, "probs": probs}
        return {name: every[name][: len(piece)] for name in self._said}

    @torch.no_grad()
    def _plan_with_features(self, states: States) -> Arrays:
        """``_plan`` with z and samples, for a policy whose plans do not depend on the depth."""
        policy, task = self.policy, self._puzzle
        z, index = policy.encode(task, states), policy.task_index(task)
        plans, scores = policy.decoder.plans(z, index)
        logits = policy.depth_head(head_inputs(policy, task, states, z, scores))
        count = self.samples.shape[1] if self.samples is not None else 0
        samples = plans.new_zeros((len(states), count, self.plan_length))
        for i in range(count):  # one at a time: a pass is as wide as that of the plans
            noise = to_device(_noise(states, i, self.seed, self.plan_length), z.device)
            samples[:, i] = policy.decoder.plans(z, index, noise=noise)[0]
        mean = z.mean(dim=1) if z.ndim == 3 else z
        names = ("plans", "probs", "logits", "features", "samples")
        arrays = (plans.byte(), scores.float().softmax(-1), logits.float(), mean.float(), samples.byte())
        return dict(zip(names, to_host(*arrays), strict=True))

    def inputs(self) -> tuple[Nodes, NDArray[np.float32]]:
        """The nodes that this rank planned, ascending, and the depth head's inputs there. They are not gathered, since
        they are as wide as the backbone. Needs ``keep_inputs``."""
        empty = np.empty(0, np.int64), np.empty((0, self.policy.depth_head.inputs), np.float32)
        nodes, inputs = (np.concatenate(parts) for parts in zip(empty, *self._inputs, strict=True))
        order = np.argsort(nodes)
        return nodes[order], inputs[order]

    def _connect(self, chosen: Nodes, said: Arrays) -> None:
        many = len(self.depths)
        for name, values in said.items():
            getattr(self, name)[chosen] = values
        plans = said["plans"] if said["plans"].ndim == 3 else np.repeat(said["plans"][:, None], many, axis=1)
        outcome = self._puzzle.execute(
            np.repeat(self.states[chosen], many, axis=0),
            plans.reshape(-1, self.plan_length),
            np.tile(np.array(self.depths, np.int32), len(chosen)),
        )
        numbered = np.arange(len(chosen) * many).reshape(-1, many).ravel("F" if self.depth_major else "C")
        landing = np.empty(len(numbered), np.int64)
        landing[numbered] = self.nodes(outcome.states[numbered], np.repeat(self.remaining[chosen] - 1, many)[numbered])
        self.landing[chosen] = landing.reshape(-1, many)
        self.executed[chosen] = outcome.executed.reshape(-1, many)
        self.planned[chosen] = True

    def finished(self, starts: Nodes, groups: NDArray[np.integer] | None, source: dict[str, Any]) -> CommitmentGraph:
        """The present graph as a ``CommitmentGraph``, with these starts."""
        groups = np.arange(len(starts)) if groups is None else groups
        own = {"starts": starts.astype(np.int32), "groups": groups.astype(np.int32), "source": source}
        return CommitmentGraph(**{**self.arrays(), **own})


def exact_distance(puzzle: Puzzle, states: States) -> NDArray[np.int32]:
    """[N] exact distances; raises if the solver gives up on a state, since this need not be unsolvable."""
    distance = puzzle.distance(states)
    if unknown := int((distance == UNKNOWN).sum()):
        raise ValueError(
            f"states: expected levels with exact distances, got {unknown:,} of {len(distance):,} states where the "
            f"solver ended at its limit of {Limits().bytes >> 30} GiB; leave this level out:\n"
            + format_levels(states[int((distance == UNKNOWN).argmax())][None])
        )
    return distance


def _noise(states: States, sample: int, seed: int, length: int) -> NDArray[np.float32]:
    """[states, length, 4] uniform numbers of one sample of each state. The stream is keyed by the first 64 bits of the
    state's sha256, of which the last ten hold the number of the sample."""
    named = [int.from_bytes(sha256(state.tobytes()).digest()[:8], "big") & ~(MOST_SAMPLES - 1) for state in states]
    stream = rng.streams(seed, rng.Purpose.GRAPH_SAMPLES, np.array(named, np.uint64) ^ np.uint64(sample))
    return rng.uniforms(stream, 4 * length).reshape(-1, length, 4)


def build(
    policy: CommitPolicy,
    task: Puzzle,
    starts: States,
    groups: NDArray[np.integer] | None = None,
    *,
    also: States | None = None,
    budget: int = 0,
    limit: int = LIMIT,
    features: bool = False,
    samples: int = 0,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CommitmentGraph:
    """The graph of a policy from these starts: every state that any choice of depths can reach.

    ``groups`` are the numbers of the starts' rooms; each start is its own group if there are none. ``also`` are further
    states to plan at, where no episode begins. With a ``budget``, plans are only made where they can matter to its
    episodes: in states that fewer commitments lead to, and from which the goal is near enough for the observations left
    then. Where a wave would make more than ``limit`` nodes, the states beyond it are left out, planning ends, and the
    graph is not ``closed``. ``features`` keeps z, the mean over augmented copies. ``samples`` plans are sampled from
    the policy at every observation, besides the greedy one, by the streams of ``seed``. ``progress`` is called with the
    nodes that were done and all nodes so far.
    """
    for what, has in (
        ("decoder.depth_conditioning", policy.config.decoder.depth_conditioning != "none"),
        ("budget_conditioned", policy.config.budget_conditioned),
    ):
        if has:
            raise ValueError(f"policy: expected one whose plan depends on the state alone, got one with {what}")
    if (length := policy.config.plan_length) != PLAN:
        raise ValueError(
            f"policy: expected plans of {PLAN} actions, as a graph in files has, got {length}; recommit train grpo and "
            "evaluate (its oracle-dp too) go through graphs of longer plans in memory"
        )
    if not 0 <= samples <= MOST_SAMPLES:
        raise ValueError(f"samples: expected 0..{MOST_SAMPLES:,}, got {samples:,}")
    if len(starts) > limit:
        raise ValueError(f"limit: expected at least one node per start ({len(starts)}), got {limit}")
    keep: dict[str, Any] = {"keep_probs": True, "features": features, "samples": samples, "seed": seed}
    graph = PolicyGraph(policy, task, ALL_DEPTHS, piece=PIECE, limit=limit, depth_major=True, **keep)
    numbers = graph.nodes(starts)
    if also is not None:
        graph.nodes(also)
    graph.budget, done, remaining, cut = budget, 0, budget, False
    while done < len(graph) and (remaining or not budget) and not cut:
        front = np.arange(done, wave := len(graph))
        if budget:  # a state is first reached with the most observations left
            front, remaining = front[~graph.hopeless(front, remaining)], remaining - 1
        for begin in range(0, len(front), PIECE):
            graph.expand(piece := front[begin : begin + PIECE])
            done = int(piece[-1]) + 1
            if progress is not None:
                progress(done, len(graph))
            if cut := bool((graph.landing[piece[graph.planned[piece]]] == NOWHERE).any()):
                break
        done = wave
    return graph.finished(numbers, groups, source or {})


def build_graph(options: GraphBuildOptions, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """``recommit graph build``: build and write the graph of a run's best policy; returns its manifest."""
    refuse_foreign(options.out, (files.MANIFEST, files.NODES, files.STARTS), "a commitment graph")
    spec = recipe_of(str(options.run), options.task)
    if size := options.size or (_levels(options, spec.task).shapes[0] if options.levels else ()):
        spec = replace(spec, size=(size[0], size[1]))
    puzzle, folder = spec.puzzle(), local_folder(options.run)
    if options.every_state:
        first, groups = puzzle.population()[0], None
    elif options.levels:
        first = puzzle.check(np.stack(list(_levels(options, spec.task))))
        groups = held_out.rooms(spec, first)
    else:
        chosen = held_out.starts(spec, options.split, options.starts, options.length, name="starts")
        first = np.ascontiguousarray(chosen.states)
        groups = held_out.rooms(spec, first)
    policy = CommitPolicy.from_pretrained(folder, device=find_device(options.device), anyway=bool(size)).eval()
    where = options.levels.name if options.levels else options.split
    source = {
        "policy": weights_of(folder),
        "data": spec.to_dict(),
        "starts": "every state" if options.every_state else f"{len(first)} of {where}",
        "set": held_out.name(first),
        "augmentations": policy.vision.augmentations(puzzle, puzzle.shape),
        **({"samples": options.samples, "seed": 0} if options.samples else {}),
    }
    with torch_settings(options.threads, inference=True):
        graph = build(
            policy,
            puzzle,
            first,
            groups,
            also=ways(puzzle, first) if options.ways and not options.every_state else None,
            budget=options.budget,
            limit=options.limit,
            features=options.features,
            source=source,
            samples=options.samples,
            progress=progress,
        )
    return files.write(graph, options.out)


def _levels(options: GraphBuildOptions, task: str) -> Levels:
    """The first ``starts`` levels of the file, checked for puzzle and size."""
    assert options.levels is not None
    levels = read_levels(options.levels)[: options.starts]
    if levels.task != task or len(set(levels.shapes)) != 1:
        sizes = ", ".join(sorted({f"{rows}x{cols}" for rows, cols in levels.shapes}))
        raise ValueError(f"levels: expected {task} levels of one size, got {levels.task} of {sizes or 'none'}")
    return levels
