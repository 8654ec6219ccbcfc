"""Rewards of sampled commitments, episodes and continuations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.storage.python_file import definition
from recommit.train.grpo.config import AdvantageConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.graph import Floats
    from recommit.prices import Prices
    from recommit.rollout.trace import Trace


#: Penalty for a lost level with ``deadlock: penalty``.
PENALTY = 0.2


@dataclass(frozen=True)
class Spans:
    """Outcomes of the spans that are scored (commitments, episodes, branches), as arrays of one shape."""

    solved: NDArray[np.bool_]
    progress: NDArray[np.integer]  #: decrease of the distance
    executed: NDArray[np.integer]
    decisions: NDArray[np.integer]
    lost: NDArray[np.bool_]  #: True where the puzzle became unsolvable

    @classmethod
    def none(cls, count: int) -> Spans:
        """``count`` spans without an outcome yet."""
        no, nothing = np.zeros((2, count), np.bool_), np.zeros((3, count), np.int64)
        return cls(no[0], nothing[0], nothing[1], nothing[2], no[1])

    @classmethod
    def of_commitments(cls, trace: Trace, per: str) -> Spans:
        """One span per candidate of a trace, row by row."""
        solved, lost = trace.solved.reshape(-1).copy(), trace.lost.reshape(-1).copy()
        progress, executed = (each.reshape(-1).astype(np.int64) for each in (trace.progress(per), trace.executed))
        return cls(solved, progress, executed, np.ones_like(executed), lost)

    def add(self, trace: Trace, per: str) -> Spans:
        """Add, in place, a trace with one candidate per decision, whose episode i extends span i."""
        np.logical_or.at(self.solved, trace.episode, trace.solved[:, 0])
        np.logical_or.at(self.lost, trace.episode, trace.lost[:, 0])
        np.add.at(self.progress, trace.episode, trace.progress(per)[:, 0])
        np.add.at(self.executed, trace.episode, trace.executed[:, 0])
        np.add.at(self.decisions, trace.episode, 1)
        return self


@dataclass(frozen=True)
class OwnReward(AdvantageConfig):
    """Rewards by a custom function from ``Spans`` to one number each, in place of success, progress and prices. Recipes
    cannot name one: it is passed to ``train``, or by ``--reward``."""

    function: Callable[[Spans], Any] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator == "exact":
            raise ValueError("reward: expected advantage.estimator state, episode or branch beside it, got exact")


def rewards(spans: Spans, config: AdvantageConfig, prices: Prices) -> Floats:
    """1 minus prices for a solved span, plus ``config.progress`` * tanh(progress per action), minus any penalty; or the
    custom function of ``OwnReward``."""
    if isinstance(config, OwnReward):
        return _own_rewards(spans, config.function)
    n, d = spans.executed.astype(np.float64), spans.progress.astype(np.float64)
    dense = np.where(n > 0, np.tanh(d / np.maximum(n, 1.0)), 0.0)
    price = prices.action * n + prices.observation * spans.decisions.astype(np.float64)
    result: Floats = spans.solved.astype(np.float64) + config.progress * dense - np.where(spans.solved, price, 0.0)
    return result - PENALTY * spans.lost if config.deadlock == "penalty" else result


def own_reward(file: str | Path) -> Callable[[Spans], Any]:
    """Load the function ``reward`` from a Python file, which is executed."""
    function = definition("reward", Path(file), "reward", trusted=True)
    if not callable(function):
        raise ValueError(f"reward: expected {file} to define a function `reward`, got {function!r:.80}")  # noqa: TRY004
    return function


def _own_rewards(spans: Spans, function: Callable[[Spans], Any]) -> Floats:
    result = np.asarray(function(spans), np.float64)
    if result.shape != spans.solved.shape or not np.isfinite(result).all():
        raise ValueError(
            f"reward: expected an array {list(spans.solved.shape)} of finite numbers of the function `reward`, "
            f"got an array {list(result.shape)}{'' if np.isfinite(result).all() else ' with NaN or infinity'}"
        )
    return result


def by_state(trace: Trace, config: AdvantageConfig, prices: Prices) -> Floats:
    """[N, G]: rewards of commitments, from their own actions alone."""
    spans = Spans.of_commitments(trace, config.progress_per)
    return rewards(spans, config, prices).reshape(trace.executed.shape)


def by_episode(trace: Trace, starts: int, config: AdvantageConfig, prices: Prices) -> Floats:
    """[episodes]: rewards of whole episodes of one candidate each."""
    return rewards(Spans.none(starts).add(trace, config.progress_per), config, prices)


def by_branch(trace: Trace, after: Trace, config: AdvantageConfig, prices: Prices) -> Floats:
    """[N, G]: rewards of commitments with their continuations; episode i of ``after`` continues candidate i of all."""
    spans = Spans.of_commitments(trace, config.progress_per).add(after, config.progress_per)
    return rewards(spans, config, prices).reshape(trace.executed.shape)
