"""The loss of GRPO on both heads: clipped surrogate, exact KL to the warm start, exact entropies.

A commitment of a plan of eight actions has up to nine terms: a depth and the n <= 8 actions that were executed, each
with a probability ratio r and an advantage A of its own, and C = min(r A, clip(r, 1 - c, 1 + c) A). Over all states s
of an optimizer step, with depths d, plans g, and executed actions j:

    loss = 1/W * sum over s of
           - 1/Z                 * (sum over d of v_d C_d + sum over g, j of v_gj C_gj)
           + kl w/K              * (KL_s + 1/G * sum over g, j of KL_gj)
           - entropy_depth w/K   * H_s
           - entropy_actions w/E * 1/G * sum over g, j of H_gj

    loss_normalization          Z       K       E
    surrogate                   9       1       8
    surrogate, ratio: joint     1       1       8
    constant                    9       9       9
    length                      1 + n   1 + n   1 + n

w is the weight of a state, W the sum of all w, G the number of a state's plans. v is the weight of a depth or an
action: w/G for sampled commitments, so that the surrogate is a mean over nine terms; proportional to its probability
for exact values. KL and H are exact sums over a head's outcomes: with K = 1, ``kl`` weighs the KL of whole commitments,
with E = 8, ``entropy_actions`` the mean entropy of eight positions (0 where not executed). 1 + n is a commitment's own
length, inside the sums; KL_s and H_s get the mean of 1 / (1 + n) over plans. ``length`` biases the depth, ``constant``
does not. With ``ratio: joint`` a commitment is one term with the product of its ratios. Without ``kl_depth`` KL_s is 0.
For longer plans replace 8 by their length, and 9 by one more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recommit.policy.tensors import entropy, kl, log_prob, to_device

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import ObjectiveConfig

#: Entries of the second result, in order: sums, and last the largest deviation of a ratio from 1.
MEASURES = (
    "surrogate",
    "kl",
    "kl_depth",
    "entropy_depth",
    "entropy_actions",
    "clipped",
    "ratios",
    "states",
    "actions",
    "max_ratio_deviation",
)


@dataclass(frozen=True)
class TensorBatch:
    """The loss's inputs from a ``GrpoBatch``, on the policy's device."""

    choices: Tensor
    depth_advantage: Tensor
    depth_weight: Tensor
    depth_old: Tensor
    actions: Tensor
    plan_depth: Tensor
    action_advantage: Tensor
    action_weight: Tensor
    action_old: Tensor
    weight: Tensor

    @classmethod
    def of(cls, batch: GrpoBatch, device: torch.device) -> TensorBatch:
        """Copy the fields from numpy to ``device``."""
        names = cls.__dataclass_fields__
        return cls(**{name: to_device(getattr(batch, name), device) for name in names})


def total_weight(batch: GrpoBatch) -> float:
    """Total weight of the states, the divisor of ``grpo_loss``."""
    return float(batch.weight.sum(dtype="float64"))


def totals(measures: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Reduce ``MEASURES`` of several batches: sums, and the maximum of the last entry."""
    return reduce(
        lambda one, other: np.append(one[:-1] + other[:-1], max(one[-1], other[-1])), measures, np.zeros(len(MEASURES))
    )


def grpo_loss(
    policy: CommitPolicy,
    task: Puzzle,
    batch: GrpoBatch,
    config: ObjectiveConfig,
    divisor: float,
    reference: tuple[Tensor, Tensor] | None = None,
    *,
    fresh: bool = False,
) -> tuple[Tensor, Tensor]:
    """(loss divided by ``divisor``, ``MEASURES`` as plain sums).

    ``fresh``: on-policy, the weights are those that sampled the commitments, so that the ratio is exactly 1.
    """
    tensors = TensorBatch.of(batch, policy.depth_head.weight.device)
    depth_logits, action_logits = policy(
        task, batch.states, tensors.actions, tensors.plan_depth, remaining=batch.remaining
    )
    return from_logits(depth_logits, action_logits, tensors, config, divisor, reference, fresh=fresh)


@torch.no_grad()
def old_log_probs(policy: CommitPolicy, task: Puzzle, batch: GrpoBatch) -> tuple[Tensor, Tensor]:
    """Log probabilities of a batch's depths and actions, computed exactly as in ``grpo_loss``."""
    tensors = TensorBatch.of(batch, policy.depth_head.weight.device)
    depths, actions = policy(task, batch.states, tensors.actions, tensors.plan_depth, remaining=batch.remaining)
    return _log_probs(depths, actions, tensors)


