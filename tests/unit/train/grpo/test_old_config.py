"""Runs from before phases: their configurations are those of today's recipes, step by step; they go on and are found
finished.
"""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
from recommit.train.grpo.old_config import updated
from tests.unit.train.runs import plan_of, same

from recommit.storage.ownership import differences
from recommit.train.family import runs as families
from recommit.train.family.runs import Run
from recommit.train.grpo import trainer as run
from recommit.train.recipe import plain

#: What the laptop's sliding recipe was when credit was one class and the finish a share.
CREDIT = {
    "group": "exact",
    "size": 4,
    "reward": "solved",
    "progress": 0.2,
    "progress_per": "commitment",
    "price_action": 0.008,
    "price_decision": 0.0,
    "price_failed": False,
    "deadlock": "zero",
    "penalty": 0.2,
    "scale": "batch",
    "floor": 1e-6,
    "follow": "first",
    "width": 1,
    "budgets": [],
    "head_steps": 10,
    "head_after": 0.6,
    "depth_weighting": "even",
    "price_first": 0.002,
}
FINISH = {"share": 0.053, "times": 40, "moves": 60, "lr": 0.003, "budgets": [10, 15], "price": 0.01}
OLD = {
    "adaptive": {},
    "fixed-4": {"credit": {"width": 4}, "finish": {"share": 0.0}},
    "random": {"credit": {"width": 4}, "finish": {"share": 0.0}},
    "depth-only": {"finish": {"share": 1.0, "price": 0.004}},
    "paper": {
        "credit": {
            "group": "state",
            "reward": "mean",
            "scale": "group",
            "width": 4,
            "head_steps": 0,
            "head_after": 0.0,
            "depth_weighting": "chosen",
            "price_action": 0.0,
            "price_first": -1.0,
        },
        "finish": {"share": 0.0, "times": 16, "budgets": [], "price": -1.0},
    },
}


def old(values, credit=CREDIT, finish=FINISH, **more):
    """As a run of that time wrote it, from today's ``values``."""
    rest = {name: value for name, value in values.items() if name != "phases"}
    validation = {name: value for name, value in values["validation"].items() if name != "budgets"}
    rollout = {**values["rollout"], "actions": "sampled"}
    return {
        "kind": "grpo",
        **rest,
        "validation": validation,
        "rollout": rollout,
        "credit": credit,
        "finish": finish,
        **more,
    }


@pytest.mark.parametrize("name", OLD)
def test_a_run_of_that_time_is_the_same_run(name):
    (config,) = families.family_configs("laptop-sliding", (name,), (), {}).values()
    values = json.loads(json.dumps(plain(config)))
    credit, finish = ({**usual, **OLD[name].get(part, {})} for part, usual in (("credit", CREDIT), ("finish", FINISH)))
    now = json.loads(json.dumps(updated(old(values, credit, finish))))
    assert differences({"kind": "grpo", **values}, now) == []
    other = updated(old(values, credit, {**finish, "share": 0.2, "budgets": [9]}))
    assert differences({"kind": "grpo", **values}, json.loads(json.dumps(other)))


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("credit", {**CREDIT, "price_failed": True}, r"credit\.price_failed True: expected the options of today"),
        ("credit", {**CREDIT, "reward": "spl"}, r"credit\.reward spl: expected"),
        ("rollout", {"actions": "greedy"}, r"rollout\.actions greedy: .* with the version that versions\.json names"),
    ],
)
def test_what_no_option_does_today_is_refused(part, value, message):
    values = json.loads(json.dumps(plain(plan_of())))
    with pytest.raises(ValueError, match=message):
        updated({**old(values), part: value})


def test_other_configurations_stay_as_they_are():
    for values in ({"kind": "sft", "optim": {}}, {"kind": "grpo", **plain(plan_of())}):
        assert updated(values) is values


def test_a_run_from_before_looks_had_a_price_is_the_same_run():
    plan = plan_of(credit={"group": "exact"}, phases=[{"steps": 2}, {"steps": 2, "price_action": 0.1}])
    now = json.loads(json.dumps({"kind": "grpo", **plain(plan)}))
    phases = [{name: value for name, value in phase.items() if name != "price_observation"} for phase in now["phases"]]
    before = {**now, "phases": phases}
    assert differences(before, now)
    assert differences(json.loads(json.dumps(updated(before))), now) == []
    assert updated(now) is now
    with_price = {**CREDIT, "price_decision": 0.1}
    assert updated(old(now, with_price, FINISH))["credit"]["price_observation"] == 0.0, "exact credit did not read it"


def test_an_unfinished_run_of_that_time_goes_on_and_is_found_finished(init, tmp_path, monkeypatch):
    exact = {"credit": {"group": "exact", "price_action": [0.01, 0.02]}, "validation": {"budgets": [2]}}
    last = {"steps": 2, "head_only": True, "head_updates": 2, "head_lr": 0.01, "starts": 18, "budgets": [2]}
    plan, out = plan_of(**exact, phases=[{"steps": 2}, last]), tmp_path / "run"
    assert run.train(plan, init, tmp_path / "straight", quiet=True) == 0
    step = run.GrpoTrainer._step
    monkeypatch.setattr(run.GrpoTrainer, "_step", lambda self: step(self) if self.state.step < 2 else raised())
    with pytest.raises(RuntimeError, match="enough"):
        run.train(plan, init, out, quiet=True)
    monkeypatch.setattr(run.GrpoTrainer, "_step", step)
    begun = json.loads((out / "config.json").read_text())
    credit = {
        **CREDIT,
        "size": 3,
        "width": 4,
        "head_steps": 0,
        "depth_weighting": "chosen",
        "price_first": 0.01,
        "price_action": 0.02,
    }
    finish = {"share": 0.5, "times": 3, "moves": 2, "lr": 0.01, "budgets": [2], "price": -1.0}
    (out / "DIGESTS").unlink()  # which runs of that time had not before their end
    (out / "config.json").write_text(json.dumps(old(begun, credit, finish)))
    assert run.train(plan, init, out, quiet=True) == 0
    same(tmp_path / "straight", out)
    (out / "DIGESTS").unlink(missing_ok=True)
    (out / "config.json").write_text(json.dumps(old(begun, credit, finish)))
    assert Run("grpo", plan, init, out).skipped()
    with pytest.raises(ValueError, match=r"credit\.width was 4, is 2"):
        Run(
            "grpo",
            plan_of(**{**exact, "credit": {**exact["credit"], "width": 2}}, phases=[{"steps": 2}, last]),
            init,
            out,
        ).skipped()


def raised():
    raise RuntimeError("enough")
