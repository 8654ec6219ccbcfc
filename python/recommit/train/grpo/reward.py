"""From what happened to advantages: rewards of commitments, episodes and continuations, compared within groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import MAX_ACTIONS
from recommit.train.grpo.batch import GrpoBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.rollout.trace import Trace
    from recommit.rollout.variants import Variant
    from recommit.train.grpo.settings.credit import ExactCredit, SampledCredit

    Floats = NDArray[np.float64]
    Total = Callable[[list[float]], list[float]]

#: A deviation that is no more than rounding: all rewards of the group are equal.
EQUAL = 1e-12


def rewards(
    solved: NDArray[np.bool_],
    progress: NDArray[np.integer],
    executed: NDArray[np.integer],
    decisions: NDArray[np.integer] | int,
    config: SampledCredit,
    *,
    lost: NDArray[np.bool_] | None = None,
) -> Floats:
    """The reward of each scored span: a success term, a bounded progress term, prices; ``lost`` says where it made the
    puzzle unsolvable."""
    n, d = np.asarray(executed, np.float64), np.asarray(progress, np.float64)
    dense = {
        "mean": lambda: np.where(n > 0, np.tanh(d / np.maximum(n, 1.0)), 0.0),
        "total": lambda: np.tanh(d / 4.0),
        "potential": lambda: d / MAX_ACTIONS,
        "solved": lambda: np.zeros_like(n),
    }[config.reward]()
    prices = config.prices
    price = prices.action * n + prices.observation * np.asarray(decisions, np.float64)
    result: Floats = solved.astype(np.float64) + config.progress * dense - np.where(solved, price, 0.0)
    if lost is not None and config.deadlock == "penalty":
        result = result - config.penalty * lost
    return result


def advantages(reward: Floats, config: SampledCredit) -> Floats:
    """[N, G]: each reward against its group's mean; a group of equal rewards gives exactly zero."""
    centred = reward - reward.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    centred = np.where(deviation <= EQUAL, 0.0, centred)
    if config.scale == "group":
        # A floor of 0 is allowed: where the deviation is 0, so is what is divided.
        return centred / np.maximum(deviation + config.floor, EQUAL)
    return centred


def dead_share(reward: Floats) -> float:
    """Groups of equal rewards, from which nothing is learned."""
    return float((np.ptp(reward, axis=1) <= EQUAL).mean()) if len(reward) else 0.0


def alone(values: list[float]) -> list[float]:
    """Sums over the ranks of a run that has one."""
    return values


def whole_batch(
    advantage: Floats, weight: NDArray[np.floating], config: SampledCredit | ExactCredit, total: Total = alone
) -> Floats:
    """With ``scale: batch``: divided by the root of the weighted mean square of all of them, on all ranks together."""
    if config.scale != "batch":
        return advantage
    squares, weights = total([float(np.sum(weight * advantage**2)), float(np.sum(weight))])
    deviation = np.sqrt(squares / weights) if weights else 0.0
    return advantage / max(deviation + config.floor, EQUAL)


def decisions_of(
    trace: Trace, advantage: Floats, config: SampledCredit, variant: Variant, *, total: Total = alone
) -> GrpoBatch:
    """Sampled commitments with one advantage each ([N, G]) for the depth and every executed action."""
    proposals = trace.proposals
    many, count = proposals.depth.shape
    weight = np.full((many, count), 1.0 / count, np.float32)
    scaled = whole_batch(advantage, weight, config, total).astype(np.float32)
    executed = np.arange(MAX_ACTIONS) < trace.executed[..., None]
    return GrpoBatch(
        states=trace.states,
        choices=proposals.choice,
        depth_advantage=scaled,
        depth_weight=weight * variant.head,
        depth_old=proposals.depth_log,
        actions=proposals.actions.astype(np.int64),
        plan_depth=proposals.depth,
        action_advantage=np.broadcast_to(scaled[..., None], executed.shape).copy(),
        action_weight=(weight[..., None] * executed * variant.rest).astype(np.float32),
        action_old=proposals.action_log,
        remaining=trace.remaining,
        weight=np.ones(many, np.float32),
    )


def by_state(trace: Trace, config: SampledCredit) -> Floats:
    """[N, G]: rewards of commitments by their own actions alone."""
    progress = trace.progress(config.progress_per)
    return rewards(trace.solved, progress, trace.executed, 1, config, lost=trace.lost)


def by_episode(trace: Trace, starts: int, config: SampledCredit) -> Floats:
    """[episodes]: rewards of whole episodes of one candidate each."""
    solved, lost = np.zeros(starts, np.bool_), np.zeros(starts, np.bool_)
    progress, executed, decisions = (np.zeros(starts, np.int64) for _ in range(3))
    np.logical_or.at(solved, trace.episode, trace.solved[:, 0])
    np.logical_or.at(lost, trace.episode, trace.lost[:, 0])
    np.add.at(progress, trace.episode, trace.progress(config.progress_per)[:, 0])
    np.add.at(executed, trace.episode, trace.executed[:, 0])
    np.add.at(decisions, trace.episode, 1)
    return rewards(solved, progress, executed, decisions, config, lost=lost)


def by_branch(trace: Trace, after: Trace, config: SampledCredit) -> Floats:
    """[N, G]: rewards of commitments and of what followed; episode i of ``after`` continues candidate i of all."""
    many = trace.executed.size
    solved, lost = trace.solved.reshape(-1).copy(), trace.lost.reshape(-1).copy()
    progress = trace.progress(config.progress_per).reshape(-1).astype(np.int64)
    executed, decisions = trace.executed.reshape(-1).astype(np.int64), np.ones(many, np.int64)
    np.logical_or.at(solved, after.episode, after.solved[:, 0])
    np.logical_or.at(lost, after.episode, after.lost[:, 0])
    np.add.at(progress, after.episode, after.progress(config.progress_per)[:, 0])
    np.add.at(executed, after.episode, after.executed[:, 0])
    np.add.at(decisions, after.episode, 1)
    result = rewards(solved, progress, executed, decisions, config, lost=lost)
    return result.reshape(trace.executed.shape)
