"""Metrics from decisions and episodes, exactly as the specification of the method defines them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.policy.config import MOST_ACTIONS
from recommit.puzzles.solutions import UNSOLVABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.rollout.decision_rows import DecisionRows

#: Largest distance of a near state, and of a mid one.
NEAR, MID = 8, 16
BUCKETS = ("near", "mid", "far")
#: How to split near, mid and far: at ``NEAR`` and ``MID``, at thirds of the way from the start, or so that each holds
#: a third of the decisions.
EDGES = ("fixed", "thirds", "terciles")
#: Number of depths that a decision may have, including 0 for an answer that could not be parsed.
_DEPTHS = MOST_ACTIONS + 1


@dataclass(frozen=True)
class EpisodeRows:
    """One row per instance, under one budget."""

    length: NDArray[np.int32]  #: d(s0)
    solved: NDArray[np.bool_]
    actions: NDArray[np.int64]  #: executed, blocked ones included
    decisions: NDArray[np.int64]
    end: NDArray[np.int32]  #: distance where the episode ended, UNSOLVABLE if it is lost
    progress: NDArray[np.int64]  #: lowered distance; a commitment that ends lost counts 0 as a whole
    wasted: NDArray[np.int64]  #: decisions that left the distance as it was, that lost the level, or that followed it
    backward: NDArray[np.int64]  #: decisions that raised it

    def __len__(self) -> int:
        return len(self.length)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Episodes that ended in an unsolvable state."""
        return self.end == UNSOLVABLE


def within(rows: DecisionRows, budget: int) -> DecisionRows:
    """Decisions of a budget-unaware agent under a smaller budget: the first ``budget`` turns."""
    now = rows.turn < budget
    return rows if now.all() else rows.where(now)


def progress(rows: DecisionRows) -> NDArray[np.int32]:
    """Reduction of the distance by each decision; 0 where either end is unsolvable, even if the commitment came closer
    before it lost the level."""
    solvable = (rows.before >= 0) & (rows.after >= 0)
    return np.where(solvable, rows.before - rows.after, 0)


