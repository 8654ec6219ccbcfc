"""Fits: the same bits from the same seed, better than at first where depths can be read, files, thresholds."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.unit.train.heads import cases

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from safetensors.numpy import load_file, save_file

from recommit.graph.score import GraphScorer
from recommit.prices import Prices, Setting
from recommit.storage import errors
from recommit.train.baselines import groups as grouped
from recommit.train.baselines import stopping
from recommit.train.head import METHODS
from recommit.train.heads import fitted, fitting
from recommit.train.heads.problem import HeadProblem

SMALL = {"episodes": 64, "lr": 1e-2}
#: The problem's graph with all depths.
WHOLE = cases.graph("sliding", 40, 3)
#: Updates after which each method has learned the toy problem, and with which values.
LEARNED = {
    "exact": (60, {"lr": 1e-2, "states": 256, "steps": 4}),
    "hazard": (60, {"lr": 1e-2, "states": 256, "steps": 4}),
    "paper": (200, {**SMALL, "entropy": 0.0}),
    "episode": (120, {**SMALL, "episodes": 128}),
    "branch": (120, {**SMALL, "episodes": 32}),
    "ppo": (60, {**SMALL, "entropy": 0.001}),
    "q": (60, {**SMALL, "batch": 128, "gamma": 1.0}),
    "verifier": (20, {"lr": 1e-2}),
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def problem():
    return cases.problem(count=40, budgets=(4,), wrong=3, prices=Prices(0.01, 0.01))


def fit(problem, method, updates, seed=0):
    return fitting.fit(problem, problem, METHODS[method], seed, fitting.Extent(updates), LEARNED[method][1])


@pytest.fixture(scope="module")
def heads(problem):
    return {method: fit(problem, method, LEARNED[method][0]) for method in METHODS}


def constants(problem):
    even = np.zeros((len(problem.rows), len(problem.depths)))
    every = []
    for column in range(len(problem.depths)):
        probs = even.copy()
        probs[:, column] = 1.0
        every.append(problem.value(probs))
    return every


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("paper", "verifier")])
def test_each_learns_where_the_right_depth_can_be_read(problem, heads, method):
    """A third of the way from the best constant to a ceiling that may know the budget, which no head here does."""
    least, most = max(constants(problem)), cases.ceiling(problem)
    share = (heads[method].record["value"] - least) / (most - least)
    assert share > 1 / 3, f"{method}: {share:.2f}"
    assert fit(problem, method, 1).record["value"] <= least + 1e-12  # planted: a head that had no time


def test_the_verifier_says_what_remains(problem, heads):
    head, wanted = heads["verifier"], stopping.labels(problem, 16.0)
    said = head.raw(problem.inputs[problem.rows]) * fitted.UNIT
    assert np.abs(said - wanted).mean() < 0.5 * np.abs(wanted - wanted.mean(axis=0)).mean()
    assert head.record["value"] >= max(constants(problem)) - 1e-9  # a threshold can be one of the constants
    deepest = fitted.progress(np.linspace(1, 0, 5)[None].repeat(2, axis=0), (1, 2, 4, 8))
    assert deepest.tolist() == [[2.0, 2.0, 1.0, 0.5]] * 2


def test_the_papers_estimator_learns_its_own_reward(problem, heads):
    head = heads["paper"]
    rewards = grouped.one_step(problem)
    columns = head.columns(head.raw(problem.inputs[problem.rows]))
    often = problem.visits(np.full(rewards.shape, 0.25)).sum(axis=0)
    even, own, most = (
        (often * each).sum()
        for each in (rewards.mean(axis=1), rewards[np.arange(len(rewards)), columns], rewards.max(axis=1))
    )
    assert (own - even) / (most - even) > 0.75


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_names_the_weights(problem, method):
    one, same, other = (fit(problem, method, 2, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(one.weights[name], same.weights[name]) for name in one.weights)
    assert not np.array_equal(one.weights["last"], other.weights["last"])
    assert np.abs(one.weights["last"]).max() > 0


def test_hardly_any_time_is_one_update(problem):
    """Its preparation alone had taken longer than that: there was nothing to check, and an assertion failed."""
    assert fitting.fit(problem, problem, METHODS["exact"], 0, fitting.Extent(0, 1e-9)).record["updates"] == 1


def test_held_out_starts_are_whole_groups(problem):
    several = np.repeat(np.unique(problem.graph.starts), 2)  # a start that stands twice is on one side
    groups = np.arange(len(several), dtype=np.int32) // 4
    problem = HeadProblem.of(dataclasses.replace(problem.graph, starts=several, groups=groups), (1, 2), (3,), Prices())
    learn, held = problem.split(0.25, 0)
    room = dict(zip(several.tolist(), groups.tolist(), strict=True))
    assert not {room[s] for s in learn.starts.tolist()} & {room[s] for s in held.starts.tolist()}
    assert len(learn.starts) + len(held.starts) == len(problem.starts)
    alone = dataclasses.replace(problem.graph, groups=np.zeros_like(groups))
    with pytest.raises(ValueError, match="at least 2 groups"):
        dataclasses.replace(problem, graph=alone).split(0.25, 0)


def test_the_best_try_is_taken(problem):
    best = fitting.best_of(problem, problem, METHODS["exact"], 0, fitting.Extent(3))
    most = max(each["value"] for each in best.record["tries"])
    assert best.record["config"]["lr"] == next(
        each["changes"]["lr"] for each in best.record["tries"] if each["value"] == most
    )
    assert [each["changes"]["lr"] for each in best.record["tries"]] == [1e-3, 3e-3, 1e-2]


@pytest.mark.parametrize("method", ["exact", "hazard", "verifier"])
def test_a_head_is_the_same_from_its_folder(problem, heads, method, tmp_path):
    fitted.write(heads[method], tmp_path / "head")
    again = fitted.read(tmp_path / "head")
    judge = GraphScorer(WHOLE, (Setting(4, problem.prices),))
    rules = [fitted.rule(head, "it") for head in (heads[method], again)]
    one, other = (1 + judge.rules.columns(rule) for rule in rules)
    assert np.array_equal(one, other)
    assert set(one[problem.rows].tolist()) <= set(problem.depths)
    order = rules[0].rule.order(judge.rules.plans)
    assert np.array_equal(order[problem.rows, 0], one[problem.rows])


def test_a_rule_has_the_value_that_the_fit_said(problem, heads):
    for method in ("q", "verifier"):
        rule = fitted.rule(heads[method], method)
        each = [GraphScorer(WHOLE, (Setting(k, problem.prices),)) for k in problem.budgets]
        values = [judge.values(rule)[judge.settings[0]].mean() for judge in each]
        assert np.mean(values) == pytest.approx(heads[method].record["value"], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("last", None),
        ("offset", np.ones(3, np.float32)),
        ("first", np.array(1, np.float32)),
        ("last", np.full((4, 16), np.nan, np.float32)),
        ("mean", np.ones((2, 2))),
        ("more", np.ones(3, np.float32)),
    ],
)
def test_weights_of_no_head_are_a_sentence(heads, tmp_path, name, numbers):
    """They were written by whoever sent the folder."""
    fitted.write(heads["exact"], tmp_path)
    stored = load_file(tmp_path / "head.safetensors")
    stored.pop(name, None)
    save_file(stored if numbers is None else {**stored, name: numbers}, tmp_path / "head.safetensors")
    (tmp_path / "DIGESTS").unlink()
    with pytest.raises(errors.Damaged, match="no fitted head: weights: expected"):
        fitted.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "another"}, "format: expected"),
        ({"reading": "guess"}, "no fitted head: reading: expected one of"),
        ({"depths": [1, 2]}, "no fitted head: weights: expected last to be finite numbers"),
        ({"depths": [8, 4, 2, 1]}, "no fitted head: depths: expected"),
        ({"threshold": "x"}, "no fitted head: threshold: expected"),
        ({"features": ""}, "no fitted head: features: expected"),
    ],
)
def test_what_a_head_says_of_itself_is_checked(heads, tmp_path, change, message):
    fitted.write(heads["exact"], tmp_path)
    about = json.loads((tmp_path / "head.json").read_text()) | change
    (tmp_path / "head.json").write_text(json.dumps(about))
    (tmp_path / "DIGESTS").unlink()
    with pytest.raises(errors.Damaged, match=message):
        fitted.read(tmp_path)


def test_what_cannot_be_fitted_is_a_sentence(problem):
    with pytest.raises(ValueError, match="expected one of them above 0"):
        fitting.Extent()
    bare = dataclasses.replace(problem.graph, features=None)
    with pytest.raises(ValueError, match="expected one with features"):
        HeadProblem.of(bare, cases.DEPTHS, (4,), problem.prices)
