"""What a configuration of a reinforcement run means, and what it refuses."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.graph.prices import Prices
from recommit.train.grpo.config import GrpoConfig
from recommit.train.grpo.settings.phases import GrpoPhase
from recommit.train.parsing import parse, plain

LAST = {"steps": 2, "head_only": True, "head_updates": 7}


def test_phases_of_the_head_want_the_exact_program():
    for name, value in (("head_updates", 3), ("starts", 12), ("budgets", [2])):
        message = rf"phases\[1\]\.{name}: expected no such field with credit\.group state, .* \(exact does\), got"
        with pytest.raises(ValueError, match=message):
            plan_of(phases=[{"steps": 3}, {"steps": 1, name: value}])
    assert plan_of(phases=[{"steps": 4, "price_action": 0.1, "price_observation": 0.2}]).last_prices == Prices(0.1, 0.2)


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        ({"steps": 0}, r"phases\.steps: expected at least 1, got 0"),
        ({"steps": 4, "head_only": True}, r"phases\.head_updates: expected at least 1 with phases\.head_only, got 0"),
        ({"steps": 4, "head_lr": 0.1}, r"phases\.head_lr: expected 0 without phases\.head_updates, got 0\.1"),
        ({"steps": 4, "starts": 7}, r"phases\[0\]\.starts: expected a multiple of rollout\.instances 6, got 7"),
        ({"steps": 4, "budgets": [0]}, r"phases\.budgets: expected numbers from 1 on, got \(0,\)"),
        ({"steps": 4, "price_action": -1}, r"phases\.price_action: expected at least 0, got -1\.0"),
        ({"steps": 4, "price_observation": -1}, r"phases\.price_observation: expected at least 0, got -1\.0"),
        ({"steps": 4, "price": 0.1}, r"phases\[0\]: expected fields of steps, .*, got price"),
    ],
)
def test_phases_that_cannot_be_are_refused(phase, message):
    with pytest.raises(ValueError, match=message):
        plan_of(credit={"group": "exact"}, phases=[phase])


def test_phases_say_how_many_steps_there_are():
    exact = {"credit": {"group": "exact"}, "phases": [{"steps": 23}, {"steps": 13, "head_updates": 10}, LAST]}
    alone = parse(GrpoConfig, {**exact, "rollout": {"instances": 6}})
    assert alone.optim.steps == 38
    assert parse(GrpoConfig, plain(alone)) == alone
    for steps, parts in ((38, [23, 13, 2]), (10, [6, 3, 1]), (2, [1, 1]), (76, [46, 26, 4])):
        assert [phase.steps for phase in plan_of(**exact, optim={"steps": steps}).phases] == parts
    with pytest.raises(ValueError, match=r"phases: expected optim\.steps 100 in all, got 38"):
        GrpoConfig(credit=alone.credit, phases=alone.phases)


def test_a_depth_that_no_head_chooses_leaves_out_what_is_the_heads():
    exact = {"credit": {"group": "exact"}, "rollout": {"instances": 6}}
    phases = [{"steps": 3, "head_updates": 5, "budgets": [2]}, {**LAST, "price_action": 0.5, "starts": 60}]
    for name in ("fixed-2", "random"):
        assert (
            plan_of(**exact, variant=name, phases=[{"steps": 3, "head_updates": 5}, LAST], optim={"steps": 5}).phases
            == ()
        )
        assert plan_of(**exact, variant=name, phases=phases, optim={"steps": 5}).phases == (
            GrpoPhase(3, budgets=(2,)),
            GrpoPhase(2),
        )


def test_budgets_of_the_exact_program():
    for budgets in ((0,), (2, -1)):
        with pytest.raises(ValueError, match=r"credit\.budgets: expected numbers from 1 on"):
            plan_of(credit={"budgets": budgets, "group": "exact"}, rollout={"budget": 3})
    assert plan_of(credit={"budgets": (1, 3), "group": "exact"}, rollout={"budget": 3}).credit.budgets == (1, 3)
    with pytest.raises(ValueError, match=r"validation\.budgets: expected numbers from 1 on"):
        plan_of(validation={"budgets": [0]})


SAMPLED = [("reward", "solved"), ("progress", 0.1), ("deadlock", "penalty"), ("follow", "best")]
EXACT = [("width", 2), ("depth_weighting", "even"), ("budgets", [2])]


@pytest.mark.parametrize(
    ("group", "name", "value", "readers"),
    [
        *(("exact", name, value, "state") for name, value in SAMPLED),
        *(("state", name, value, "exact does") for name, value in EXACT),
        ("episode", "follow", "best", "state and branch do"),
    ],
)
def test_what_a_kind_of_credit_does_not_read_is_refused(group, name, value, readers):
    message = rf"credit\.{name}: expected no such field with credit\.group {group}, .*\({readers}.*\), got"
    with pytest.raises(ValueError, match=message):
        parse(GrpoConfig, {"credit": {"group": group, name: value}})
    reader = "exact" if readers.startswith("exact") else "state"
    kind = parse(GrpoConfig, {"credit": {"group": reader, name: value}}).credit
    assert getattr(kind, name) == (tuple(value) if isinstance(value, list) else value)


def test_what_no_kind_reads_is_an_unknown_field():
    with pytest.raises(ValueError, match=r"credit: expected fields of .*width.*, got price"):
        parse(GrpoConfig, {"credit": {"group": "exact", "price": 1}})
    with pytest.raises(ValueError, match=r"credit\.group: expected state, episode, branch or exact, got 'all'"):
        parse(GrpoConfig, {"credit": {"group": "all"}})
    with pytest.raises(ValueError, match=r"recipe: expected fields of .*phases.*, got finish"):
        parse(GrpoConfig, {"finish": {"share": 0.1}})


def test_phases_may_have_budgets_and_a_price_of_their_own():
    exact = {"group": "exact", "price_action": [0.001, 0.005], "budgets": (2,)}
    run = {"credit": exact, "rollout": {"budget": 3}}
    plan = plan_of(**run, phases=[{"steps": 3}, {**LAST, "budgets": (2, 3), "price_action": 0.002}], optim={"steps": 5})
    steps = [plan.credit_at(step) for step in range(5)]
    assert [each.prices.action for each in steps] == pytest.approx([0.001, 0.002, 0.003, 0.002, 0.002])
    assert [each.budgets for each in steps] == [(2,)] * 3 + [(2, 3)] * 2
    assert [plan.phase_at(step).head_updates for step in range(5)] == [0, 0, 0, 7, 7]
    same = plan_of(**run, phases=[{"steps": 3}, LAST], optim={"steps": 5})
    assert [same.credit_at(step).prices.action for step in (3, 4)] == pytest.approx([0.004, 0.005])
    assert same.credit_at(4).budgets == (2,)
    assert same.last_prices == Prices(0.005)
    assert plan_of().credit_at(3) == plan_of().credit


def test_steps_of_more_starts_take_shards_that_no_other_step_takes():
    phases = [{"steps": 2}, {"steps": 1, "head_updates": 1, "starts": 18}, {"steps": 1}]
    plan = plan_of(credit={"group": "exact"}, phases=phases)
    assert [plan.shards_before(step) for step in range(5)] == [0, 1, 2, 5, 6]
    assert plan.starts == 6 * 6


@pytest.mark.parametrize("group", ["state", "exact"])
def test_a_look_may_have_prices_from_first_to_last_and_one_in_a_phase(group):
    credit = {"group": group, "price_action": 0.01, "price_observation": [0.0, 0.04]}
    plan = plan_of(credit=credit, phases=[{"steps": 3}, {"steps": 2, "price_observation": 0.5}], optim={"steps": 5})
    steps = [plan.credit_at(step).prices for step in range(5)]
    assert [each.observation for each in steps] == pytest.approx([0.0, 0.01, 0.02, 0.5, 0.5])
    assert {each.action for each in steps} == {0.01}
    assert plan.last_prices == Prices(0.01, 0.5)
    assert parse(GrpoConfig, plain(plan)) == plan


@pytest.mark.parametrize("name", ["price_action", "price_observation"])
@pytest.mark.parametrize("price", [-0.1, [0.1, -0.1], [0.1], [0.1, 0.2, 0.3], "dear"])
def test_a_price_is_a_number_or_two(price, name):
    with pytest.raises(ValueError, match=rf"credit\.{name}: expected"):
        plan_of(credit={name: price})


def test_a_variant_that_would_learn_nothing_is_refused():
    with pytest.raises(ValueError, match=r"objective\.ratio: expected factor with variant fixed-4"):
        plan_of(variant="fixed-4", objective={"ratio": "joint"})
