"""Hazards: after each depth the head says whether to stop there, and every look has a price of its own.

Source: options with a deliberation cost (Harb, Bacon, Klissarov and Precup, When Waiting Is Not an Option, AAAI 2018):
termination beta after every step, its gradient by the advantage of going on, to which a cost per switch is added.
Ours: the options are prefixes of one frozen plan, so beta_i is a number per depth, from the look at which the plan was
made; P(h) = beta_h * product over i < h of (1 - beta_i), and the last depth stops surely. The credit is exact instead
of a critic's, and the cost is an additional price of a look, paid while learning only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from recommit.graph.prices import Prices
from recommit.train.baselines.methods.exact import Climber, ExactConfig
from recommit.train.baselines.network import Net

if TYPE_CHECKING:
    from torch import Tensor

    from recommit.train.baselines.problem import HeadProblem


@dataclass(frozen=True)
class HazardConfig(ExactConfig):
    """Values of a head of hazards."""

    #: A look costs so much more while learning.
    deliberation: float = 0.0


class HazardLearner:
    """All starts at once, every update."""

    reading = "hazard"

    def __init__(self, problem: HeadProblem, config: HazardConfig, seed: int) -> None:
        prices, count = (
            Prices(problem.prices.action, problem.prices.observation + config.deliberation),
            len(problem.depths),
        )
        self.net = Net(problem, count - 1, config.hidden, seed)
        with torch.no_grad():  # all depths alike at first
            self.net.weights["offset"].copy_(-torch.arange(count - 1, 0, -1).log())
        self._climber = Climber(problem.over(prices=prices), self.net, log_chances, config, seed)

    def update(self, number: int) -> None:
        """One program, and the steps on it."""
        self._climber.climb(number)


def log_chances(hazards: Tensor) -> Tensor:
    """[N, depths] logarithms of the probabilities of depths from logits [N, depths - 1] of stopping."""
    stop, on = F.logsigmoid(hazards), F.logsigmoid(-hazards)
    none = hazards.new_zeros(len(hazards), 1)
    return torch.cat([stop, none], dim=1) + torch.cat([none, on.cumsum(dim=1)], dim=1)