def from_logits(
    depth_logits: Tensor,
    action_logits: Tensor,
    batch: TensorBatch,
    config: ObjectiveConfig,
    divisor: float,
    reference: tuple[Tensor, Tensor] | None = None,
    *,
    fresh: bool = False,
) -> tuple[Tensor, Tensor]:
    """``grpo_loss`` from logits [S, |H|] and [S, G, 8, 4]."""
    live = batch.action_weight > 0
    surrogate, clipped, deviation = _surrogate(depth_logits, action_logits, batch, live, config, fresh=fresh)
    ratios = (batch.depth_weight > 0).sum() + (live.sum() if config.ratio == "factor" else 0)

    scored = batch.weight[:, None, None] * live / max(batch.actions.shape[1], 1)
    share = _own_length(live, surrogate.dtype) if config.loss_normalization == "length" else None
    length, terms = live.shape[-1], _terms(live)
    per_head, per_plan = (1, length) if config.loss_normalization == "surrogate" else (terms, terms)  # K and E
    entropies = batch.weight * entropy(depth_logits), scored * entropy(action_logits)
    depth_entropy, action_entropy = _sums(*entropies, share)
    loss = -surrogate - config.entropy_depth * (depth_entropy / per_head)
    loss = loss - config.entropy_actions * (action_entropy / per_plan)
    kls = surrogate.new_zeros(()), surrogate.new_zeros(())
    if reference is not None:
        kls = batch.weight * kl(depth_logits, reference[0]), scored * kl(action_logits, reference[1])
        depth_kl, action_kl = _sums(*kls, share)
        loss = loss + config.kl * (action_kl / per_head + (depth_kl / per_head if config.kl_depth else 0.0))
    measured = [
        surrogate,
        kls[1].sum(),
        kls[0].sum(),
        entropies[0].sum(),
        entropies[1].sum(),
        clipped,
        ratios,
        batch.weight.sum(),
        scored.sum(),
        deviation,
    ]
    return loss / divisor, torch.stack([m.detach().float() for m in measured])


def _surrogate(
    depth_logits: Tensor,
    action_logits: Tensor,
    batch: TensorBatch,
    live: Tensor,
    config: ObjectiveConfig,
    *,
    fresh: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """The clipped surrogate, the number of clipped ratios, and the largest deviation of a ratio from 1."""
    depth_log, action_log = _log_probs(depth_logits, action_logits, batch)
    depth_change = depth_log - (depth_log.detach() if fresh else batch.depth_old)
    action_change = action_log - (action_log.detach() if fresh else batch.action_old)
    if config.ratio == "joint":
        change = depth_change * (batch.depth_weight > 0) + (action_change * live).sum(-1)
        values, clipped, deviation = _clipped(change, batch.depth_advantage, batch.depth_weight, config.clip)
        return values.sum(), clipped, deviation
    depths, clipped, deviation = _clipped(depth_change, batch.depth_advantage, batch.depth_weight, config.clip)
    actions, more, other = _clipped(action_change, batch.action_advantage, batch.action_weight, config.clip)
    if config.loss_normalization == "length":
        share = _own_length(live, depths.dtype)
        depths, actions = depths * share, actions * share[..., None]
    return (depths.sum() + actions.sum()) / _terms(live), clipped + more, torch.maximum(deviation, other)


def _log_probs(depth_logits: Tensor, action_logits: Tensor, batch: TensorBatch) -> tuple[Tensor, Tensor]:
    """Log probabilities of the depths [S, D] and of every action [S, G, 8]."""
    depths = log_prob(depth_logits[:, None].expand(-1, batch.choices.shape[1], -1), batch.choices)
    return depths, log_prob(action_logits, batch.actions)


def _terms(live: Tensor) -> int:
    """Number of terms of the longest commitment: its depth and all actions of the plan."""
    return live.shape[-1] + 1


def _own_length(live: Tensor, dtype: torch.dtype) -> Tensor:
    """[S, G]: 9 / (1 + n), which turns a division by 9 into one by a commitment's own number of terms."""
    return _terms(live) / (1.0 + live.sum(-1).to(dtype))


def _sums(depth: Tensor, actions: Tensor, share: Tensor | None) -> tuple[Tensor, Tensor]:
    """Sums of [S] and [S, G, 8] values, scaled by each commitment's ``share``; a depth's is the mean over its plans."""
    if share is not None:
        depth, actions = depth * share.mean(-1), actions * share[..., None]
    return depth.sum(), actions.sum()


def _clipped(change: Tensor, advantage: Tensor, weight: Tensor, clip: float) -> tuple[Tensor, Tensor, Tensor]:
    """Weighted min(r A, clip(r) A) for log ratios ``change``, the number of clipped ratios, and the largest |r - 1|."""
    live = weight > 0
    ratio = change.masked_fill(~live, 0.0).exp()
    plain = ratio * advantage
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip) * advantage
    # An entry without weight has neither value nor gradient, even where its numbers are not finite.
    value = torch.minimum(plain, bounded).masked_fill(~live, 0.0) * weight
    with torch.no_grad():
        clipped = (live & (bounded < plain)).sum()
        deviation = ((ratio - 1.0).abs() * live).max() if live.numel() else ratio.new_zeros(())
    return value, clipped, deviation
