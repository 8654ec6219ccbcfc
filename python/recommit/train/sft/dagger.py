"""On-policy states for imitation (DAgger: Ross, Gordon and Bagnell, 2011).

Expert paths never contain the consequences of a mistake. So a share of every step's states may come from episodes of
the policy in training: each takes one commitment per step, sampled from depth head and decoder, and the solver labels
the state it leads to. An episode ends when it is solved, dead, outside the training states, or at its budget; the next
one then starts from the state of the data in its place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit import rng
from recommit.data.assignment import learnable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.policy.policy import CommitPolicy
    from recommit.train.engine.base import Engine
    from recommit.train.sft.targets import Targets


class Episodes:
    """The running episodes of one data set on one rank, one in each of the first ``places`` rows of its batches."""

    def __init__(self, spec: DataSpec, places: int, budget: int, threads: int = 1) -> None:
        self.spec, self.task, self.budget, self.threads = spec, spec.puzzle(), budget, threads
        self.states = np.zeros((places, *spec.size), np.uint8)
        #: Commitments so far; 0: no running episode.
        self.age = np.zeros(places, np.int64)

    def among(
        self, states: NDArray[np.uint8], distance: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """A batch's states with those of running episodes in their places, and the distances to the goal."""
        places = np.flatnonzero(self.age[: len(states)])
        own = np.ascontiguousarray(self.states[places])
        found = self.task.distance(own, threads=self.threads) if len(places) else places
        # Not dead, nor beyond the solver's limits.
        goes_on = (found > 0) & learnable(self.spec, own)
        self.age[places[~goes_on]] = 0
        states, distance, shown = states.copy(), distance.copy(), places[goes_on]
        states[shown], distance[shown] = self.states[shown], found[goes_on]
        return states, distance

    @torch.no_grad()
    def follow(self, policy: CommitPolicy, engine: Engine, batch: Targets, stream: NDArray[np.uint64]) -> None:
        """Execute one sampled commitment per episode, from the batch's state in its place; ``stream`` has one random
        stream per place."""
        shown = max(min(len(self.age), len(batch)), 1)  # every rank runs a pass
        count = max(len(self.age), shown) if engine.equal_passes else shown  # of equal size on all ranks
        states, stream = batch.states[np.arange(count) % shown], stream[:count]
        depths, length = len(policy.config.depths), policy.config.plan_length
        noise = rng.uniforms(stream, depths + 4 * length)
        each = noise[:, :depths], noise[:, depths:].reshape(-1, length, 4)
        remaining = np.maximum(self.budget - self.age[:count], 1)
        training = policy.training
        policy.eval()
        try:
            acted = engine.run(partial(policy.act, self.task, states, noise=each, remaining=remaining))
        finally:
            policy.train(training)
        done = self.task.execute(states[:shown], acted.plans[:shown], acted.depths[:shown], threads=1)
        age = self.age[:shown] + 1
        self.states[:shown] = done.states
        self.age[:shown] = np.where(done.solved | (age >= self.budget) | (batch.distance[:shown] <= 0), 0, age)

    def state_dict(self) -> dict[str, Any]:
        """The episodes as JSON values."""
        return {"shape": list(self.states.shape), "states": self.states.tobytes().hex(), "age": self.age.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the episodes; with another number of ranks each rank starts without any."""
        if state["shape"] != list(self.states.shape):
            return
        age = np.array(state["age"], np.int64)
        if age.shape != self.age.shape or (age < 0).any() or (age >= self.budget).any():
            raise ValueError(f"age: expected {len(self.age)} numbers below {self.budget}, got others")
        states = np.frombuffer(bytes.fromhex(state["states"]), np.uint8).reshape(self.states.shape).copy()
        self.task.is_solved(states[age > 0], threads=1)  # refuses invalid cells
        self.states, self.age = states, age
