"""Reinforcement with several views of every picture: in play, in learning, and in what is saved."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import lines, moved, plan_of, same, warm_start

from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy
from recommit.train.grpo import trainer as run


@pytest.fixture(scope="module")
def init(levels, tmp_path_factory):
    return warm_start(levels, tmp_path_factory.mktemp("views") / "run")


@pytest.mark.parametrize("group", ["exact", "state"])
def test_views_are_played_learned_and_saved(init, tmp_path, monkeypatch, group):
    phases = [{"steps": 2}, {"steps": 2, "head_only": True, "head_updates": 2, "head_lr": 0.01}]
    more = {"phases": phases} if group == "exact" else {}
    plan = plan_of(views=4, advantage={"estimator": group}, head={"features": "z+agreement", "hidden": 6}, **more)
    shapes = []
    look = CommitPolicy.encode
    monkeypatch.setattr(CommitPolicy, "encode", lambda *a, **k: (shapes.append(look(*a, **k)), shapes[-1])[1])
    assert run.train(plan, init, tmp_path / "run", quiet=True) == 0
    assert {z.shape[1] for z in shapes} == {4}
    assert any(z.requires_grad for z in shapes)
    assert all(np.isfinite(line.get("gradient_norm", 0.0)) for line in lines(tmp_path / "run"))
    policy = CommitPolicy.from_pretrained(best_policy(tmp_path / "run"))
    assert (policy.config.augmentations, policy.config.head.features) == (4, "z+agreement")


def test_the_same_run_ends_in_the_same_bits_and_not_in_those_of_one_view(init, tmp_path):
    for name, views in (("one", 2), ("two", 2), ("other", 0)):
        plan = plan_of(views=views, advantage={"estimator": "exact"})
        assert run.train(plan, init, tmp_path / name, quiet=True) == 0
    same(tmp_path / "one", tmp_path / "two")
    last = [tmp_path / name / "checkpoints" / "step-00000004" / "policy" for name in ("one", "other")]
    assert "decoder.prefix.weight" in moved(*last)


def test_three_views_are_refused():
    with pytest.raises(ValueError, match=r"views: expected 0 or one of 1, 2, 4, 8, got 3"):
        plan_of(views=3)
