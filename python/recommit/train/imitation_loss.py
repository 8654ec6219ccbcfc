"""The supervised loss: all admissible commitments of a state from one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from recommit.policy.transfer import to_device
from recommit.train import targets
from recommit.train.ensemble import EnsembleTargets

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import TargetConfig
    from recommit.train.targets import Targets

#: Added to the logarithm of what must not count; finite, so that no NaN can come of it.
_NEVER = -1e9


def action_losses(logits: Tensor, actions: Tensor, optimal: Tensor, kind: str) -> Tensor:
    """[N, 8]: minus the log probability of the optimal actions together (soft), or of the path's action (hard)."""
    logs = F.log_softmax(logits.float(), dim=-1)
    if kind == "soft":
        return -torch.logsumexp(logs.masked_fill(~optimal, _NEVER), dim=-1)
    return -logs.gather(-1, actions[..., None])[..., 0]


def total_weight(batch: Targets, config: TargetConfig) -> float:
    """What the losses of a batch are divided by: known before any pass, so that micro-batches add up exactly."""
    return float(targets.weights(batch.distance, config.depths, config.weighting).sum(dtype="float64"))


def sft_loss(
    policy: CommitPolicy, task: Puzzle, batch: Targets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """(sum of weighted losses / ``divisor``, logits [N, 8, 4] of the deepest plans).

    A decoder that does not see the depth answers for all depths at once; one that does is asked once per depth, still
    from one pass of the backbone.
    """
    z = policy.look(task, batch.states, batch.remaining)
    device = z.device
    if isinstance(batch, EnsembleTargets):
        return _ensemble_loss(policy, z, policy.task_index(task), batch, config, divisor)
    actions, optimal = to_device(batch.actions, device), to_device(batch.optimal, device)
    index, before = policy.task_index(task), actions[:, :-1]
    if policy.config.decoder.depth_conditioning == "none":
        logits = policy.decoder(z, before, index)
        weight = to_device(targets.weights(batch.distance, config.depths, config.weighting), device)
        return weighted(action_losses(logits, actions, optimal, config.kind), weight) / divisor, logits
    loss = z.new_zeros((), dtype=torch.float32)
    for depth in sorted(config.depths):
        condition = policy.conditioning(torch.full((len(batch),), depth, device=device))
        logits = policy.decoder(z, before, index, depths=condition)
        weight = to_device(targets.weights(batch.distance, (depth,), config.weighting), device)
        loss = loss + weighted(action_losses(logits, actions, optimal, config.kind), weight)
    return loss / divisor, logits


def _ensemble_loss(
    policy: CommitPolicy, z: Tensor, index: int, batch: EnsembleTargets, config: TargetConfig, divisor: float
) -> tuple[Tensor, Tensor]:
    """Cross-entropy to the mean of the views, along their plan."""
    logits = policy.decoder(z, to_device(batch.actions, z.device)[:, :-1], index)
    losses = -(to_device(batch.chances, z.device) * F.log_softmax(logits.float(), dim=-1)).sum(-1)
    weight = to_device(targets.weights(batch.distance, config.depths, config.weighting), z.device)
    return weighted(losses, weight) / divisor, logits


def weighted(losses: Tensor, weight: Tensor) -> Tensor:
    """Sum; positions of weight 0 have neither value nor gradient."""
    return (losses.masked_fill(weight == 0, 0.0) * weight).sum()


def accuracy(logits: Tensor, optimal: Tensor) -> tuple[Tensor, Tensor]:
    """Per position: in how many states the likeliest action is optimal, and in how many one is (both [8])."""
    best = optimal.gather(-1, logits.argmax(dim=-1, keepdim=True))[..., 0]
    live = optimal.any(dim=-1)
    return (best & live).sum(0), live.sum(0)
