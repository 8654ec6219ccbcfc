"""Validation on instances outside every training set, with figures that an exact player confirms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import recommit.data
from recommit.data import assignment
from recommit.graph.episodes import Episodes
from recommit.prices import Prices
from recommit.runs.distributed import Team
from recommit.train import initial_policy, validation
from recommit.train.config import ValidationConfig

#: More than there are.
CONFIG = ValidationConfig(instances=20, budget=4)
#: What a validation needs of an engine.
ALONE = SimpleNamespace(run=lambda work: work(), team=Team(), equal_passes=False)


@pytest.fixture
def dataset(data):
    return recommit.data.open(data)


def test_instances_are_of_the_validation_split(dataset):
    (made,) = validation.tasks_of("it", dataset.spec, CONFIG)
    assert len(made.starts) == 15, "a 2x3 board has 18 such starts, fewer than 20"
    assert assignment.belongs(assignment.keys("sliding", made.starts), "validation").all()
    assert (made.states.distance > 0).all()
    assert len(set(made.states.distance.tolist())) > 3
    (longer,) = validation.tasks_of("it", dataset.spec, ValidationConfig(instances=6, length=(10, 12)))
    assert set(dataset.puzzle.distance(longer.starts).tolist()) <= {10, 11, 12}


class Perfect:
    """Plays optimally, and counts what it is asked."""

    config = SimpleNamespace(depths=(1, 2, 4, 8), plan_length=8, budget_conditioned=False)
    plans_first = True
    asked = 0

    def plan(self, task, states, depths):
        self.asked += len(states)
        plans = np.zeros((len(states), 8), np.uint8)
        solutions = task.solve(states)
        for i, (begin, end) in enumerate(zip(solutions.offsets[:-1], solutions.offsets[1:], strict=True)):
            plans[i, : min(end - begin, 8)] = solutions.actions[begin:end][:8]
        return (
            np.zeros((len(states), 2), np.float32),
            np.zeros((len(states), 4), np.float32),
            np.repeat(plans[:, None], len(depths), axis=1),
            np.zeros((len(states), 1, 8, 4), np.float32),
        )


def test_an_exact_player_solves_what_the_budget_allows(dataset):
    (made,) = validation.tasks_of("it", dataset.spec, CONFIG)
    player = Perfect()
    found = validation.episodes(player, made, ALONE)
    length = dataset.puzzle.distance(made.starts)
    for depth in player.config.depths:
        assert found["solved"][str(depth)] == pytest.approx((length <= 4 * depth).mean(), abs=1e-4)
        spent = np.where(length <= 4 * depth, length, 4 * depth)
        assert found["actions"][str(depth)] == pytest.approx(spent.mean(), abs=0.01)
    assert player.asked < 20 * 4 * 4, "states that were seen before are not asked again"


def test_measures_are_complete_and_repeatable(dataset, tmp_path, plan):
    policy = initial_policy.new_policy(plan.model, tmp_path, 0, Team()).train()
    (made,) = validation.tasks_of("it", dataset.spec, CONFIG)
    found = validation.measure(policy, made, ALONE)
    assert policy.training
    assert set(found) == {"loss", "optimal", "accuracy", "solved", "actions"}
    assert found == validation.measure(policy, made, ALONE)
    better = {**found, "solved": {"1": 1.0}}
    assert validation.score(better) > validation.score(found)


@pytest.mark.parametrize(("prices", "better"), [((0.0, 0.0), 0), ((0.01, 0.0), 1), ((0.0, 0.06), 2)])
def test_prices_of_actions_and_looks_choose_the_best_policy(prices, better):
    """Of one that solves most, one that spends few actions, and one that looks seldom."""
    policies = [
        [Episodes(np.arange(10) < solved, np.full(10, actions), np.full(10, looks), np.zeros(4)) for looks in budgets]
        for solved, actions, budgets in ((9, 60, (10, 12)), (7, 20, (10, 12)), (6, 30, (4, 5)))
    ]
    values = [validation.value(played, Prices(*prices)) for played in policies]
    mean = [sum(one.decisions.mean() for one in played) / 2 for played in policies]
    wanted = [solved - prices[0] * actions for solved, actions in ((0.9, 60), (0.7, 20), (0.6, 30))]
    assert values == pytest.approx([one - prices[1] * looks for one, looks in zip(wanted, mean, strict=True)])
    assert max(range(3), key=values.__getitem__) == better


def test_controls_do_not_choose_the_best_policy():
    earlier = {"loss": 0.1, "solved": {"adaptive": 0.6, "sampled": 0.99}, "value": 0.5}
    later = {"loss": 0.2, "solved": {"adaptive": 0.59, "sampled": 0.6}, "value": 0.545}
    assert validation.score(later) > validation.score(earlier)
    assert validation.score(later)[0] == pytest.approx(0.545)
