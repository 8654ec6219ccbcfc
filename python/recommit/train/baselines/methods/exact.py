"""Exact credit: the head climbs the gradient of its expected value, worked out by a dynamic program over the graph.

Source: ours (``recommit.train.grpo``). Here every state has been looked at, so nothing is estimated by distance.
Advantages are scaled to a mean square of 1 over the visits, as ``credit.scale: batch`` does. One program serves several
steps of the net, each on states that are drawn by their visits, as ``rollout.states`` thins them; or one on all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit import rng
from recommit.train.baselines.network import Net, climb

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.baselines.problem import HeadProblem

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExactConfig:
    """Values of a head with exact credit."""

    lr: float = 3e-3
    hidden: int = 64
    entropy: float = 0.003
    #: States per step, 0 for all of them in one; steps per program.
    states: int = 2048
    steps: int = 12


class ExactLearner:
    """All starts at once, every update."""

    reading = "argmax"

    def __init__(self, problem: HeadProblem, config: ExactConfig, seed: int) -> None:
        self.net = Net(problem, len(problem.depths), config.hidden, seed)
        self._climber = Climber(problem, self.net, lambda outputs: outputs.log_softmax(-1), config, seed)

    def update(self, number: int) -> None:
        """One program, and the steps on it."""
        self._climber.climb(number)


class Climber:
    """Moves a net by exact credit; ``logs`` makes logarithms of probabilities of what the net gives."""

    def __init__(
        self, problem: HeadProblem, net: Net, logs: Callable[[Tensor], Tensor], config: ExactConfig, seed: int
    ) -> None:
        self._problem, self._net, self._logs, self._config, self._seed = problem, net, logs, config, seed
        self._optimizer = torch.optim.Adam(net.parameters, lr=config.lr)

    def climb(self, number: int) -> None:
        """The update of this number."""
        problem, config = self._problem, self._config
        if not config.states:
            climb(self._net, self._optimizer, gain(problem, self._logs(self._net(problem.rows)), config.entropy))
            return
        with torch.no_grad():
            probs = self._logs(self._net(problem.rows)).double().exp().numpy()
        share, advantage = advantages(problem, probs)
        edges = np.cumsum(share)
        for step in range(config.steps):
            picks = self._drawn(edges, number * config.steps + step)
            logs = self._logs(self._net(problem.rows[picks]))
            worth = (logs.exp() * torch.from_numpy(advantage[picks]).to(logs)).sum(-1)
            climb(self._net, self._optimizer, (worth - config.entropy * (logs.exp() * logs).sum(-1)).mean())

    def _drawn(self, edges: Floats, step: int) -> NDArray[np.int64]:
        """Rows by their visits."""
        uniform = rng.uniform(rng.streams(self._seed, rng.Purpose.ORDER, np.arange(self._config.states)), step)
        result: NDArray[np.int64] = np.searchsorted(edges, uniform * edges[-1], side="right").clip(max=len(edges) - 1)
        return result


def advantages(problem: HeadProblem, probs: Floats) -> tuple[Floats, Floats]:
    """Shares of all visits [rows], and Q - V [rows, depths] averaged over the looks left, with a mean square of 1."""
    gradient, visits = problem.gradient_and_visits(probs)
    share = visits / visits.sum()
    advantage = gradient / np.maximum(visits[:, None] * probs, 1e-300)
    scale = np.sqrt((share[:, None] * probs * advantage**2).sum())
    return share, advantage / max(float(scale), 1e-9)


def gain(problem: HeadProblem, logs: Tensor, entropy: float) -> Tensor:
    """What has the gradient of the expected value, scaled, and of so much entropy, by logarithms [rows, depths] of
    probabilities."""
    probs = logs.detach().double().exp().numpy()
    share, advantage = advantages(problem, probs)
    credit = torch.from_numpy(share[:, None] * probs * advantage).to(logs)
    spread = -(torch.from_numpy(share).to(logs)[:, None] * logs.exp() * logs).sum()
    return (credit * logs).sum() + entropy * spread
