"""Two heads that ask after every prefix whether to stop there. Both learn from what the graph says exactly, so that no
episode is played; the networks read what every head here reads.

hazard      Source: options with a deliberation cost (Harb, Bacon, Klissarov and Precup, When Waiting Is Not an Option,
            AAAI 2018): termination beta after every step, its gradient by the advantage of going on, to which a cost
            per switch is added. Ours: the options are prefixes of one frozen plan, so beta_i is a number per depth,
            from the observation at which the plan was made; P(h) = beta_h * product over i < h of (1 - beta_i), and
            the last depth stops surely. The advantage is exact instead of a critic's, and the cost is an additional
            price of an observation, paid while learning only.
verifier    Source: progress triggers (RDM's predictions of what an action comes to, AdaReP). Ours: the labels are
            exact distances after all prefixes of all plans. Depth h is reached as long as every further depth lowers
            the predicted distance by at least ``threshold`` per action; the threshold is chosen on starts that were
            held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.prices import Prices
from recommit.train.heads.exact import ExactConfig, ExactLearner
from recommit.train.heads.fitted import UNIT
from recommit.train.heads.network import HeadLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HazardConfig(ExactConfig):
    """Values of a head of hazards."""

    #: An observation costs so much more while learning.
    deliberation: float = 0.0


class HazardLearner(ExactLearner):
    """All starts at once, every update."""

    reading, more_outputs = "hazard", -1

    def __init__(self, problem: HeadProblem, config: HazardConfig, seed: int) -> None:
        prices = Prices(problem.prices.action, problem.prices.observation + config.deliberation)
        super().__init__(problem.over(prices=prices), config, seed)
        with torch.no_grad():  # all depths alike at first
            self.net.weights["offset"].copy_(-torch.arange(len(problem.depths) - 1, 0, -1).log())

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Logarithms of the depths' probabilities, from logits [N, depths - 1] of stopping."""
        stop, on = F.logsigmoid(outputs), F.logsigmoid(-outputs)
        none = outputs.new_zeros(len(outputs), 1)
        return torch.cat([stop, none], dim=1) + torch.cat([none, on.cumsum(dim=1)], dim=1)


@dataclass(frozen=True)
class VerifierConfig:
    """Values of distances after prefixes."""

    lr: float = 3e-3
    hidden: int = 64
    #: States per step, steps per update.
    batch: int = 1024
    steps: int = 32
    #: What a state from which nobody can reach the goal counts as, beyond the longest distance.
    lost: float = 16.0


class VerifierLearner(HeadLearner):
    """States drawn evenly from all that the starts can lead to."""

    reading, more_outputs = "progress", 1

    def __init__(self, problem: HeadProblem, config: VerifierConfig, seed: int) -> None:
        super().__init__(problem, config, seed)
        self._labels = torch.from_numpy(labels(problem, config.lost) / UNIT).float()

    def update(self, number: int) -> None:
        """Some steps of regression."""
        streams = rng.streams(self.seed, rng.Purpose.SAMPLE, np.arange(self.config.batch))
        for step in range(self.config.steps):
            rows = rng.below(rng.draw(streams, number * self.config.steps + step), len(self.problem.rows))
            wanted = self._labels[torch.from_numpy(rows)]
            self.maximize(-F.smooth_l1_loss(self.net(self.problem.rows[rows]), wanted))


def labels(problem: HeadProblem, lost: float) -> Floats:
    """[rows, 1 + depths] exact distances here and after each depth; where there is none, the longest and ``lost``."""
    distance = problem.graph.distance.astype(np.float64)
    distance = np.where(distance < 0, distance.max(initial=0) + lost, distance)
    return np.concatenate([distance[problem.rows, None], distance[problem.landing]], axis=1)
