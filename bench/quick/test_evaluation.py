"""Statistics and tables per second, from decisions that are made up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="evaluation needs the policy extra")

from bench.answers import group
from bench.plain import yardstick

from recommit.evaluate import metrics, summaries
from recommit.evaluate import text as tables
from recommit.rollout.decision_rows import DecisionRows

if TYPE_CHECKING:
    from bench.conftest import Timed
    from numpy.typing import NDArray

pytestmark, test_plain_python = group("evaluation"), yardstick
BUDGETS = {"loose": 15, "tight": 10}
#: Instances, and agents that play each of them.
QUICK, WHOLE = (2048, 4), (16384, 31)


@dataclass(frozen=True)
class Played:
    """Decisions of each agent on the same instances."""

    length: NDArray[np.int32]
    agents: dict[str, DecisionRows]

    @property
    def episodes(self) -> int:
        return len(self.length) * len(self.agents) * len(BUDGETS)


def made_up(rng: np.random.Generator, length: NDArray[np.int32], lean: float) -> DecisionRows:
    """Decisions of one agent, in the order of ``play.on_graph``: turn by turn, to the goal or the end of the budget."""
    before, alive, parts = length.copy(), np.ones(len(length), bool), []
    for turn in range(max(BUDGETS.values())):
        who = np.flatnonzero(alive).astype(np.int32)
        depth = rng.choice(np.array([1, 2, 4, 8], np.int8), len(who))
        gained = np.minimum(rng.binomial(depth, lean) * 2 - depth // 2, before[who]).astype(np.int32)
        after = (before[who] - gained).astype(np.int32)
        executed = np.where(after == 0, rng.integers(1, depth + 1), depth).astype(np.int8)
        half = np.full(len(who), 0.5, np.float32)
        actions, chances = np.zeros(len(who), np.uint32), [np.zeros(len(who), np.uint64)] * 4
        turns, start = np.full(len(who), turn, np.int16), before[who].astype(np.int32)
        parts.append((who, turns, depth, executed, start, after, after == 0, half, half, actions, *chances))
        before[who], alive[who] = after, after != 0
    return DecisionRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def some(instances: int, agents: int) -> Played:
    rng = np.random.default_rng(0)
    length = rng.integers(8, 25, instances).astype(np.int32)
    return Played(length, {f"agent-{i}": made_up(rng, length, 0.4 + 0.3 * i / agents) for i in range(agents)})


def everything(played: Played) -> tuple[float, list[dict[str, Any]], str]:
    """What ``recommit evaluate`` computes after playing; the first agent's share of solved instances in front."""
    episodes, summary = {}, []
    for name, rows in played.agents.items():
        for budget, k in BUDGETS.items():
            episodes[name, budget] = [metrics.episodes(rows, played.length, k)]
            figures = summaries.row([rows], episodes[name, budget], k)
            summary.append({"agent": name, "task": "sliding", "budget": budget, "seeds": 1, **figures})
    compared = summaries.compare(
        tuple(played.agents), BUDGETS, summaries.table(summaries.episode_columns(episodes)), priced=False
    )
    return summary[0]["solve_rate"], summary, tables.main_table(summary) + tables.comparisons(compared)


def recounted(rows: DecisionRows, length: NDArray[np.int32], k: int) -> dict[str, float]:
    """Figures of one agent, one decision after another."""
    solved, actions, progress = (np.zeros(len(length)) for _ in range(3))
    for i in np.flatnonzero(rows.turn < k):
        where = rows.instance[i]
        solved[where] = max(solved[where], rows.solved[i])
        actions[where] += rows.executed[i]
        progress[where] += int(rows.before[i]) - int(rows.after[i])
    return {
        "solve_rate": solved.mean(),
        "actions_per_episode": actions.mean(),
        "progress_per_action": (progress / np.maximum(actions, 1)).mean(),
    }


@pytest.mark.parametrize("size", [QUICK, pytest.param(WHOLE, marks=pytest.mark.nightly)], ids=["quick", "whole"])
def test_tables_of_episodes(timed: Timed, size: tuple[int, int]) -> None:
    played = some(*size)
    solved, summary, text = timed(lambda: everything(played), played.episodes)
    for budget, k in BUDGETS.items():
        figures = next(row for row in summary if row["agent"] == "agent-0" and row["budget"] == budget)
        for field, value in recounted(played.agents["agent-0"], played.length, k).items():
            assert figures[field] == pytest.approx(value, abs=1e-9), field
    assert solved == summary[0]["solve_rate"]
    assert all(name in text for name in played.agents)
