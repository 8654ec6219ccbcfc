"""What a configuration of a GRPO run means, and what it refuses."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.prices import Prices
from recommit.train.config import parse, plain
from recommit.train.grpo.config import GrpoConfig

EXACT = {"advantage": {"estimator": "exact"}}
LAST = {"steps": 2, "head_only": True, "head_updates": 7}


def test_phases_of_the_head_want_exact_values():
    for name, value in (("head_updates", 3), ("starts", 12), ("budgets", [2])):
        message = rf"phases\[1\]\.{name}: .* advantage\.estimator state, which does not read it \(exact does\), got"
        with pytest.raises(ValueError, match=message):
            plan_of(phases=[{"steps": 3}, {"steps": 1, name: value}])
    assert plan_of(phases=[{"steps": 4, "price_action": 0.1}]).last_prices == Prices(0.1, 0.0)


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        ({"steps": 4, "head_only": True}, r"phases\.head_updates: expected at least 1 with phases\.head_only, got 0"),
        (
            {"steps": 4, "depth_head_lr": 0.1},
            r"phases\.depth_head_lr: expected 0 without phases\.head_updates, got 0\.1",
        ),
        ({"steps": 4, "starts": 7}, r"phases\[0\]\.starts: expected a multiple of rollout\.instances 6, got 7"),
        ({"steps": 4, "budgets": [0]}, r"phases\.budgets: expected numbers from 1 on, got \(0,\)"),
        ({"steps": 4, "price_action": -1}, r"phases\.price_action: expected at least 0, got -1\.0"),
    ],
)
def test_phases_that_cannot_be_are_refused(phase, message):
    with pytest.raises(ValueError, match=message):
        plan_of(**EXACT, phases=[phase])


def test_phases_have_all_steps():
    exact = {**EXACT, "phases": [{"steps": 23}, {"steps": 13, "head_updates": 10}, LAST]}
    assert [plan_of(**exact).phase_at(step).steps for step in (0, 22, 23, 35, 36, 37)] == [23, 23, 13, 13, 2, 2]
    with pytest.raises(ValueError, match=r'phases: expected optim\.steps 100 in all, got 38; --set "phases=\[\]"'):
        plan_of(**exact, optim={"steps": 100})
    with pytest.raises(ValueError, match=r"phases\[1\]\.head_updates: expected 0 with variant random, .* got 10"):
        plan_of(**exact, variant="random")


@pytest.mark.parametrize(
    ("estimator", "name", "value", "readers"),
    [
        ("exact", "progress", 0.1, "state"),
        ("state", "max_expansions", 2, "exact does"),
        ("episode", "follow", "best", "state and branch do"),
    ],
)
def test_what_an_estimator_does_not_read_is_refused(estimator, name, value, readers):
    message = rf"advantage\.{name}: .* advantage\.estimator {estimator}, which does not read it \({readers}.*\), got"
    with pytest.raises(ValueError, match=message):
        parse(GrpoConfig, {"advantage": {"estimator": estimator, name: value}})
    reader = "exact" if readers.startswith("exact") else "state"
    assert getattr(parse(GrpoConfig, {"advantage": {"estimator": reader, name: value}}).advantage, name) == value


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"advantage": {"estimator": "all"}}, r"advantage\.estimator: expected state, .* or exact, got all"),
        ({"finish": {"share": 0.1}}, r"recipe: expected fields of .*phases.*, got finish"),
        ({"tasks": ["sliding-3x3", "slidng"]}, r"task: expected one of sliding, sokoban, ice, got 'slidng'"),
        ({"validation": {"budgets": [0]}}, r"validation\.budgets: expected numbers from 1 on"),
        (
            {"variant": "fixed-4", "objective": {"ratio": "joint"}},
            r"objective\.ratio: expected factor with variant fixed-4",
        ),
        ({"objective": {"ratio": "joint", "loss_normalization": "length"}}, r"objective\.loss_normalization: expected"),
        ({**EXACT, "objective": {"loss_normalization": "length"}}, r"objective\.loss_normalization: .* got length"),
        (
            {"variant": "depth-only", "objective": {"loss_normalization": "length"}},
            r"objective\.loss_normalization: expected surrogate or constant with variant depth-only, .* got length",
        ),
        ({"advantage": {"penalty": 0.5}}, r"advantage\.penalty: .* advantage\.deadlock penalty, .* got 0\.5 with zero"),
        (
            {"advantage": {"penalty": 0.5, "deadlock": "terminate"}},
            r"advantage\.penalty: expected .*, got 0\.5 with terminate",
        ),
        (
            {"advantage": {"estimator": "exact", "group_size": 1}},
            r"advantage\.group_size: expected at least 2 with advantage\.estimator exact, .* got 1",
        ),
        (
            {**EXACT, "objective": {"kl": 0.3}, "phases": [LAST]},
            r"objective\.kl: expected 0 with phases\[0\]\.head_updates 7, .* got 0\.3; .*kl_depth=false",
        ),
    ],
)
def test_what_cannot_be_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        parse(GrpoConfig, values)


def test_one_plan_is_enough_where_plans_do_not_learn():
    one = {"advantage": {"estimator": "exact", "group_size": 1}}
    assert parse(GrpoConfig, {**one, "variant": "depth-only"}).advantage.group_size == 1
    assert plan_of(**one, phases=[LAST]).advantage.group_size == 1
    with pytest.raises(ValueError, match=r"advantage\.group_size: expected at least 2"):
        plan_of(**one, phases=[{"steps": 2}, LAST])


def test_steps_of_more_starts_take_shards_that_no_other_step_takes():
    phases = [{"steps": 2}, {"steps": 1, "head_updates": 1, "starts": 18}, {"steps": 1}]
    plan = plan_of(**EXACT, phases=phases)
    assert [plan.shards_before(step) for step in range(5)] == [0, 1, 2, 5, 6]
    assert plan.starts == 6 * 6


def test_prices_move_from_the_first_to_the_last_step_and_a_phase_may_have_one():
    run = {
        "prices": {"action": [0.001, 0.005], "observation": [0.0, 0.04]},
        "optim": {"steps": 5},
    }
    plan = plan_of(**run, phases=[{"steps": 3}, {"steps": 2, "price_action": 0.002}])
    expected = [Prices(0.001, 0.0), Prices(0.002, 0.01), Prices(0.003, 0.02), Prices(0.002, 0.03), Prices(0.002, 0.04)]
    found = [plan.prices_at(step) for step in range(5)]
    for own, wanted in zip(found, expected, strict=True):
        assert vars(own) == pytest.approx(vars(wanted))
    assert plan.last_prices == found[-1]
    assert plan_of(**run).last_prices == Prices(0.005, 0.04)
    assert parse(GrpoConfig, plain(plan)) == plan


@pytest.mark.parametrize("price", [[0.1, -0.1], [0.1], "dear"])
def test_a_price_is_a_number_or_two(price):
    with pytest.raises(ValueError, match=r"prices\.action: expected"):
        plan_of(prices={"action": price})


@pytest.mark.parametrize("depths", [(2, 1), (0, 1), (8, 17)])
def test_depths_that_no_head_can_have_are_refused(depths):
    with pytest.raises(ValueError, match="depths: expected"):
        parse(GrpoConfig, {"depths": depths})
