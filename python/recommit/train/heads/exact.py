"""Exact advantages: the head follows the gradient of its expected return, by exact policy evaluation on the graph.

Source: ours (``recommit.train.grpo``). Here every state has a plan, so nothing is estimated by distance. Advantages are
scaled to a mean square of 1 over the visits, as ``advantage.scale: batch`` does. One evaluation serves several steps of
the network, each on states that are drawn by their visits, as ``rollout.states`` thins them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit import rng
from recommit.train.heads.network import HeadLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExactConfig:
    """Values of a head by exact advantages."""

    lr: float = 3e-3
    hidden: int = 64
    entropy: float = 0.003
    #: States per step; steps per evaluation.
    states: int = 2048
    steps: int = 12


class ExactLearner(HeadLearner):
    """All starts at once, every update."""

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Logarithms of the depths' probabilities, of what the network gives."""
        return outputs.log_softmax(-1)

    def update(self, number: int) -> None:
        """One evaluation, and the steps on it."""
        problem, config = self.problem, self.config
        with torch.no_grad():
            probs = self.log_probs(self.net(problem.rows)).double().exp().numpy()
        share, advantage = scaled_advantages(problem, probs)
        edges = np.cumsum(share)
        for step in range(config.steps):
            picks = drawn(edges, self.seed, number * config.steps + step, config.states)
            logs = self.log_probs(self.net(problem.rows[picks]))
            gain = (logs.exp() * torch.from_numpy(advantage[picks]).to(logs)).sum(-1)
            self.maximize((gain - config.entropy * (logs.exp() * logs).sum(-1)).mean())


def drawn(edges: Floats, seed: int, number: int, count: int) -> NDArray[np.int64]:
    """So many places by their shares, which ``edges`` are the running sums of."""
    uniform = rng.uniform(rng.streams(seed, rng.Purpose.ORDER, np.arange(count)), number)
    result: NDArray[np.int64] = np.searchsorted(edges, uniform * edges[-1], side="right").clip(max=len(edges) - 1)
    return result


def scaled_advantages(problem: HeadProblem, probs: Floats) -> tuple[Floats, Floats]:
    """Shares of all visits [rows], and Q - V [rows, depths] averaged over the observations left, with a mean square
    of 1."""
    advantage, visits = problem.advantages(probs)
    share = visits / visits.sum()
    scale = np.sqrt((share[:, None] * probs * advantage**2).sum())
    return share, advantage / max(float(scale), 1e-9)
