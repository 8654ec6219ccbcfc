"""Whole GRPO runs: every estimator runs, what must not move does not, and runs end in the same bits."""

from __future__ import annotations

import json
import shutil
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
from tests.unit.train.runs import interrupt_and_go_on, lines, moved, plan_of, same

from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy, recipe_of
from recommit.storage import errors
from recommit.train import validation
from recommit.train.grpo import rollout
from recommit.train.grpo import trainer as run

PRICES = {"prices": {"action": 0.002, "observation": 0.01}}
UPDATES = {"phases": [{"steps": 2, "head_updates": 3}]}
CASES = {
    "state": {},
    "best": {"advantage": {"follow": "best", "scale": "none", "deadlock": "penalty"}},
    "branch": {"advantage": {"estimator": "branch", "progress": 0.0, "follow": "random", "deadlock": "terminate"}},
    "episode": {"advantage": {"estimator": "episode", "scale": "batch"}},
    "exact": {"advantage": {"estimator": "exact"}, **PRICES},
    "head updates": {"advantage": {"estimator": "exact"}, **UPDATES},
}


@pytest.mark.parametrize("case", CASES)
def test_every_estimator_trains_both_heads_and_nothing_frozen(init, tmp_path, case):
    out = tmp_path / "run"
    assert run.train(plan_of(optim={"steps": 2}, **CASES[case]), init, out, quiet=True) == 0
    said = lines(out)
    assert [line["step"] for line in said] == [1, 2]
    assert all(np.isfinite(line["gradient_norm"]) for line in said)
    assert all(0 <= line["solve_rate"] <= 1 and 0 <= line["zero_std_fraction"] <= 1 for line in said)
    assert sum(said[0]["depths"].values()) == pytest.approx(1, abs=1e-4)
    changed = moved(best_policy(init), out / "checkpoints" / "step-00000002" / "policy")
    assert {"depth_head.weight", "depth_head.bias", "decoder.prefix.weight", "decoder.outputs.0.weight"} <= changed
    assert not [name for name in changed if "visual" in name]
    assert "decoder.outputs.1.weight" not in changed, "the other task's"
    validated = json.loads((out / "best.json").read_text())["validation"]["solved"]
    assert set(validated) == {"adaptive", "sampled", "shuffled"}


def test_a_run_has_depths_and_rewards_of_its_own(init, tmp_path):
    mine, given = tmp_path / "mine.py", plan_of(depths=(1, 3, 5), optim={"steps": 1})
    mine.write_text("def reward(spans):\n    return spans.solved - 0.01 * spans.decisions\n")
    assert run.train(given, init, tmp_path / "run", reward=mine, quiet=True) == 0
    assert set(lines(tmp_path / "run")[0]["depths"]) == {"1", "3", "5"}
    assert CommitPolicy.from_pretrained(best_policy(tmp_path / "run")).config.depths == (1, 3, 5)
    mine.write_text("def reward(spans):\n    return 1.0 * spans.solved\n")
    with pytest.raises(errors.WrongFolder, match="reward was"):
        run.train(given, init, tmp_path / "run", reward=mine, quiet=True)
    with pytest.raises(errors.NeedsFlag, match="reward: expected the file"):
        run.train(given, init, tmp_path / "run", quiet=True)


def test_a_run_is_judged_by_all_of_its_budgets(init, tmp_path):
    last = {"steps": 1, "head_only": True, "head_updates": 2, "budgets": [2, 4], "price_action": 0.03}
    given = plan_of(
        advantage={"estimator": "exact"},
        prices={"action": 0.01, "observation": [0.0, 0.02]},
        phases=[{"steps": 3}, last],
        validation={"budgets": [2, 4]},
    )
    assert run.train(given, init, tmp_path / "run", quiet=True) == 0
    best = json.loads((tmp_path / "run" / "best.json").read_text())
    rates = best["validation"]["by_budget"]
    assert set(rates) == {"2", "4", str(given.validation.budget)}
    assert rates[str(given.validation.budget)] == best["validation"]["solved"]["adaptive"]
    policy, recipe = CommitPolicy.from_pretrained(best_policy(tmp_path / "run")), recipe_of(init)
    (task,) = validation.tasks_of("it", rollout.instances_of(recipe, given), given.validation)
    slow = [one_by_one(policy, task.task, task.starts, int(budget)) for budget in rates]
    assert [share for share, *_ in slow] == pytest.approx(list(rates.values()), abs=1e-4)
    value = np.mean([share - 0.03 * actions - 0.02 * observations for share, actions, observations in slow])
    assert best["score"][0] == pytest.approx(value, abs=1e-5)


def one_by_one(policy, task, starts, budget):
    """Share solved, mean actions and mean looks of greedy episodes, as slowly as can be."""
    solved, actions, looks = 0, 0, 0
    for start in starts:
        state, remaining = start[None], budget
        while remaining and not task.is_solved(state)[0]:
            depths, plan = policy.act(task, state)
            done = task.execute(state, plan, depths)
            state, remaining, actions = done.states, remaining - 1, actions + int(done.executed[0])
            looks += 1
        solved += bool(task.is_solved(state)[0])
    return solved / len(starts), actions / len(starts), looks / len(starts)


