"""Hazards: after each depth the head says whether to stop there, and every observation has a price of its own.

Source: options with a deliberation cost (Harb, Bacon, Klissarov and Precup, When Waiting Is Not an Option, AAAI 2018):
termination beta after every step, its gradient by the advantage of going on, to which a cost per switch is added.
Ours: the options are prefixes of one frozen plan, so beta_i is a number per depth, from the observation at which the
plan was made; P(h) = beta_h * product over i < h of (1 - beta_i), and the last depth stops surely. The advantage is
exact instead of a critic's, and the cost is an additional price of an observation, paid while learning only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from recommit.prices import Prices
from recommit.train.heads.exact import ExactConfig, ExactLearner
from recommit.train.heads.network import Net

if TYPE_CHECKING:
    from torch import Tensor

    from recommit.train.heads.problem import HeadProblem


@dataclass(frozen=True)
class HazardConfig(ExactConfig):
    """Values of a head of hazards."""

    #: An observation costs so much more while learning.
    deliberation: float = 0.0


class HazardLearner(ExactLearner):
    """All starts at once, every update."""

    reading = "hazard"

    def __init__(self, problem: HeadProblem, config: HazardConfig, seed: int) -> None:
        prices = Prices(problem.prices.action, problem.prices.observation + config.deliberation)
        super().__init__(problem.over(prices=prices), config, seed)

    def _new_net(self, problem: HeadProblem) -> Net:
        count = len(problem.depths)
        net = Net(problem, count - 1, self.config.hidden, self._seed)
        with torch.no_grad():  # all depths alike at first
            net.weights["offset"].copy_(-torch.arange(count - 1, 0, -1).log())
        return net

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Logarithms of the depths' probabilities, from logits [N, depths - 1] of stopping."""
        stop, on = F.logsigmoid(outputs), F.logsigmoid(-outputs)
        none = outputs.new_zeros(len(outputs), 1)
        return torch.cat([stop, none], dim=1) + torch.cat([none, on.cumsum(dim=1)], dim=1)
