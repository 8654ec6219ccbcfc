"""``docs/examples/depth_head.py``, the program that people copy: what it learns where the best depth is known."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.unit.horizon.sweep.toy import PERIOD, Signal, length, signal

from recommit import horizon

torch = pytest.importorskip("torch")
FILE = Path(__file__).parents[3] / "docs" / "examples" / "depth_head.py"
EVERY = tuple(range(1, PERIOD + 2))


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("depth_head", FILE)
    module = sys.modules["depth_head"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["depth_head"]


class Phases(Signal):
    """Shows the signal, and how long it has been so."""

    def _seen(self):
        return np.array([signal(self.seed, self.t), *(np.arange(PERIOD) == (self.t + self.seed) % PERIOD)], np.float32)


class Still:
    """A chunk repeats the signal, which is right until it changes."""

    def plan(self, observations):
        chunks = np.repeat(observations[:, None, :1], PERIOD + 1, axis=1)
        return horizon.Plans(np.concatenate([chunks, 0 * chunks], axis=2), features=observations)


def test_episodes_are_cut_into_commitments(program):
    """Returns and queries as counted by hand, also where an episode ends within a commitment."""
    for seed, episode in enumerate(program.play(Phases, Still(), horizon.Fixed(3), range(6), batch=4)):
        ticks = length(seed)
        wrong = [signal(seed, t) != signal(seed, t - t % 3) for t in range(ticks)]
        assert (episode.ret, episode.queries) == (-sum(wrong), -(-ticks // 3))
        assert sum(len(each.rewards) for each in episode.commitments) == ticks
        assert [each.terminated for each in episode.commitments] == [*[False] * (episode.queries - 1), True]
        assert {each.depth for each in episode.commitments} == {3}
        assert {each.observation[1:].argmax() for each in episode.commitments} <= set(range(PERIOD))


def test_the_head_commits_until_the_signal_changes(program):
    torch.manual_seed(0)
    explore = program.Random(np.random.default_rng(0), depths=EVERY)
    episodes = program.play(Phases, Still(), explore, range(300))
    head = program.train_head(episodes, Still(), EVERY, price=0.5, discount=0.98, rounds=8, steps=150)
    seen = np.array([[1, *row] for row in np.eye(PERIOD)], np.float32)
    assert head.choose(Still().plan(seen)).tolist() == list(range(PERIOD, 0, -1))
