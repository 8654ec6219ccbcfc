"""Two heads that learn values from sampled episodes on frozen plans: PPO with a value head, and Q over depths. Neither
is told how many observations are left, hence gamma. In both the network and inputs are those of every head here, prices
are rewards, and draws are counter-based; an episode that runs out of observations ends with value 0, as it is scored.

ppo     Source: the field's usual way to learn the length of a chunk (dynamic execution horizons, DEHP), with PPO
        (Schulman et al., 2017) and GAE (2015). A decision takes n actions, so it is discounted by gamma to the n:

            delta_t = r_t + gamma^n_t V(s_{t+1}) - V(s_t),   A_t = delta_t + gamma^n_t lambda A_{t+1},   V(end) = 0

q       Source: TempoRL (Biedenkapp et al., ICML 2021), whose skips learn from all sub-skips of what was executed, and
        adaptive chunks by Q (ACH, ACSAC); the machinery is DQN's (Mnih et al., 2015): replay, a target net, the Huber
        loss, epsilon.

            y(s, h) = 1 for the goal, else gamma^n * max over h' of Q_target(s_h, h'), less the price of the commitment

        Ours: prefixes of frozen plans are deterministic, so that a state in the replay yields targets for all depths,
        executed or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

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

#: Decisions per step of PPO's optimizer.
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
        config = self.config
        batch = rollouts.sample_batch(
            self.problem, config.episodes, number * config.episodes, self.net.probs, self.seed
        )
        alive, value = batch.alive, np.zeros(batch.node.shape)
        value[alive] = self._critic.numbers(batch.node[alive])[:, 0]
        every = advantages(batch, value, config.gamma, config.gae_lambda)
        node, column, advantage = batch.node[alive], torch.from_numpy(batch.column[alive])[:, None], every[alive]
        target = torch.from_numpy((every + value)[alive]).float()
        scaled = torch.from_numpy((advantage - advantage.mean()) / (advantage.std() + 1e-8)).float()
        with torch.no_grad():
            old = self.net(node).log_softmax(-1).gather(1, column)[:, 0]
        streams = rng.streams(self.seed, rng.Purpose.ORDER, np.arange(len(node)))
        for epoch in range(config.epochs):
            order = np.argsort(rng.draw(streams, number * config.epochs + epoch), kind="stable")
            for begin in range(0, len(node), PIECE):
                piece = order[begin : begin + PIECE]
                logs = self.net(node[piece]).log_softmax(-1)
                change = logs.gather(1, column[piece])[:, 0] - old[piece]
                missed = (self._critic(node[piece])[:, 0] - target[piece]).square().mean()
                spread = -(logs.exp() * logs).sum(-1).mean()
                gain = clipped(change, scaled[piece], config.clip).mean()
                self.maximize(gain + config.entropy * spread - 0.5 * missed)


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


@dataclass(frozen=True)
class QConfig:
    """Values of Q over depths."""

    lr: float = 1e-3
    hidden: int = 64
    gamma: float = 0.99
    #: Share of depths that are drawn evenly, at first and after ``decay`` updates.
    epsilon: tuple[float, float] = (0.3, 0.05)
    decay: int = 50
    episodes: int = 128
    #: States remembered, states per step, steps per update; then the target net becomes the net.
    replay: int = 50_000
    batch: int = 1024
    steps: int = 32


class QLearner(HeadLearner):
    """A batch of episodes, then steps on states drawn from all that were visited."""

    def __init__(self, problem: HeadProblem, config: QConfig, seed: int) -> None:
        super().__init__(problem, config, seed)
        self._replay: Nodes = np.zeros(0, np.int64)

    def update(self, number: int) -> None:
        """Play, and learn from what was visited."""
        config, (high, low) = self.config, self.config.epsilon
        epsilon = max(low, high - (high - low) * number / config.decay)

        def probs(nodes: Nodes) -> Floats:
            best, many = self.net.numbers(nodes).argmax(axis=1), len(self.problem.depths)
            result: Floats = np.full((len(nodes), many), epsilon / many)
            result[np.arange(len(nodes)), best] += 1 - epsilon
            return result

        batch = rollouts.sample_batch(self.problem, config.episodes, number * config.episodes, probs, self.seed)
        self._replay = np.concatenate([self._replay, batch.node[batch.alive]])[-config.replay :]
        words = rng.streams(self.seed, rng.Purpose.SAMPLE, np.arange(config.batch))
        picks = [
            self._replay[rng.below(rng.draw(words, number * config.steps + step), len(self._replay))]
            for step in range(config.steps)
        ]
        some, where = np.unique(np.concatenate(picks), return_inverse=True)
        rows = np.searchsorted(self.problem.rows, some)
        states, later = np.unique(self.problem.landing[rows]), np.zeros(len(self.problem.graph))
        later[states] = self.net.numbers(states).max(axis=1)
        targets = prefix_targets(self.problem, rows, later, config.gamma)[where].reshape(len(picks), config.batch, -1)
        for nodes, wanted in zip(picks, torch.from_numpy(targets).float(), strict=True):
            self.maximize(-F.smooth_l1_loss(self.net(nodes), wanted))


def prefix_targets(problem: HeadProblem, rows: Nodes, later: Floats, gamma: float) -> Floats:
    """[rows, depths] y of some of the problem's rows, where nodes have the value ``later`` [N] if they are no goals."""
    landing = problem.landing[rows]
    discount = gamma ** problem.graph.executed[problem.rows[rows]].astype(np.float64)
    onward = np.where(problem.graph.goal[landing], 1.0, discount * later[landing])
    result: Floats = onward - problem.cost[rows]
    return result
