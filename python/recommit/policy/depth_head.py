"""The depth head, which chooses how many actions to commit to, and its input.

``head_inputs`` concatenates the parts listed in ``recommit.policy.config.FEATURES``; the head is one linear map from
them to the logits of the depths, or has a hidden layer. The actions are chosen by ``action_decoder.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy.augmentations import likeliest
from recommit.policy.config import PLAN_LENGTH, HeadConfig, feature_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.policy.config import PolicyConfig
    from recommit.policy.vision import Vision
    from recommit.prices import Prices
    from recommit.puzzles.puzzle import Puzzle


class DepthHead(nn.Linear):
    """Logits of the depths. By default initialised to zero: exactly uniform, yet with a gradient."""

    def __init__(self, width: int, depths: int, config: HeadConfig, length: int = PLAN_LENGTH) -> None:
        inputs = feature_count(config.features, width, depths, length)
        super().__init__(config.hidden or inputs, depths)
        #: Width of the input.
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
        """Logits of the depths from the hidden layer's pre-activations [batch, config.hidden]."""
        return super().forward(F.gelu(sums, approximate=self._gelu))


class Observer(Protocol):
    """The parts of a ``CommitPolicy`` that ``head_inputs`` reads."""

    config: PolicyConfig
    decoder: Any
    world_model: Any
    vision: Vision

    def task_index(self, task: Puzzle) -> int: ...


def head_inputs(
    policy: Observer,
    task: Puzzle,
    states: NDArray[np.uint8],
    z: Tensor,
    scores: Tensor | None = None,
    remaining: NDArray[np.integer] | None = None,
    decoder: nn.Module | None = None,
) -> Tensor:
    """The depth head's input for states with this ``z``: the parts of its ``features``, in order.

    ``scores`` are the logits of the greedy plans, decoded here if None; no gradient flows through them or through the
    world model.
    """
    config, mean = policy.config, z.mean(dim=1) if z.ndim == 3 else z
    if config.head.features == "z":
        return mean
    parts = [mean] if config.head.reads("z") else []
    with torch.no_grad():
        if scores is None:
            scores = (decoder or policy.decoder)(z, None, policy.task_index(task))[1]
        if config.head.reads("confidence"):
            parts.append(confidence(scores.detach().float().log_softmax(-1)))
        if config.head.reads("world-model"):
            plans = likeliest(scores) if z.ndim == 3 else scores.argmax(-1)
            cells, only = policy.vision.kinds(task, states), config.head.features == "world-model"
            if config.head.gated:
                logs = scores.float().log_softmax(-1).max(-1).values.cumsum(-1)
                among = candidates(logs[:, [depth - 1 for depth in config.depths]].exp(), *config.head.unsure)
                parts.append(policy.world_model.compare(cells, plans, config.depths, among))
            else:
                parts.append(policy.world_model(cells, plans, config.depths, not only))  # it only compares depths
        if config.head.reads("conditions"):
            parts.append(conditions(remaining, config.prices, len(z)).to(z.device))
    return torch.cat([part.to(z.dtype) for part in parts], dim=-1)


def candidates(probs: Tensor, low: float, high: float) -> Tensor:
    """The depths to compare, [N, depths], by the probability of the plan up to each: the deepest that is likelier than
    ``high`` (else the shallowest), and the deeper ones that are no less likely than ``low``."""
    place = torch.arange(probs.shape[1], device=probs.device)
    first = torch.where(probs > high, place, 0).amax(dim=1, keepdim=True)
    return (place == first) | ((place > first) & (probs >= low))


def confidence(logs: Tensor) -> Tensor:
    """Confidence features of greedy plans with action log probabilities ``logs`` [batch, n, 4]: each action's
    probability, the cumulative probability up to it, and its entropy."""
    best = logs.max(-1).values
    return torch.cat([best.exp(), best.cumsum(-1).exp(), -(logs.exp() * logs).sum(-1)], dim=-1)


def conditions(remaining: NDArray[np.integer] | None, prices: Prices, rows: int) -> Tensor:
    """Conditions [rows, 4]: remaining decisions, their inverse, and the log-scaled prices of an action and of an
    observation."""
    if remaining is None or len(remaining) != rows or not (remaining >= 1).all():
        raise ValueError(
            f"remaining: expected the decisions that remain of {rows} states, since the depth head reads them, "
            f"got {remaining}"
        )
    budget = np.asarray(remaining, np.float64)
    sizes = np.broadcast_to(np.log2(1.0 + 1000.0 * np.array([prices.action, prices.observation])), (rows, 2))
    return torch.from_numpy(
        np.concatenate([np.stack([budget, 1.0 / budget], axis=1), sizes], axis=1).astype(np.float32)
    )
