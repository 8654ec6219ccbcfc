"""What a configuration of a reinforcement run means, and what it refuses."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import FINISHED, plan_of


def test_head_steps_want_the_exact_program():
    with pytest.raises(
        ValueError, match=r"credit\.head_steps: expected 0 without credit\.group exact, got 3 with state"
    ):
        plan_of(credit={"head_steps": 3})


def test_finishing_wants_the_exact_program():
    with pytest.raises(ValueError, match=r"finish\.share: expected 0 without credit\.group exact"):
        plan_of(finish={"share": 0.1})
    with pytest.raises(ValueError, match=r"finish\.share: expected a share 0\.\.1 of the steps, got 5"):
        plan_of(**{**FINISHED, "finish": {"share": 5}})
    assert [plan_of(**FINISHED, optim={"steps": n}).joint_steps for n in (1, 2, 5)] == [0, 1, 2]


def test_budgets_of_the_exact_program():
    for budgets, group in (((0,), "exact"), ((2, -1), "exact"), ((2,), "state")):
        with pytest.raises(ValueError, match=r"credit\.budgets: expected numbers from 1 on with credit\.group exact"):
            plan_of(credit={"budgets": budgets, "group": group}, rollout={"budget": 3})
    assert plan_of(credit={"budgets": (1, 3), "group": "exact"}, rollout={"budget": 3}).credit.budgets == (1, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("price_decision", 0.1), ("price_failed", True), ("deadlock", "penalty"), ("follow", "best")],
)
def test_the_exact_program_refuses_what_it_does_not_count(name, value):
    with pytest.raises(ValueError, match=rf"credit\.{name}: expected .* with credit\.group exact, .* got {value}"):
        plan_of(credit={"group": "exact", name: value})
    assert getattr(plan_of(credit={"group": "branch", name: value}).credit, name) == value


def test_the_finish_may_have_budgets_and_a_price_of_its_own():
    exact = {"group": "exact", "price_first": 0.001, "price_action": 0.005, "budgets": (2,)}
    given = {"credit": exact, "rollout": {"budget": 3}, "optim": {"steps": 5}}
    plan = plan_of(**given, finish={"share": 0.4, "budgets": (2, 3), "price": 0.002, "moves": 7})
    found = [plan.credit_at(step) for step in range(5)]
    assert [one.price_action for one in found] == pytest.approx([0.001, 0.002, 0.003, 0.002, 0.002])
    assert [one.budgets for one in found] == [(2,)] * 3 + [(2, 3)] * 2
    assert [one.head_steps for one in found] == [0, 0, 0, 7, 7]
    same = plan_of(**given, finish={"share": 0.4})
    assert [same.credit_at(step).price_action for step in (3, 4)] == pytest.approx([0.004, 0.005])
    assert same.credit_at(4).budgets == (2,)
    with pytest.raises(ValueError, match=r"finish\.budgets: expected numbers from 1 on"):
        plan_of(**given, finish={"share": 0.4, "budgets": (0,)})
    assert plan_of(finish={"budgets": (4,)}).finish.share == 0, "nothing finishes: a recipe's budgets do not matter"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": {"ratio": "joint"}}, "objective.ratio: expected factor with variant fixed-4"),
        ({"rollout": {"actions": "greedy"}}, "rollout.actions: expected sampled with variant fixed-4"),
    ],
)
def test_a_variant_that_would_learn_nothing_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        plan_of(variant="fixed-4", **change)


def test_credit_changes_along_the_run():
    credit = plan_of(
        credit={"group": "exact", "head_steps": 5, "head_after": 0.5, "price_first": 0.001, "price_action": 0.005}
    ).credit
    prices = [credit.at(step, 5).price_action for step in range(5)]
    assert prices == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005])
    assert [credit.at(step, 5).head_steps for step in range(5)] == [0, 0, 5, 5, 5]
    assert plan_of().credit.at(3, 4) == plan_of().credit
    with pytest.raises(ValueError, match=r"credit.head_after: expected a share 0\.\.1 of the run, got 3"):
        plan_of(credit={"head_after": 3})
