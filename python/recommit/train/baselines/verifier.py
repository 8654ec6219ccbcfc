"""Distance after each prefix: a net that says what remains after each depth, and stops where too little is won.

Source: progress triggers (RDM's predictions of what an action comes to, AdaReP); `field.md` calls it the exact
verifier. Ours: the labels are exact distances of all prefixes of all plans, which cost nothing on a graph, so that no
episode is played. The net reads what a head reads. Depth h is reached as long as every further depth lowers the
predicted distance by at least ``threshold`` per action; the threshold is chosen on starts that were held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.train.heads.fitted import UNIT
from recommit.train.heads.network import Net, maximize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]


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


class VerifierLearner:
    """States drawn evenly from all that the starts can lead to."""

    reading = "progress"

    def __init__(self, problem: HeadProblem, config: VerifierConfig, seed: int) -> None:
        self.problem, self.config, self._seed = problem, config, seed
        self.net = Net(problem, 1 + len(problem.depths), config.hidden, seed)
        self._optimizer = torch.optim.Adam(self.net.parameters, lr=config.lr)
        self._labels = torch.from_numpy(labels(problem, config.lost) / UNIT).float()

    def update(self, number: int) -> None:
        """Some steps of regression."""
        streams = rng.streams(self._seed, rng.Purpose.SAMPLE, np.arange(self.config.batch))
        for step in range(self.config.steps):
            words = rng.draw(streams, number * self.config.steps + step)
            rows = rng.below(words, len(self.problem.rows))
            wanted = self._labels[torch.from_numpy(rows)]
            maximize(self.net, self._optimizer, -F.smooth_l1_loss(self.net(self.problem.rows[rows]), wanted))


def labels(problem: HeadProblem, lost: float) -> Floats:
    """[rows, 1 + depths] exact distances here and after each depth; where there is none, the longest and ``lost``."""
    distance = problem.graph.distance.astype(np.float64)
    distance = np.where(distance < 0, distance.max(initial=0) + lost, distance)
    return np.concatenate([distance[problem.rows, None], distance[problem.landing]], axis=1)
