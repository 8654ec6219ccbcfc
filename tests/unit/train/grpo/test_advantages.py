"""Rewards and advantages against plain Python, and the cases that go wrong elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.reference import grpo as slow
from tests.refusals import refused

from recommit.graph.policy_evaluation import GraphValues
from recommit.prices import Prices
from recommit.train.grpo import advantages
from recommit.train.grpo import reward as rewards
from recommit.train.grpo.config import AdvantageConfig
from recommit.train.grpo.reward import OwnReward, Spans


@pytest.mark.parametrize("progress", [0.2, 0.0])
@pytest.mark.parametrize("price", [0.0, 0.01])
@pytest.mark.parametrize("deadlock", ["zero", "penalty"])
def test_rewards_equal_plain_python(progress, price, deadlock):
    config = AdvantageConfig("episode", progress=progress, deadlock=deadlock)
    prices = Prices(price, price / 2)
    draw = np.random.default_rng(0)
    solved, lost = draw.random(300) < 0.4, draw.random(300) < 0.2
    executed, decisions = draw.integers(0, 40, 300), draw.integers(1, 9, 300)
    gained = draw.integers(-20, 20, 300)
    fast = rewards.rewards(Spans(solved, gained, executed, decisions, lost), config, prices)
    rows = zip(solved, gained, executed, decisions, lost, strict=True)
    wanted = [slow.reward(*map(int, row[:4]), config, prices, bool(row[4])) for row in rows]
    assert fast == pytest.approx(wanted, rel=1e-12)


def test_the_papers_reward_keeps_its_bounds():
    """One commitment of the sliding puzzle: every action changes the distance by at most one."""
    executed = np.repeat(np.arange(1, 9), 17)
    progress = np.clip(np.tile(np.arange(-8, 9), 8), -executed, executed)
    for solved in (False, True):
        spans = Spans(np.full(len(executed), solved), progress, executed, np.ones_like(executed), np.zeros(136, bool))
        found = rewards.rewards(spans, AdvantageConfig(), Prices())
        assert found.min() == pytest.approx(solved - 0.1523, abs=1e-4)
        assert found.max() == pytest.approx(solved + 0.1523, abs=1e-4)


def test_progress_before_a_deadlock_counts():
    """Five actions forward, the sixth loses the level: eight were executed, and tanh(5 / 8) of them count."""
    distances = [19, 18, 17, 16, 15, 14, -1, -1, -1]
    gained = {per: slow.progress(distances, per) for per in ("action", "commitment")}
    assert gained == {"action": 5, "commitment": 0}
    spans = Spans(*map(np.array, (False, gained["action"], 8, 1, True)))
    assert float(rewards.rewards(spans, AdvantageConfig(), Prices())) == pytest.approx(0.111, abs=5e-4)


def test_ten_thousand_groups_equal_plain_python():
    draw = np.random.default_rng(1)
    reward = draw.normal(size=(10_000, 4)) * 10.0 ** draw.integers(-9, 3, (10_000, 1))
    reward[::7] = reward[::7, :1]  # equal rewards
    reward[::11, 1] = reward[::11, 0]
    for scale in ("group", "none"):
        found = advantages.in_groups(reward, scaled=scale == "group")
        assert np.isfinite(found).all()
        assert (found[::7] == 0).all()
        wanted = np.array([slow.advantages(list(group), scale) for group in reward])
        small = np.abs(reward).max(axis=1) < 1e-11  # below eps there is nothing but rounding
        assert np.abs(found - wanted)[~small].max() <= 1e-6 * np.abs(wanted).max()


def test_equal_rewards_that_differ_by_rounding_are_dead():
    reward = np.full((1, 8), 0.1) * 3
    reward[0, 3] = 0.1 + 0.2
    assert (advantages.in_groups(reward, scaled=True) == 0).all()
    assert advantages.zero_std_fraction(np.vstack([reward, np.arange(8.0)[None]])) == 0.5


def test_failures_do_not_pay():
    """If they did, all of a group could fail, and the shortest would look best."""
    config, prices = AdvantageConfig(progress=0.0), Prices(0.01, 0.02)
    failed, executed = np.zeros((1, 4), bool), np.array([[15, 30, 60, 120]])
    spans = Spans(failed, 0 * executed, executed, 0 * executed + 15, failed)
    assert (advantages.in_groups(rewards.rewards(spans, config, prices), scaled=True) == 0).all()


def test_a_reward_of_ones_own(tmp_path):
    """It sees what every span has, and its numbers are the rewards."""
    (tmp_path / "mine.py").write_text("def reward(spans):\n    return 2.0 * spans.solved - 0.1 * spans.decisions\n")
    spans = Spans(*(np.array(each) for each in ([True, False], [3, -1], [4, 2], [1, 3], [False, True])))
    config = OwnReward(function=rewards.own_reward(tmp_path / "mine.py"))
    assert rewards.rewards(spans, config, Prices(0.5, 0.5)).tolist() == pytest.approx([1.9, -0.3])


def test_what_gives_no_rewards_is_refused(tmp_path):
    def rewards_of(code):
        (tmp_path / "mine.py").write_text(code)
        return rewards.rewards(Spans.none(2), OwnReward(function=rewards.own_reward(tmp_path / "mine.py")), Prices())

    refused(
        [
            (lambda: rewards_of("reward = 3"), "to define a function `reward`, got 3"),
            (lambda: rewards_of("def reward(spans): return 1"), "expected an array [2] of finite numbers of the fun"),
            (lambda: rewards_of("def reward(spans): return [1.0, float('nan')]"), "with NaN or infinity"),
            (lambda: rewards_of("def other(spans): return 0"), "got None"),
            (lambda: rewards_of("1 / 0"), "line 1: ZeroDivisionError"),
            (lambda: rewards.own_reward(str(tmp_path / "typo.py")), "reward: expected a file of Python, got "),
        ]
    )


def test_plans_are_compared_depth_by_depth():
    """Two plans; the second lands better at depth 2 and equal at depth 1: only its second action earns."""
    none = np.zeros(0)
    values = GraphValues(
        value=np.array([[0.2, 0.2, 0.6], [0.0] * 3]),
        q_values=none,
        visits=np.array([[0.0], [1.0]]),
        advantage=none,
        by_distance=np.zeros((2, 4)),
        distance=none,
        begin=none,
        exact_fraction=1.0,
    )
    landing = np.array([[[0, 1], [0, 2]]])
    returns = values.returns(np.array([0]), landing, np.ones((1, 2, 2), int), np.zeros((1, 2, 2), bool))
    executed = np.array([[[1, 2], [1, 2]]])
    advantage, weight = advantages.plan_advantages(returns - 0.02, np.array([[0.5, 0.5]]), (1, 2), executed, 8)
    assert weight[0, 0].tolist() == [1.0, 0.5, 0, 0, 0, 0, 0, 0]
    assert advantage[0, :, 1].tolist() == pytest.approx([-0.2, 0.2])
    assert advantage[0, :, 0].tolist() == pytest.approx([-0.1, 0.1])
    assert (advantage[0, :, 2:] == 0).all()
