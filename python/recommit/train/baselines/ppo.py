"""PPO on frozen plans: the head by sampled episodes, a value head beside it, and generalised advantages.

Source: the field's usual way to learn the length of a chunk (dynamic execution horizons, DEHP), with PPO (Schulman et
al., 2017) and GAE (2015). A decision takes n actions, so it is discounted by gamma to the n:

    delta_t = r_t + gamma^n_t V(s_{t+1}) - V(s_t),   A_t = delta_t + gamma^n_t lambda A_{t+1},   V(end) = 0

Ours: the head's net and inputs, prices as rewards, and counter-based draws. An episode that runs out of observations
ends with value 0, as it is scored; neither head is told how many are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit import rng
from recommit.train.baselines import rollouts
from recommit.train.heads.network import HeadLearner, Net

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.baselines.rollouts import Rollouts
    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Decisions per step of the optimizer.
PIECE = 1024


@dataclass(frozen=True)
class PpoConfig:
    """Values of a head by PPO."""

    lr: float = 1e-3
    hidden: int = 64
    entropy: float = 0.01
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    episodes: int = 512
    epochs: int = 4


class PpoLearner(HeadLearner):
    """A batch of episodes, then several passes over its decisions."""

    def __init__(self, problem: HeadProblem, config: PpoConfig, seed: int) -> None:
        super().__init__(problem, config, seed)
        self._critic = Net(problem, 1, config.hidden, rng.derived_seed(seed, rng.Purpose.WEIGHTS, 1))
        self.optimizer.add_param_group({"params": self._critic.parameters})

    def update(self, number: int) -> None:
        """Play and learn from what was played."""
        config, first = self.config, number * self.config.episodes
        batch = rollouts.sample_batch(self.problem, config.episodes, first, self.net.probs, self.seed)
        value = self._values(batch)
        advantage = advantages(batch, value, config.gamma, config.gae_lambda)
        alive = batch.alive
        node, column, target = batch.node[alive], batch.column[alive], (advantage + value)[alive]
        scaled = advantage[alive]
        scaled = (scaled - scaled.mean()) / (scaled.std() + 1e-8)
        with torch.no_grad():
            old = self._log(node, column)
        for epoch in range(config.epochs):
            for piece in self._pieces(len(node), number * config.epochs + epoch):
                self.maximize(
                    self._objective(
                        node[piece], column[piece], scaled[piece], target[piece], old[torch.from_numpy(piece)]
                    )
                )

    def _values(self, batch: Rollouts) -> Floats:
        result = np.zeros(batch.node.shape)
        result[batch.alive] = self._critic.numbers(batch.node[batch.alive])[:, 0]
        return result

    def _log(self, node: Nodes, column: Nodes) -> Tensor:
        return self.net(node).log_softmax(-1).gather(1, torch.from_numpy(column)[:, None])[:, 0]

    def _pieces(self, many: int, epoch: int) -> list[Nodes]:
        words = rng.draw(rng.streams(self.seed, rng.Purpose.ORDER, np.arange(many)), epoch)
        order = np.argsort(words, kind="stable")
        return [order[i : i + PIECE] for i in range(0, many, PIECE)]

    def _objective(self, node: Nodes, column: Nodes, advantage: Floats, target: Floats, old: Tensor) -> Tensor:
        logs = self.net(node).log_softmax(-1)
        own = logs.gather(1, torch.from_numpy(column)[:, None])[:, 0]
        surrogate = clipped(own - old, torch.from_numpy(advantage).float(), self.config.clip).mean()
        missed = (self._critic(node)[:, 0] - torch.from_numpy(target).float()).square().mean()
        return surrogate + self.config.entropy * -(logs.exp() * logs).sum(-1).mean() - 0.5 * missed


def clipped(change: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """PPO's surrogate from the change of the logarithm of a probability."""
    ratio = change.exp()
    return torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def advantages(batch: Rollouts, value: Floats, gamma: float, gae_lambda: float) -> Floats:
    """[turns, episodes] A, backwards, from values of the states where decisions are made; an end has value 0."""
    result, running = np.zeros_like(value), np.zeros(value.shape[1])
    later = np.zeros_like(value)
    later[:-1] = np.where(batch.alive[1:], value[1:], 0.0)
    discount = gamma ** batch.executed.astype(np.float64)
    for turn in range(len(value) - 1, -1, -1):
        delta = batch.reward[turn] + discount[turn] * later[turn] - value[turn]
        running = np.where(batch.alive[turn], delta + discount[turn] * gae_lambda * running, 0.0)
        result[turn] = running
    return result
