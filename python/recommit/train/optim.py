"""Parameter groups of the optimizer with their learning rates, and the schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import nn

    from recommit.policy.policy import CommitPolicy
    from recommit.train.config import OptimConfig

#: Dtype of trained weights: at RL learning rates bfloat16 rounds most of AdamW's updates away.
TRAINED: tuple[torch.dtype, ...] = (torch.float32,)
#: AdamW's betas.
BETAS = (0.9, 0.95)
#: Learning rate of the vision encoder, which is trained only with the whole backbone, in a warm start.
VISION_LR = 1e-4
#: Gradient clipping norm.
LARGEST_NORM = 1.0


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters that share a learning rate."""

    name: str
    lr: float
    parameters: list[nn.Parameter]


def parameter_groups(policy: CommitPolicy, config: OptimConfig) -> list[ParameterGroup]:
    """The trainable parameters by group: language model (or its adapter), vision encoder, action decoder, depth
    head."""
    vision = [p for p in policy.backbone.vision_parameters() if p.requires_grad]
    seen = {id(p) for p in vision}
    backbone = [p for p in policy.backbone.model.parameters() if p.requires_grad and id(p) not in seen]
    heads = [p for p in policy.decoder.parameters() if p.requires_grad]
    depth = [p for p in policy.depth_head.parameters() if p.requires_grad]
    every = [
        ParameterGroup("backbone", config.lr, backbone),
        ParameterGroup("vision", VISION_LR, vision),
        ParameterGroup("heads", config.decoder_lr, heads),
        ParameterGroup("depth", config.depth_head_lr or config.decoder_lr, depth),
    ]
    for group in every:
        if rounded := {p.dtype for p in group.parameters} - {*TRAINED}:
            raise ValueError(
                "policy: expected float32 for what is trained, since updates are rounded away in anything less, got "
                f"{rounded.pop()} for the {group.name}; load it with dtype=torch.float32, or train LoRA"
            )
    return [group for group in every if group.parameters]


def lr_schedule(config: OptimConfig, step: int) -> float:
    """Multiplier of all learning rates in ``step`` = 0, 1, ..."""
    warm = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    remaining = max(0.0, 1.0 - step / config.steps)
    if config.schedule == "linear":
        return warm * remaining
    if config.schedule == "cosine":
        return warm * 0.5 * (1.0 + math.cos(math.pi * (1.0 - remaining)))
    return warm
