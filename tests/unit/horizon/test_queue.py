"""The queue of a batch: prefixes of plans, one after the other, per environment."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recommit import horizon

HORIZON = 6


@dataclasses.dataclass(frozen=True)
class Drawn(horizon.Rule):
    """Depths that the plan's own first feature names."""

    def propose(self, plans):
        return plans.features[:, 0].astype(np.int32)


class Policy:
    """Numbers every action that it ever plans, so that a skipped or repeated one shows."""

    def __init__(self, rng, vectors=False):
        self.rng, self.vectors = rng, vectors
        self.next = 0
        self.prefixes: dict[int, list] = {}

    def look(self, rows):
        actions = self.next + np.arange(len(rows) * HORIZON).reshape(len(rows), HORIZON)
        self.next += actions.size
        depths = self.rng.integers(1, HORIZON + 1, len(rows))
        for row, plan, depth in zip(rows.tolist(), actions.tolist(), depths.tolist(), strict=True):
            self.prefixes.setdefault(row, []).append(plan[:depth])
        if self.vectors:
            actions = np.stack([actions, -actions], axis=2).astype(np.float64)
        return horizon.Plans(actions, features=depths[:, None].astype(np.float64))


def play(queue, policy, rng, steps):
    """Random calls; the executed actions of each episode, and the prefixes that they must be made of."""
    streams: dict[int, list] = {row: [] for row in range(queue.count)}
    ended = []
    for _ in range(steps):
        rows = np.flatnonzero(rng.random(queue.count) < 0.8)
        actions = queue.act(policy.look, rows)
        for row, action in zip(rows.tolist(), actions, strict=True):
            streams[row].append(int(np.ravel(action)[0]))
        over = np.flatnonzero(rng.random(queue.count) < 0.1)
        queue.reset(over)
        ended += [(streams[row], policy.prefixes.pop(row, [])) for row in over.tolist()]
        streams |= {row: [] for row in over.tolist()}
    return ended + [(streams[row], policy.prefixes.get(row, [])) for row in range(queue.count)]


def check(stream, prefixes):
    """The concatenation of prefixes, cut off where the episode ended, within the last of them."""
    whole = [action for prefix in prefixes for action in prefix]
    assert stream == whole[: len(stream)]
    assert len(whole) - len(stream) < (len(prefixes[-1]) if prefixes else 1)


def check_all(episodes):
    for stream, prefixes in episodes:
        check(stream, prefixes)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 7), st.booleans())
def test_the_stream_is_the_concatenation_of_prefixes(seed, count, vectors):
    rng = np.random.default_rng(seed)
    queue = horizon.Queue(Drawn(), count)
    episodes = play(queue, Policy(rng, vectors), rng, 40)
    check_all(episodes)
    assert len(queue.decisions) == sum(len(prefixes) for _, prefixes in episodes)


class Skips(horizon.Queue):
    """A planted defect: a reset leaves what is queued."""

    def reset(self, rows=None):
        self._episode[self._rows(rows)] += 1


class Repeats(horizon.Queue):
    """A planted defect: the last action of a commitment runs again."""

    def pop(self, rows=None):
        actions = super().pop(rows)
        self._place[self.remaining == 0] -= np.random.default_rng(int(self.t.sum())).random() < 0.3
        return actions


@pytest.mark.parametrize("defective", [Skips, Repeats])
def test_a_defective_queue_is_caught(defective):
    rng = np.random.default_rng(1)
    episodes = play(defective(Drawn(), 4), Policy(rng), rng, 60)
    with pytest.raises(AssertionError):
        check_all(episodes)


def test_stale_actions_of_a_late_plan_are_dropped():
    """Asked for with two actions left, it arrives two ticks later, or one: the rest of the old plan goes then."""
    queue, plan = horizon.Queue(horizon.Fixed(4)), horizon.Plans(np.arange(6)[None])
    queue.fill(plan)
    first = [int(queue.pop()[0]) for _ in range(4)]
    queue.fill(horizon.Plans(np.arange(10, 16)[None]), stale=2)
    second = [int(queue.pop()[0]) for _ in range(3)]
    queue.fill(horizon.Plans(np.arange(20, 26)[None]), stale=1)
    assert (first, second) == ([0, 1, 2, 3], [12, 13, 14])
    assert queue.remaining.tolist() == [4]
    assert queue.act(None).tolist() == [21]
    assert [(each.t, each.k, each.h) for each in queue.decisions] == [(0, 0, 4), (4, 1, 4), (7, 2, 4)]


def test_a_memory_belongs_to_episodes():
    queue = horizon.Queue(horizon.WithMemory(horizon.Fixed(2, depths=(1, 2))), 2)

    def look(rows):
        return horizon.Plans(np.zeros((len(rows), 2), int), keys=np.zeros(len(rows), int))

    for _ in range(3):
        queue.act(look)
    queue.reset([0])
    queue.act(look)
    assert [(each.environment, each.h) for each in queue.decisions] == [(0, 2), (1, 2), (0, 1), (1, 1), (0, 2), (1, 2)]


def test_the_plans_of_decisions_are_there_for_thresholds():
    class Counts(horizon.ThresholdRule):
        """Reads what the last plan still held, and says one action."""

        def by_place(self, plans):
            return np.stack([plans.previous.remaining * 1.0] * plans.horizon)

    queue, rng = horizon.Queue(horizon.Fixed(3), 2, keep=True), np.random.default_rng(0)
    drawn = []

    def look(rows):
        drawn.append(rng.integers(0, 9, (len(rows), 4)))
        return horizon.Plans(drawn[-1], features=rows[:, None] * 1.0)

    for rows in ([0], [0, 1], [0, 1], [0], [0, 1], [1]):
        queue.act(look, rows)
    assert queue.plans.actions.tolist() == np.concatenate(drawn).tolist()
    assert queue.plans.features[:, 0].tolist() == [each.environment for each in queue.decisions] == [0, 1, 0, 1]
    assert queue.plans.previous.remaining.tolist() == [0, 0, 1, 1]
    assert Counts(0.5).thresholds(queue.plans, 2).tolist() == [0.0, 1.0]
