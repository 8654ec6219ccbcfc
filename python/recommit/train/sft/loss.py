"""The SFT loss over all admissible commitments of a state, from one pass of the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from recommit.data.rows import covered
from recommit.policy.config import PLAN_LENGTH
from recommit.policy.tensors import to_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import TargetConfig
    from recommit.train.sft.targets import Elsewhere, Targets

#: Total weight of a state's other cells, relative to 1 for its own.
OTHERS = 1.5
#: Mask value for logarithms; finite, so that it cannot lead to NaN.
_NEVER = -1e9


def weights(
    distance: NDArray[np.int32],
    depths: Sequence[int] = (1, 2, 4, 8),
    weighting: str = "action",
    length: int = PLAN_LENGTH,
) -> NDArray[np.float32]:
    """float32[N, length]: weight of each position of a state's target.

    A commitment of depth h is a sample where h <= distance, and shorter ones are prefixes of longer ones, so that one
    target with these weights has the gradient of all samples. ``action``: equal weight for every action of every sample
    (4, 3, 2, 2, 1, 1, 1, 1 for depths 1, 2, 4, 8); ``sample``: for every sample, whatever its depth.
    """
    depth = np.array(sorted(depths))
    each = 1.0 / depth if weighting == "sample" else np.ones(len(depth))
    result: NDArray[np.float32] = (covered(distance, sorted(depths), length) * each).sum(axis=2).astype(np.float32)
    return result


def action_losses(logits: Tensor, actions: Tensor, optimal: Tensor, kind: str) -> Tensor:
    """[N, 8]: negative log of the total probability of the optimal actions (soft), or of the path's action (hard)."""
    logs = F.log_softmax(logits.float(), dim=-1)
    if kind == "soft":
        return -torch.logsumexp(logs.masked_fill(~optimal, _NEVER), dim=-1)
    return -logs.gather(-1, actions[..., None])[..., 0]


def total_weight(batch: Targets, config: TargetConfig) -> float:
    """The divisor of a batch's losses: known before any pass, so that micro-batches add up exactly."""
    total = float(_weights(batch, config).sum(dtype="float64"))
    if batch.elsewhere is not None:
        total += float(_weights_elsewhere(batch.elsewhere, config).sum(dtype="float64"))
    return total


def _weights(batch: Targets, config: TargetConfig) -> NDArray[np.float32]:
    """float32[N, 8]"""
    return weights(batch.distance, config.depths, config.weighting, batch.actions.shape[1])


def _weights_elsewhere(others: Elsewhere, config: TargetConfig) -> NDArray[np.float32]:
    """float32[N * D, 8]"""
    each = weights(others.distance.ravel(), config.depths, config.weighting, others.actions.shape[2])
    return each * np.float32(OTHERS / others.cells.shape[1])


def sft_loss(
    policy: CommitPolicy, task: Puzzle, batch: Targets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """(sum of weighted losses / ``divisor``, logits [N, 8, 4] of the deepest plans).

    Without depth conditioning one decoder pass covers all depths; with it there is one per depth, from the same pass of
    the backbone.
    """
    if batch.elsewhere is not None:
        return _dense_loss(policy, task, batch, config, divisor)
    z = policy.encode(task, batch.states, batch.remaining)
    device = z.device
    actions, optimal = to_device(batch.actions, device), to_device(batch.optimal, device)
    index, before = policy.task_index(task), actions[:, :-1]
    if policy.config.decoder.depth_conditioning == "none":
        logits = policy.decoder(z, before, index)
        weight = to_device(_weights(batch, config), device)
        return weighted(action_losses(logits, actions, optimal, config.kind), weight) / divisor, logits
    loss = z.new_zeros((), dtype=torch.float32)
    for depth in sorted(config.depths):
        condition = policy.conditioning(torch.full((len(batch),), depth, device=device))
        logits = policy.decoder(z, before, index, depths=condition)
        weight = to_device(_weights(batch, replace(config, depths=(depth,))), device)
        loss = loss + weighted(action_losses(logits, actions, optimal, config.kind), weight)
    return loss / divisor, logits


def _dense_loss(
    policy: CommitPolicy, task: Puzzle, batch: Targets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """``sft_loss`` over each state's own player cell and the others, from one pass of the backbone."""
    others = batch.elsewhere
    assert others is not None
    z = policy.encode_at(task, batch.states, others.cells)
    actions = np.concatenate([batch.actions, others.actions.reshape(-1, batch.actions.shape[1])])
    optimal = np.concatenate([batch.optimal, others.optimal.reshape(-1, *batch.optimal.shape[1:])])
    weight = to_device(np.concatenate([_weights(batch, config), _weights_elsewhere(others, config)]), z.device)
    path = to_device(actions, z.device)
    logits = policy.decoder(z, path[:, :-1], policy.task_index(task))
    losses = action_losses(logits, path, to_device(optimal, z.device), config.kind)
    return weighted(losses, weight) / divisor, logits[: len(batch)]


def weighted(losses: Tensor, weight: Tensor) -> Tensor:
    """Weighted sum; positions of weight 0 contribute neither value nor gradient, even if not finite."""
    return (losses.masked_fill(weight == 0, 0.0) * weight).sum()


def accuracy(logits: Tensor, optimal: Tensor) -> tuple[Tensor, Tensor]:
    """Per position [8]: number of states whose likeliest action is optimal, and number with an optimal action."""
    best = optimal.gather(-1, logits.argmax(dim=-1, keepdim=True))[..., 0]
    live = optimal.any(dim=-1)
    return (best & live).sum(0), live.sum(0)
