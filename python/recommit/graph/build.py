"""A policy's commitment graph: every state that any choice of depths can reach, looked at once.

States are looked at in waves: first the starts, then where the prefixes of their plans lead, and so on until nothing is
new. Nodes stand in the order of their waves, so that the same policy gives the same graph. A wave is divided into
pieces of one size, since on some devices the states that are looked at together decide the last bits.

Samples are drawn by a counter that is named by the state: they depend on the policy, the state and the seed alone, so
that two graphs of one policy agree where they meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit import rng
from recommit.graph.graph import NEVER, NOWHERE, PLAN, CommitmentGraph
from recommit.policy.augmentations import plan_agreement
from recommit.policy.tensors import to_device, to_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

#: States per pass of the policy.
PIECE = 128
#: Nodes of a graph at most, where nobody says another number.
LIMIT = 4_000_000
#: Samples of a look at most, in a stream of random numbers of their own each.
MOST_SAMPLES = 1024


@dataclass(frozen=True)
class _Keeps:
    """What is kept of a look besides plan and logits."""

    features: bool
    samples: int
    seed: int

    def noise(self, states: NDArray[np.uint8], sample: int) -> NDArray[np.float32]:
        """[states, 8, 4] uniform numbers of one sample of each state."""
        named = np.array([_number(state) for state in states], np.uint64)
        stream = rng.streams(self.seed, rng.Purpose.GRAPH_SAMPLES, named ^ np.uint64(sample))
        return rng.uniforms(stream, 4 * PLAN).reshape(-1, PLAN, 4)


def _number(state: NDArray[np.uint8]) -> int:
    """The first 64 bits of the sha256 of a state, the last ten of them left to the number of the sample."""
    return int.from_bytes(sha256(state.tobytes()).digest()[:8], "big") & ~(MOST_SAMPLES - 1)


class _Nodes:
    """Distinct states by number, in the order in which they came, at most ``limit``."""

    def __init__(self, shape: tuple[int, int], limit: int) -> None:
        self._shape, self._limit = shape, limit
        self._number: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._number)

    def add(self, states: NDArray[np.uint8]) -> NDArray[np.int32]:
        """The number of each state, new ones by the next numbers; ``NOWHERE`` for a new one beyond the limit."""
        numbers = np.empty(len(states), np.int32)
        for i, key in enumerate(state.tobytes() for state in states):
            number = self._number.get(key, NOWHERE)
            if number == NOWHERE and len(self._number) < self._limit:
                number = self._number[key] = len(self._number)
            numbers[i] = number
        return numbers

    def states(self, first: int = 0) -> NDArray[np.uint8]:
        """Those from the ``first`` number on."""
        keys = b"".join(islice(self._number, first, None))
        return np.frombuffer(bytearray(keys), np.uint8).reshape(-1, *self._shape)


def every_state(task: Puzzle) -> NDArray[np.uint8]:
    """All states that are not solved and can be; only of puzzles whose states can be listed."""
    return task.population()[0]


def build(
    policy: CommitPolicy,
    task: Puzzle,
    starts: NDArray[np.uint8],
    groups: NDArray[np.integer] | None = None,
    *,
    also: NDArray[np.uint8] | None = None,
    limit: int = LIMIT,
    features: bool = False,
    samples: int = 0,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CommitmentGraph:
    """The graph of a policy from these starts.

    ``groups`` are the numbers of the starts' rooms; each start is its own group if there are none. ``also``
    are states to look at besides, where no episode begins. Where a wave would
    make more than ``limit`` nodes, the states beyond it are left out, and the graph is not ``closed``. ``features``
    keeps what the depth head reads of a look: z, of several views their mean and how far they agree. ``samples`` plans
    are drawn from the policy at every look, besides the greedy one, by the streams of ``seed``. ``progress`` is called
    with the nodes that were looked at and all nodes so far.
    """
    if policy.config.decoder.depth_conditioning != "none" or policy.config.budget_conditioned:
        what = "decoder.depth_conditioning" if policy.config.decoder.depth_conditioning != "none" else "looks left"
        raise ValueError(f"policy: expected one whose plan depends on the state alone, got one with {what}")
    if not 0 <= samples <= MOST_SAMPLES:
        raise ValueError(f"samples: expected 0..{MOST_SAMPLES:,}, got {samples:,}")
    if len(starts) > limit:
        raise ValueError(f"limit: expected at least one node per start ({len(starts)}), got {limit}")
    nodes, keeps = _Nodes((starts.shape[1], starts.shape[2]), limit), _Keeps(features, samples, seed)
    numbers = nodes.add(starts)
    if also is not None:
        nodes.add(also)
    looks = []
    looked = 0
    while looked < len(nodes):
        wave = nodes.states(looked)
        for begin in range(0, len(wave), PIECE):
            looks.append(_look(policy, task, wave[begin : begin + PIECE], nodes, keeps))
            looked += len(looks[-1][0])
            if progress is not None:
                progress(looked, len(nodes))
    plans, probabilities, logits, z, apart, drawn, landing, stop = map(np.concatenate, zip(*looks, strict=True))
    states = nodes.states()
    return CommitmentGraph(
        task=task.task,
        depths=policy.config.depths,
        states=states,
        distance=task.distance(states),
        looked=~task.is_solved(states),
        plans=plans,
        probabilities=probabilities,
        logits=logits,
        landing=landing,
        stop=stop,
        starts=numbers,
        groups=np.arange(len(starts), dtype=np.int32) if groups is None else groups.astype(np.int32),
        source=source or {},
        features=z if features else None,
        disagreement=apart if apart.shape[1] else None,
        samples=drawn if samples else None,
    )


def _look(
    policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8], nodes: _Nodes, keeps: _Keeps
) -> tuple[NDArray[Any], ...]:
    """What ``_plan`` says of a piece, landings and stops; goals are looked at beside the others, and forgotten."""
    look = _plan(policy, task, states, keeps)
    open_, plans = ~task.is_solved(states), look[0]
    for column in look:
        column[~open_] = 0
    here, stop = states, np.full(len(states), NEVER, np.uint8)
    landing = np.full((len(states), PLAN), NOWHERE, np.int32)
    for place in range(PLAN):
        after = task.step(here, np.ascontiguousarray(plans[:, place]))
        here = np.where((stop == NEVER)[:, None, None], after, here)
        stop[open_ & (stop == NEVER) & task.is_solved(here)] = place + 1
        landing[open_, place] = nodes.add(here[open_])
    return *look, landing, stop


def _plan(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8], keeps: _Keeps) -> list[NDArray[Any]]:
    """Plans, probabilities, logits; of features z and how far views agree, else columns of no numbers; samples."""
    with torch.no_grad():
        z, index = policy.look(task, states), policy.task_index(task)
        plans, scores = policy.decoder.plans(z, index)
        logits = policy.depth_head(policy.read(z, index, scores, cells=policy.vision.kinds(task, states)))
        samples = plans.new_zeros((len(states), keeps.samples, PLAN))
        for i in range(keeps.samples):  # one at a time: a pass is as wide as that of the plans
            noise = to_device(keeps.noise(states, i), z.device)
            samples[:, i] = policy.decoder.plans(z, index, noise=noise)[0]
        mean = z.mean(dim=1) if z.ndim == 3 else z
        apart = plan_agreement(policy.decoder, z, index, scores) if keeps.features and z.ndim == 3 else mean[:, :0]
    read = (mean if keeps.features else mean[:, :0]).float()
    chances = scores.float().softmax(-1)
    return to_host(plans.byte(), chances, logits.float(), read, apart.float(), samples.byte())
