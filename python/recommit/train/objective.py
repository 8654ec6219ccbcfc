"""The loss of GRPO on both heads: clipped surrogate, exact KL to the warm start, exact entropies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recommit.policy.config import MAX_ACTIONS
from recommit.policy.distributions import entropy, kl, log_prob

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.decisions import Decisions
    from recommit.train.grpo_config import ObjectiveConfig

#: Terms of the longest commitment: its depth and eight actions.
TERMS = MAX_ACTIONS + 1
#: What the second result holds, in this order: sums, and the furthest that a ratio was from 1.
MEASURES = (
    "surrogate", "kl", "kl_depth", "entropy_depth", "entropy_actions", "clipped", "ratios", "states", "actions",
    "furthest",
)  # fmt: skip


@dataclass(frozen=True)
class Weighed:
    """A batch on the policy's device, and what its sums are divided by: known before any pass."""

    depths: Tensor
    depth_advantage: Tensor
    depth_weight: Tensor
    depth_old: Tensor
    actions: Tensor
    action_advantage: Tensor
    action_weight: Tensor
    action_old: Tensor
    weight: Tensor

    @classmethod
    def of(cls, batch: Decisions, device: torch.device) -> Weighed:
        """From numpy."""
        names = cls.__dataclass_fields__
        return cls(**{name: torch.from_numpy(getattr(batch, name)).to(device) for name in names})


def total_weight(batch: Decisions) -> float:
    """Judged commitments, by weight: what ``grpo_loss`` is divided by."""
    return float(batch.weight.sum(dtype="float64"))


def grpo_loss(
    policy: CommitPolicy,
    task: Puzzle,
    batch: Decisions,
    config: ObjectiveConfig,
    divisor: float,
    reference: tuple[Tensor, Tensor] | None = None,
    *,
    fresh: bool = False,
) -> tuple[Tensor, Tensor]:
    """(loss, ``MEASURES``), both divided by ``divisor`` where they are averages over states.

    ``fresh`` says that the weights are still those that made the commitments: the ratio is then exactly 1.
    """
    depth_logits, action_logits = policy(task, batch.states, torch.from_numpy(batch.actions))
    given = Weighed.of(batch, depth_logits.device)
    return from_logits(depth_logits, action_logits, given, config, divisor, reference, fresh=fresh)


def from_logits(
    depth_logits: Tensor,
    action_logits: Tensor,
    given: Weighed,
    config: ObjectiveConfig,
    divisor: float,
    reference: tuple[Tensor, Tensor] | None = None,
    *,
    fresh: bool = False,
) -> tuple[Tensor, Tensor]:
    """``grpo_loss`` of [S, |H|] and [S, G, 8, 4] logits."""
    plans = given.actions.shape[1]
    depth_log = log_prob(depth_logits[:, None].expand(-1, given.depths.shape[1], -1), given.depths)
    action_log = log_prob(action_logits, given.actions)
    depth_old = depth_log.detach() if fresh else given.depth_old
    action_old = action_log.detach() if fresh else given.action_old
    live = given.action_weight > 0
    if config.ratio == "joint":
        change = (depth_log - depth_old) * (given.depth_weight > 0) + ((action_log - action_old) * live).sum(-1)
        surrogate, clipped, furthest = _clipped(change, given.depth_advantage, given.depth_weight, config.clip)
        ratios = (given.depth_weight > 0).sum()
        worth = surrogate.sum()
    else:
        first, clipped_1, furthest_1 = _clipped(
            depth_log - depth_old, given.depth_advantage, given.depth_weight, config.clip
        )
        rest, clipped_2, furthest_2 = _clipped(
            action_log - action_old, given.action_advantage, given.action_weight, config.clip
        )
        if config.length == "own":
            terms = 1.0 + live.sum(-1).to(first.dtype)
            first, rest = first * (TERMS / terms), rest * (TERMS / terms[..., None])
        worth = (first.sum() + rest.sum()) / TERMS
        clipped, furthest = clipped_1 + clipped_2, torch.maximum(furthest_1, furthest_2)
        ratios = (given.depth_weight > 0).sum() + live.sum()

    scored = given.weight[:, None, None] * live / max(plans, 1)
    depth_entropy = (given.weight * entropy(depth_logits)).sum()
    action_entropy = (scored * entropy(action_logits)).sum()
    loss = -worth - config.entropy_depth * depth_entropy - config.entropy_actions * action_entropy / MAX_ACTIONS
    zero = worth.new_zeros(())
    depth_kl, action_kl = zero, zero
    if reference is not None:
        depth_kl = (given.weight * kl(depth_logits, reference[0])).sum()
        action_kl = (scored * kl(action_logits, reference[1])).sum()
        loss = loss + config.kl * (action_kl + (depth_kl if config.kl_depth else zero))
    measured = [worth, action_kl, depth_kl, depth_entropy, action_entropy, clipped, ratios,
                given.weight.sum(), scored.sum(), furthest]  # fmt: skip
    return loss / divisor, torch.stack([m.detach().float() for m in measured])


def _clipped(change: Tensor, advantage: Tensor, weight: Tensor, clip: float) -> tuple[Tensor, Tensor, Tensor]:
    """Weighted min(r A, clip(r) A) of the log ratio ``change``, how many were clipped, and the largest |r - 1|."""
    live = weight > 0
    ratio = change.masked_fill(~live, 0.0).exp()
    plain = ratio * advantage
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip) * advantage
    # Where nothing counts there is neither value nor gradient, whatever the numbers are.
    value = torch.minimum(plain, bounded).masked_fill(~live, 0.0) * weight
    with torch.no_grad():
        clipped = (live & (bounded < plain)).sum()
        furthest = ((ratio - 1.0).abs() * live).max() if live.numel() else ratio.new_zeros(())
    return value, clipped, furthest
