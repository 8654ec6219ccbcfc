"""A run whose disk fails at any operation goes on by the same command, and ends as if nothing had happened."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")
from tests.crash.changes import ACTS, Changes, Undisturbed, content
from tests.unit.train.runs import FINISHED, TINY, plan_of

from recommit.policy.checkpoint import local_folder
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft
from recommit.train.trainer import Trainer


@pytest.fixture(scope="module")
def changes():
    gathered = Changes()
    yield gathered
    gathered.stop()


@pytest.fixture(scope="module", params=["sft", "grpo"])
def run(request, data, init):
    """Trains into a folder; silent."""
    if request.param == "sft":
        plan = parse(SftConfig, TINY)
        plan = replace(plan, optim=replace(plan.optim, steps=4), validation=replace(plan.validation, every=2))
        plan = replace(plan, run=replace(plan.run, save_every=1))
        return lambda out: sft.train(plan, data, out, quiet=True)
    return lambda out: grpo.train(plan_of(**FINISHED), init, out, quiet=True)


@pytest.fixture(scope="module")
def alone(run, changes, tmp_path_factory):
    """A run that nobody disturbs; its folder goes to whoever disturbs it next."""
    return Undisturbed.of(run, tmp_path_factory.mktemp("alone") / "run", changes)


def test_a_change_that_fails_or_is_the_last(alone, changes):
    assert alone.count > 20
    alone.check(changes, ACTS.values(), alone.points(1))


@pytest.mark.nightly
@pytest.mark.parametrize("act", ACTS)
def test_every_change_that_fails_or_is_the_last(alone, changes, act, record_property):
    alone.check(changes, [ACTS[act]], range(1, alone.count + 1))
    record_property("executed", alone.count)


def test_what_a_dead_run_left_is_swept_away(run, alone, tmp_path):
    """Folders in the making, and files."""
    for name in (".backbone.tmp", ".init.tmp"):
        (tmp_path / "run" / name).mkdir(parents=True)
        (tmp_path / "run" / name / "part").write_text("half")
    (tmp_path / "run" / ".best.json.1-2.tmp").write_text("{")
    assert run(tmp_path / "run") == 0
    assert content(tmp_path / "run") == alone.files


@pytest.mark.parametrize("remaining", ["nothing", "an older one"])
def test_the_pointer_to_the_best_is_made_good(run, alone, tmp_path, remaining):
    """A run that died between its last checkpoint and the pointer is finished only when that is right."""
    out = tmp_path / "run"
    assert run(out) == 0
    (out / "best.json").unlink()
    if remaining == "nothing":
        with pytest.raises(ValueError, match=r"expected a run with a best policy, got one without best\.json"):
            local_folder(out)
    else:
        (out / "best.json").write_text('{"step": 1, "score": [], "policy": "checkpoints/step-00000001/policy"}')
    assert run(out) == 0
    assert content(out) == alone.files
    assert local_folder(out).is_dir()


def test_a_run_that_forgets_what_follows_from_a_checkpoint_is_seen(alone, changes, monkeypatch):
    """Going on as it once was: best.json and pruning are left to the next checkpoint, which may never come."""
    resume, settle = Trainer._resume_from_checkpoint, Trainer._update_best_and_prune

    def forgetful(self):
        monkeypatch.setattr(Trainer, "_update_best_and_prune", lambda *_: None)
        resume(self)
        monkeypatch.setattr(Trainer, "_update_best_and_prune", settle)

    monkeypatch.setattr(Trainer, "_resume_from_checkpoint", forgetful)
    with pytest.raises(AssertionError, match="change"):
        alone.check(changes, [ACTS["full disk"]], reversed(alone.points(5)))
