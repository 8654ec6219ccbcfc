"""Metrics against plain Python on random episodes, and the laws that any episodes obey."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import metrics as slow

pytest.importorskip("torch")

from recommit.evaluate import metrics, summaries
from recommit.prices import Prices
from recommit.rollout.decision_rows import DecisionRows

LARGEST = 6


def random_episodes(count, seed):
    """Made-up decisions that obey the rules: distances from nowhere, dead states stay dead."""
    draw = np.random.default_rng(seed)
    every, length = [], draw.integers(0, 20, count)
    for start in length:
        here, decisions = int(start), []
        for _ in range(LARGEST):
            if here == 0:
                break
            depth = int(draw.choice([1, 2, 4, 8]))
            executed = int(draw.integers(1, depth + 1)) if draw.random() < 0.2 else depth
            after = here if here < 0 else int(max(here - draw.integers(-executed, executed + 1), 0))
            if draw.random() < 0.05:
                after = -1
            decisions.append((depth, executed, here, after, after == 0))
            here = after
        every.append(decisions)
    return every, length.astype(np.int32)


def rows_of(every):
    lines = [(turn, i, *d) for i, decisions in enumerate(every) for turn, d in enumerate(decisions)]
    lines.sort()
    turn, who, depth, executed, before, after, solved = (np.array(c) for c in zip(*lines, strict=True))
    nothing = np.full(len(lines), np.nan, np.float32)
    kinds = (np.int32, np.int16, np.int8, np.int8, np.int32, np.int32, np.bool_)
    columns = (c.astype(k) for c, k in zip((who, turn, depth, executed, before, after, solved), kinds, strict=True))
    words = (np.zeros(len(lines), kind) for kind in (np.uint32, *[np.uint64] * 4))
    return DecisionRows(*columns, nothing, nothing, *words)


@pytest.mark.parametrize("seed", range(5))
def test_episodes_equal_plain_python_under_every_budget(seed):
    every, length = random_episodes(300, seed)
    rows = rows_of(every)
    for budget in range(1, LARGEST + 1):
        fast = metrics.episodes(rows, length, budget)
        for i, decisions in enumerate(every):
            wanted = slow.episode(decisions, int(length[i]), budget)
            assert {name: int(getattr(fast, name)[i]) for name in wanted} == {k: int(v) for k, v in wanted.items()}
        prices = Prices(0.01, 0.07)
        paid = [
            0.01 * one["actions"] + 0.07 * one["decisions"]
            for one in (slow.episode(d, int(n), budget) for d, n in zip(every, length, strict=True))
        ]
        table = summaries.table(summaries.episode_columns({("x", "y"): [fast]}), prices=prices)
        assert table.values("x", "y", "returns") == pytest.approx(fast.solved - np.array(paid))
        told = metrics.summarise(fast, rows, budget)
        slow_ones = [slow.episode(d, int(n), budget) for d, n in zip(every, length, strict=True)]
        assert told["spl"] == pytest.approx(np.mean([slow.spl(one) for one in slow_ones]))
        assert told["solve_rate"] == pytest.approx(np.mean([one["solved"] for one in slow_ones]))
        per = [one["progress"] / one["actions"] if one["actions"] else 0 for one in slow_ones]
        assert told["progress_per_action"] == pytest.approx(np.mean(per))
        assert sum(told["depth_shares"].values()) == pytest.approx(1)
        near = metrics.by_distance(rows, fast, budget, solved_only=False)
        assert sum(bucket["count"] for bucket in near.values()) == sum(one["decisions"] for one in slow_ones)


@pytest.mark.parametrize("edges", metrics.EDGES)
@pytest.mark.parametrize("solved_only", [True, False])
def test_near_and_far_by_every_edge(edges, solved_only):
    every, length = random_episodes(60, 6)
    rows = rows_of(every)
    played = metrics.episodes(rows, length, LARGEST)
    fast = metrics.by_distance(rows, played, LARGEST, solved_only=solved_only, edges=edges)
    chosen = [
        (depth, before, int(length[i]), max(before, 0) - max(after, 0) if after >= 0 else 0)
        for i, decisions in enumerate(every)
        for depth, _, before, after, _ in decisions
        if played.solved[i] or not solved_only
    ]
    sides = slow.sides([(before, start) for _, before, start, _ in chosen], edges)
    for name in metrics.BUCKETS:
        own = [line for line, side in zip(chosen, sides, strict=True) if side == name]
        assert fast[name]["count"] == len(own)
        if own:
            assert fast[name]["mean_depth"] == pytest.approx(np.mean([depth for depth, *_ in own]))
            assert fast[name]["mean_progress"] == pytest.approx(np.mean([0 if b < 0 else g for _, b, _, g in own]))
    assert solved_only or all(fast[name]["count"] for name in metrics.BUCKETS)


def test_episodes_that_end_where_they_are_lost():
    every, length = random_episodes(300, 4)
    rows = metrics.until_lost(rows_of(every))
    fast = metrics.episodes(rows, length, LARGEST)
    ended = [[d for d in decisions if d[2] >= 0] for decisions in every]
    assert sum(map(len, ended)) < sum(map(len, every))
    for i, decisions in enumerate(ended):
        wanted = slow.episode(decisions, int(length[i]), LARGEST)
        assert {name: int(getattr(fast, name)[i]) for name in wanted} == {k: int(v) for k, v in wanted.items()}
    whole = metrics.episodes(rows_of(every), length, LARGEST)
    assert np.array_equal(fast.solved, whole.solved)
    assert np.array_equal(fast.lost, whole.lost)
    assert fast.actions[whole.lost].sum() < whole.actions[whole.lost].sum()


def test_an_agent_of_several_seeds_is_all_of_them():
    """By distance too; and a seed that solves nothing takes no share of the depths of solved episodes."""
    seeds = (
        [[(4, 4, 6, 2, False), (2, 2, 2, 0, True)], [(1, 1, 6, 5, False)]],
        [[(8, 8, 6, 3, False)], [(8, 8, 6, 4, False)]],
        [[(2, 2, 6, 6, False)], [(1, 1, 6, 5, False), (8, 5, 5, 0, True)]],
    )
    rows, length = [rows_of(one) for one in seeds], np.full(2, 6, np.int32)
    row = summaries.row(rows, [metrics.episodes(one, length, LARGEST) for one in rows], LARGEST)
    assert row["depth_shares_solved"] == {"1": 0.25, "2": 0.25, "4": 0.25, "8": 0.25}
    near, solved = row["by_distance"]["near"], row["by_distance_solved"]["near"]
    assert (near["count"], near["mean_depth"]) == (8, (4 + 2 + 1 + 8 + 8 + 2 + 1 + 8) / 8)
    assert (solved["count"], solved["mean_depth"]) == (4, (4 + 2 + 1 + 8) / 4)
    assert summaries.averaged([{"depth_shares_solved": {}}]) == {"depth_shares_solved": {}}


def test_what_nobody_knows_is_not_lost():
    rows = rows_of([[(1, 1, 5, -2, False), (1, 1, -2, 3, False)], [(1, 1, 5, -2, False)], [(1, 1, 5, -1, False)]])
    assert len(metrics.until_lost(rows)) == len(rows)
    assert metrics.episodes(rows, np.full(3, 5, np.int32), LARGEST).lost.tolist() == [False, False, True]


def test_a_planted_defect_is_caught():
    """The slow twin tells the difference if the last decision of each episode is dropped."""
    every, length = random_episodes(50, 9)
    rows = rows_of([decisions[:-1] for decisions in every])
    fast = metrics.episodes(rows, length, LARGEST)
    wanted = [slow.episode(d, int(n), LARGEST)["actions"] for d, n in zip(every, length, strict=True)]
    assert fast.actions.tolist() != wanted