def episodes(rows: DecisionRows, length: NDArray[np.int32], budget: int) -> EpisodeRows:
    """Sum decisions per instance; ``length`` covers all instances, also those without any decision."""
    decisions = within(rows, budget)
    count, where = len(length), decisions.instance
    gained = progress(decisions)
    end = length.astype(np.int32).copy()
    last = np.lexsort((decisions.turn, where))
    end[where[last]] = decisions.after[last]  # the last decision of an instance is written last

    def total(values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(where, weights=values, minlength=count).astype(np.int64)

    solved = np.zeros(count, np.bool_)
    solved[where[decisions.solved]] = True
    solved |= length == 0
    return EpisodeRows(
        length.astype(np.int32),
        solved,
        total(decisions.executed),
        np.bincount(where, minlength=count).astype(np.int64),
        end,
        total(gained),
        total(gained == 0),
        total(gained < 0),
    )


def summarise(played: EpisodeRows, rows: DecisionRows, budget: int) -> dict[str, Any]:
    """The figures of one agent under one budget."""
    count = len(played)
    ideal = np.maximum(played.actions, played.length)
    spl = np.where(played.solved, played.length / np.maximum(ideal, 1), 0.0)
    efficiency = played.progress / np.maximum(played.actions, 1)
    decisions = within(rows, budget)
    entropy = decisions.entropy[~np.isnan(decisions.entropy)]
    return {
        "decisions": budget,
        "instances": count,
        "solved": int(played.solved.sum()),
        "solve_rate": mean(played.solved),
        "actions_per_episode": mean(played.actions),
        "actions_solved": mean(played.actions[played.solved]),
        "actions_unsolved": mean(played.actions[~played.solved]),
        "decisions_per_episode": mean(played.decisions),
        "spl": mean(spl),
        "lost": mean(played.lost),
        "wasted_solved": mean(played.wasted[played.solved]),
        "wasted_unsolved": mean(played.wasted[~played.solved]),
        "backward_solved": mean(played.backward[played.solved]),
        "backward_unsolved": mean(played.backward[~played.solved]),
        "progress_per_action": mean(efficiency),
        "progress_per_action_solved": mean(efficiency[played.solved]),
        "progress_per_action_unsolved": mean(efficiency[~played.solved]),
        "progress_per_action_pooled": float(played.progress.sum() / max(played.actions.sum(), 1)),
        **_taken(np.bincount(decisions.depth, minlength=_DEPTHS)),
        "depth_shares_solved": _taken(
            np.bincount(decisions.depth[played.solved[decisions.instance]], minlength=_DEPTHS)
        )["depth_shares"],
        "depth_entropy": mean(entropy),
        "trajectory_entropy": mean(depth_entropies(decisions, count)),
    }


def depth_entropies(rows: DecisionRows, count: int) -> NDArray[np.float64]:
    """Entropy in nats of the depths in each episode, without episodes that have no decision."""
    place = rows.instance * np.int64(_DEPTHS) + rows.depth
    taken = np.bincount(place, minlength=_DEPTHS * count).reshape(count, _DEPTHS)
    share = taken / np.maximum(taken.sum(axis=1, keepdims=True), 1)
    each: NDArray[np.float64] = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
    return each[taken.any(axis=1)]


def mean(values: NDArray[Any]) -> float | None:
    """Mean, or None of an empty array."""
    return float(np.mean(values)) if len(values) else None


def until_lost(rows: DecisionRows) -> DecisionRows:
    """Cut episodes at their first unsolvable state: at the end of the commitment that led to it."""
    return rows.where(rows.before != UNSOLVABLE)


def by_distance(
    rows: DecisionRows, played: EpisodeRows, budget: int, *, solved_only: bool = True, edges: str = EDGES[0]
) -> dict[str, dict[str, Any]]:
    """Counts, depths, progress and failure rates of near, mid and far decisions."""
    decisions = within(rows, budget)
    gained = progress(decisions)
    chosen = played.solved[decisions.instance] if solved_only else np.ones(len(decisions), np.bool_)
    bucket = np.where(decisions.before < 0, 2, _buckets(decisions, played, chosen, edges))
    lowest = int(gained.min(initial=0))
    span = int(gained.max(initial=0)) - lowest + 1
    taken = np.bincount((bucket * _DEPTHS + decisions.depth)[chosen], minlength=3 * _DEPTHS).reshape(3, _DEPTHS)
    moved = np.bincount((bucket * span + gained - lowest)[chosen], minlength=3 * span).reshape(3, span)
    values = np.arange(lowest, lowest + span)
    return {
        name: {"count": int(moved[i].sum()), **_moved(moved[i], values), **_taken(taken[i])}
        for i, name in enumerate(BUCKETS)
    }


def _buckets(rows: DecisionRows, played: EpisodeRows, chosen: NDArray[np.bool_], edges: str) -> NDArray[np.int64]:
    """[decisions] 0 near, 1 mid, 2 far: by the distance, by its share of the distance at the start, or by terciles of
    the ``chosen`` decisions."""
    if edges == "thirds":
        whole = played.length[rows.instance]
        return (3 * rows.before > whole).astype(np.int64) + (3 * rows.before > 2 * whole)
    near, mid = NEAR, MID
    if edges == "terciles":
        distances = np.sort(rows.before[chosen & (rows.before >= 0)])
        near, mid = (int(distances[(part * len(distances) - 1) // 3]) if len(distances) else 0 for part in (1, 2))
    return (rows.before > near).astype(np.int64) + (rows.before > mid)


def _moved(counts: NDArray[np.int64], values: NDArray[np.int64]) -> dict[str, float | None]:
    """Failure rate, mean and deviation of progress, of a histogram: ``counts`` of each of the ``values``."""
    total = counts.sum()
    if not total:
        return {"failure_rate": None, "mean_progress": None, "progress_sd": None}
    middle = float(counts @ values / total)
    deviation = float(np.sqrt(counts @ (values - middle) ** 2 / total))
    return {"failure_rate": float(counts[values <= 0].sum() / total), "mean_progress": middle, "progress_sd": deviation}


def _taken(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Mean depth and shares of a histogram of depths; depth 0, of unparsed answers, does not count."""
    total = counts[1:].sum()
    mean_depth = float(counts @ np.arange(len(counts)) / total) if total else None
    return {
        "mean_depth": mean_depth,
        "depth_shares": {str(i): float(n / total) for i, n in enumerate(counts) if n and i},
    }
