"""Q over depths: a number per depth, learned by temporal differences with targets for all prefixes of every plan.

Source: TempoRL (Biedenkapp et al., ICML 2021), whose skips learn from all sub-skips of what was executed, and adaptive
chunks by Q (ACH, ACSAC); the machinery is DQN's (Mnih et al., 2015): replay, a target net, the Huber loss, epsilon.

    y(s, h) = 1 for the goal, else gamma^n * max over h' of Q_target(s_h, h'), less the price of the commitment

Ours: plans are frozen and their prefixes deterministic, so that a state in the replay yields targets for all depths,
executed or not; the net and inputs are the head's. It is told nothing of the observations left, hence gamma.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.train.baselines import rollouts
from recommit.train.heads.network import HeadLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]


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
        self._play(number)
        config = self.config
        words = rng.streams(self.seed, rng.Purpose.SAMPLE, np.arange(config.batch))
        picks = [
            self._replay[rng.below(rng.draw(words, number * config.steps + step), len(self._replay))]
            for step in range(config.steps)
        ]
        target = dict(zip(*self._targets(np.unique(np.concatenate(picks))), strict=True))
        for nodes in picks:
            wanted = torch.from_numpy(np.stack([target[node] for node in nodes.tolist()])).float()
            self.maximize(-F.smooth_l1_loss(self.net(nodes), wanted))

    def _targets(self, nodes: Nodes) -> tuple[list[int], Floats]:
        rows = np.searchsorted(self.problem.rows, nodes)
        states, later = np.unique(self.problem.landing[rows]), np.zeros(len(self.problem.graph))
        later[states] = self.net.numbers(states).max(axis=1)
        return nodes.tolist(), prefix_targets(self.problem, rows, later, self.config.gamma)

    def _play(self, number: int) -> None:
        config, first = self.config, number * self.config.episodes
        high, low = config.epsilon
        epsilon = max(low, high - (high - low) * number / config.decay)

        def probs(nodes: Nodes) -> Floats:
            best, many = self.net.numbers(nodes).argmax(axis=1), len(self.problem.depths)
            result: Floats = np.full((len(nodes), many), epsilon / many)
            result[np.arange(len(nodes)), best] += 1 - epsilon
            return result

        batch = rollouts.sample_batch(self.problem, config.episodes, first, probs, self.seed)
        self._replay = np.concatenate([self._replay, batch.node[batch.alive]])[-config.replay :]


def prefix_targets(problem: HeadProblem, rows: Nodes, later: Floats, gamma: float) -> Floats:
    """[rows, depths] y of some of the problem's rows, where nodes have the value ``later`` [N] if they are no goals."""
    landing = problem.landing[rows]
    discount = gamma ** problem.graph.executed[problem.rows[rows]].astype(np.float64)
    onward = np.where(problem.graph.goal[landing], 1.0, discount * later[landing])
    result: Floats = onward - problem.cost[rows]
    return result
