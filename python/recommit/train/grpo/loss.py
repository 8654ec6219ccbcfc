"""The loss of GRPO on both heads: clipped surrogate, exact KL to the warm start, exact entropies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recommit.policy.config import MAX_ACTIONS
from recommit.policy.distributions import entropy, kl, log_prob
from recommit.policy.transfer import to_device

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import ObjectiveConfig

#: Terms of the longest commitment: its depth and eight actions.
TERMS = MAX_ACTIONS + 1
#: What the second result holds, in this order: sums, and the furthest that a ratio was from 1.
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
    "furthest",
)


@dataclass(frozen=True)
class Weighed:
    """A batch on the policy's device, and what its sums are divided by: known before any pass."""

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
    def of(cls, batch: GrpoBatch, device: torch.device) -> Weighed:
        """From numpy."""
        names = cls.__dataclass_fields__
        return cls(**{name: to_device(getattr(batch, name), device) for name in names})


def total_weight(batch: GrpoBatch) -> float:
    """Judged commitments, by weight: what ``grpo_loss`` is divided by."""
    return float(batch.weight.sum(dtype="float64"))


def totals(measures: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """``MEASURES`` of several moves together: sums, and the largest of the last one."""
    return reduce(_added, measures, np.zeros(len(MEASURES)))


def _added(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(one[:-1] + other[:-1], max(one[-1], other[-1]))


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
    """(loss, ``MEASURES``), both divided by ``divisor`` where they are averages over states.

    ``fresh`` says that the weights are still those that made the commitments: the ratio is then exactly 1.
    """
    weighed = Weighed.of(batch, policy.depth_head.weight.device)
    depth_logits, action_logits = policy(
        task, batch.states, weighed.actions, weighed.plan_depth, remaining=batch.remaining
    )
    return from_logits(depth_logits, action_logits, weighed, config, divisor, reference, fresh=fresh)


def from_logits(
    depth_logits: Tensor,
    action_logits: Tensor,
    weighed: Weighed,
    config: ObjectiveConfig,
    divisor: float,
    reference: tuple[Tensor, Tensor] | None = None,
    *,
    fresh: bool = False,
) -> tuple[Tensor, Tensor]:
    """``grpo_loss`` of [S, |H|] and [S, G, 8, 4] logits."""
    live = weighed.action_weight > 0
    worth, clipped, furthest = _surrogate(depth_logits, action_logits, weighed, live, config, fresh=fresh)
    ratios = (weighed.depth_weight > 0).sum() + (live.sum() if config.ratio == "factor" else 0)

    scored = weighed.weight[:, None, None] * live / max(weighed.actions.shape[1], 1)
    share = _share(live, worth.dtype, config) if config.mean == "all" else None
    entropies = weighed.weight * entropy(depth_logits), scored * entropy(action_logits)
    depth_worth, action_worth = _summed(*entropies, share)
    loss = -worth - config.entropy_depth * depth_worth
    loss = loss - config.entropy_actions * (action_worth if config.mean == "all" else action_worth / MAX_ACTIONS)
    kls = worth.new_zeros(()), worth.new_zeros(())
    if reference is not None:
        kls = weighed.weight * kl(depth_logits, reference[0]), scored * kl(action_logits, reference[1])
        depth_kl, action_kl = _summed(*kls, share)
        loss = loss + config.kl * (action_kl + (depth_kl if config.kl_depth else 0.0))
    measured = [
        worth,
        kls[1].sum(),
        kls[0].sum(),
        entropies[0].sum(),
        entropies[1].sum(),
        clipped,
        ratios,
        weighed.weight.sum(),
        scored.sum(),
        furthest,
    ]
    return loss / divisor, torch.stack([m.detach().float() for m in measured])


def _surrogate(
    depth_logits: Tensor, action_logits: Tensor, weighed: Weighed, live: Tensor, config: ObjectiveConfig, *, fresh: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The clipped surrogate, how many ratios were clipped, and the furthest that one was from 1."""
    depth_log = log_prob(depth_logits[:, None].expand(-1, weighed.choices.shape[1], -1), weighed.choices)
    action_log = log_prob(action_logits, weighed.actions)
    depth_change = depth_log - (depth_log.detach() if fresh else weighed.depth_old)
    action_change = action_log - (action_log.detach() if fresh else weighed.action_old)
    if config.ratio == "joint":
        change = depth_change * (weighed.depth_weight > 0) + (action_change * live).sum(-1)
        values, clipped, furthest = _clipped(change, weighed.depth_advantage, weighed.depth_weight, config.clip)
        return values.sum(), clipped, furthest
    first, clipped, furthest = _clipped(depth_change, weighed.depth_advantage, weighed.depth_weight, config.clip)
    rest, more, further = _clipped(action_change, weighed.action_advantage, weighed.action_weight, config.clip)
    if config.length == "own":
        share = _share(live, first.dtype, config)
        first, rest = first * share, rest * share[..., None]
    return (first.sum() + rest.sum()) / TERMS, clipped + more, torch.maximum(furthest, further)


def _share(live: Tensor, dtype: torch.dtype, config: ObjectiveConfig) -> Tensor:
    """[S, G]: of each term of a commitment in a mean over its terms, in ninths."""
    if config.length == "own":
        return TERMS / (1.0 + live.sum(-1).to(dtype))
    return torch.ones(live.shape[:2], dtype=dtype, device=live.device)


def _summed(depth: Tensor, actions: Tensor, share: Tensor | None) -> tuple[Tensor, Tensor]:
    """Sums of [S] and [S, G, 8] values, or of their ``share`` in means over terms: a depth has those of its plans."""
    if share is None:
        return depth.sum(), actions.sum()
    return (depth * share.mean(-1)).sum() / TERMS, (actions * share[..., None]).sum() / TERMS


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
