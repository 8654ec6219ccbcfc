"""A head that was fitted on a graph as the depth head of the policy whose plans the graph has.

The policy's own head reads numbers as they are, so that the mean and deviation of what a fitted head reads go into its
first weights. What the policy then plays is what the fitted head says, but for rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.config import HeadConfig
from recommit.policy.policy import CommitPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.train.baselines.fitted import FittedHead, Weights


def folded(head: FittedHead) -> Weights:
    """Weights for numbers as they are instead of numbers of mean 0 and deviation 1."""
    first, offset = ("first", "bias") if "first" in head.weights else ("last", "offset")
    scaled = head.weights[first].astype(np.float64) / head.deviation
    moved = head.weights[offset].astype(np.float64) - scaled @ head.mean
    return {**head.weights, first: scaled.astype(np.float32), offset: moved.astype(np.float32)}


def replace_head(policy: CommitPolicy, head: FittedHead) -> None:
    """Give a policy the fitted head; its plans stay what they are."""
    if head.reading != "argmax":
        raise ValueError(f"policy: expected a head that takes the largest of its numbers, got {head.method}")
    weights = folded(head)
    hidden = len(weights["first"]) if "first" in weights else 0
    policy.replace_head(HeadConfig(head.features, hidden, gelu="tanh"), depths=head.depths)
    if policy.depth_head.inputs != len(head.mean):
        raise ValueError(
            f"policy: expected the one whose plans the graph has, of {head.width} numbers of z, "
            f"got one of {policy.backbone.width}"
        )
    own = policy.depth_head
    layers = [(own, "last", "offset")] + ([] if own.hidden is None else [(own.hidden, "first", "bias")])
    with torch.no_grad():
        for layer, weight, bias in layers:
            layer.weight.copy_(torch.from_numpy(weights[weight]))
            layer.bias.copy_(torch.from_numpy(weights[bias]))


def save(run: Path | str, head: FittedHead, views: int, weights: str, folder: Path) -> Path:
    """Write the policy of a run with the fitted head, and so many views of every picture. ``weights`` name the policy
    whose plans the graph has; an empty name fits all."""
    own = local_folder(run)
    if weights and weights_of(own) != weights:
        raise ValueError(f"policy: expected the one whose plans the graph has ({weights[:12]}), got {own}")
    policy: CommitPolicy = CommitPolicy.from_pretrained(own).eval()
    policy.replace_augmentations(views)
    replace_head(policy, head)
    return policy.save_pretrained(folder)
