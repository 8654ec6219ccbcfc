"""The depth head: how many actions to commit to. One linear map from what a look gave, z, to the logits of the depths.

It may also read how sure the action decoder is of its greedy plan (``head.reads: plan``), how far several views of the
picture agree on it (``views``), both without z (``sure``, ``agreement``), and have a hidden layer; or what the policy
expects the plan to lead to, alone (``foresight``) or with what is at stake (``stakes``; ``stakes-z`` with z). Which
actions these are is for ``action_decoder.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy.config import MAX_ACTIONS, OF_FORESIGHT, OF_STAKES, HeadConfig
from recommit.policy.views import DISAGREEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers per action that ``confidence`` gives of a plan.
CONFIDENCES = 3
#: Numbers per action that a head reads, beside z or instead of it.
NUMBERS = {
    "z": 0,
    "plan": CONFIDENCES,
    "views": CONFIDENCES + DISAGREEMENTS,
    "sure": CONFIDENCES,
    "agreement": CONFIDENCES + DISAGREEMENTS,
    "foresight": 0,
    "stakes": CONFIDENCES,
    "stakes-z": CONFIDENCES,
}
#: What is read of the views, and what is read without z.
OF_VIEWS, WITHOUT_Z = ("views", "agreement"), ("sure", "agreement", "foresight", "stakes")
#: How many numbers are at stake.
STAKES = 4


class DepthHead(nn.Linear):
    """Logits of the depths, from z and perhaps from how sure the plan is. It starts at zero, unless its configuration
    says otherwise: exactly uniform, with a gradient."""

    def __init__(self, width: int, depths: int, config: HeadConfig) -> None:
        inputs = (0 if config.reads in WITHOUT_Z else width) + MAX_ACTIONS * NUMBERS[config.reads]
        if config.reads in OF_FORESIGHT:
            inputs += 2 * (1 + depths) + STAKES * (config.reads in OF_STAKES)
        super().__init__(config.hidden or inputs, depths)
        #: Numbers that it reads.
        self.inputs = inputs
        if config.init != "default":
            nn.init.zeros_(self.bias)
            nn.init.zeros_(self.weight)
        if config.deviation is not None:
            nn.init.normal_(self.weight, std=config.deviation)
        self.hidden = nn.Linear(inputs, config.hidden) if config.hidden else None
        self._gelu = config.gelu

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits of the depths for ``inputs`` [batch, self.inputs]."""
        return super().forward(inputs) if self.hidden is None else self.from_hidden(self.hidden(inputs))

    def from_hidden(self, sums: Tensor) -> Tensor:
        """Logits of the depths from what the hidden layer sums up [batch, config.hidden]."""
        return super().forward(F.gelu(sums, approximate=self._gelu))


def at_stake(remaining: NDArray[np.integer] | None, prices: tuple[float, float], rows: int) -> Tensor:
    """[rows, 4] numbers: the looks left, one over them, and the prices of an action and of a look by their size."""
    if remaining is None or len(remaining) != rows or not (remaining >= 1).all():
        raise ValueError(
            f"left: expected the looks left of {rows} states, since the depth head reads them, got {remaining}"
        )
    looks = np.asarray(remaining, np.float64)
    sizes = np.broadcast_to(np.log2(1.0 + 1000.0 * np.array(prices)), (rows, 2))
    return torch.from_numpy(np.concatenate([np.stack([looks, 1.0 / looks], axis=1), sizes], axis=1).astype(np.float32))


def confidence(scores: Tensor) -> Tensor:
    """How sure greedy plans with ``scores`` [batch, 8, 4] are: each action's probability, that of all up to it, its
    entropy."""
    logs = scores.float().log_softmax(-1)
    best = logs.max(-1).values
    return torch.cat([best.exp(), best.cumsum(-1).exp(), -(logs.exp() * logs).sum(-1)], dim=-1)