@pytest.mark.parametrize(
    ("name", "group"), [("fixed-2", "exact"), ("fixed-3", "state"), ("random", "state"), ("depth-only", "exact")]
)
def test_variants(init, tmp_path, name, group):
    out = tmp_path / "run"
    plan = plan_of(variant=name, advantage={"estimator": group}, optim={"steps": 2})
    assert run.train(plan, init, out, quiet=True) == 0
    changed = moved(best_policy(init), out / "checkpoints" / "step-00000002" / "policy")
    depths = {depth for line in lines(out) for depth in line["depths"]}
    validated = set(json.loads((out / "best.json").read_text())["validation"]["solved"])
    if name == "depth-only":
        assert changed == {"depth_head.weight", "depth_head.bias"}
        assert validated == {"adaptive", "sampled", "shuffled"}
    elif name == "random":
        assert depths <= {"1", "2", "4", "8"}
        assert len(depths) == 4
        assert validated == {"uniform"}
    else:
        assert depths == {name[-1]} == validated
    if name != "depth-only":
        assert not {n for n in changed if n.startswith("depth_head")}
        assert "decoder.prefix.weight" in changed


@pytest.mark.parametrize("name", ["fixed-3", "random"])
def test_a_head_that_nobody_asks_moves_nothing(init, tmp_path, name):
    """One that is not zero would pull at the backbone by its entropy and its KL."""
    runs = {"none": {"entropy_depth": 0.0, "kl_depth": False}, "much": {"entropy_depth": 5.0, "kl_depth": True}}
    for folder, objective in runs.items():
        plan = plan_of(
            variant=name, head={"init": "default"}, objective={"kl": 0.5, **objective}, optim={"steps": 1, "batch": 8}
        )
        assert run.train(plan, init, tmp_path / folder, quiet=True) == 0
    ends = [tmp_path / folder / "checkpoints" / "step-00000001" / "policy" for folder in runs]
    assert moved(best_policy(init), ends[0])
    assert not moved(*ends)


@pytest.fixture(scope="module")
def straight(init, tmp_path_factory):
    out = tmp_path_factory.mktemp("grpo") / "straight"
    assert run.train(plan_of(), init, out, quiet=True) == 0
    return out


@settings(max_examples=4, deadline=None)
@given(stop=st.integers(1, 3), save_every=st.integers(1, 4))
def test_runs_interrupted_at_any_step_end_in_the_same_bits(init, straight, tmp_path_factory, stop, save_every):
    out, plan = tmp_path_factory.mktemp("interrupted") / "run", plan_of(run={"save_every": save_every})
    interrupt_and_go_on(run.GrpoTrainer, lambda: run.train(plan, init, out, quiet=True), stop)
    same(straight, out)


def test_the_first_ratio_is_exactly_one(init, tmp_path):
    plan = plan_of(optim={"steps": 1, "batch": 4096})
    assert run.train(plan, init, tmp_path / "run", quiet=True) == 0
    assert lines(tmp_path / "run")[0]["max_ratio_deviation"] == 0.0
    several = plan_of(optim={"steps": 1, "batch": 2})
    assert run.train(several, init, tmp_path / "several", quiet=True) == 0
    assert lines(tmp_path / "several")[0]["max_ratio_deviation"] > 0.0


def test_starts_are_mirrored_and_turned():
    from recommit.data import assignment
    from recommit.data.spec import DataSpec, Difficulty

    recipe = DataSpec(task="sokoban", size=(6, 6), difficulties=(Difficulty((3, 8), 1),), count=64)
    task = recipe.puzzle()

    def starts(augment, step=2):
        config = plan_of(rollout={"augment": augment, "instances": 32})
        return rollout.starts(rollout.instances_of(recipe, config), config, config.run.seed, step)

    plain, turned = starts(False), starts(True)
    assert np.array_equal(turned, starts(True))
    assert not np.array_equal(turned, plain)
    assert np.array_equal(assignment.keys("sokoban", turned), assignment.keys("sokoban", plain)), (
        "the same starts otherwise"
    )
    assert np.array_equal(task.distance(turned), task.distance(plain))
    assert 2 <= (turned == plain).all(axis=(1, 2)).sum() <= 16, "about one in eight as it was"


def test_a_run_goes_on_when_its_warm_start_is_gone(init, tmp_path, monkeypatch):
    step, plan = run.GrpoTrainer._step, plan_of(optim={"steps": 2})
    shutil.copytree(init, tmp_path / "warm")

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        return step(self)

    with monkeypatch.context() as once:
        once.setattr(run.GrpoTrainer, "_step", interrupted)
        assert run.train(plan, tmp_path / "warm", tmp_path / "run", quiet=True) == 130
    shutil.rmtree(tmp_path / "warm")
    assert run.train(plan, tmp_path / "warm", tmp_path / "run", quiet=True) == 0
