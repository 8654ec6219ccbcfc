"""Whole runs: they learn, leave the depth head alone, and end in the same bits however often they are interrupted."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import interrupt_and_go_on, lines, same

import recommit
from recommit.runs import checkpoints
from recommit.runs.directory import best_policy
from recommit.storage import errors
from recommit.train.engine.base import Engine
from recommit.train.sft import trainer as run

SECRET = hashlib.sha256(b"mine").hexdigest()


def losses_of(folder):
    return [line["loss"] for line in lines(folder)]


@pytest.fixture(scope="module")
def straight(plan, data, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "straight"
    assert run.train(plan, data, out, quiet=True) == 0
    return out


def test_a_run_is_complete(straight):
    names = {p.name for p in straight.iterdir()}
    assert {"config.json", "versions.json", "metrics.jsonl", "timing.jsonl", "checkpoints", "best.json"} <= names
    best = json.loads((straight / "best.json").read_text())
    assert best["last"] == "step-00000008"
    assert len(losses_of(straight)) == 8
    policy = recommit.CommitPolicy.from_pretrained(best_policy(straight))
    assert (policy.depth_head.weight == 0).all()
    assert (policy.depth_head.bias == 0).all()
    taken = recommit.CommitPolicy.from_pretrained(straight)
    assert torch.equal(taken.decoder.prefix.weight, policy.decoder.prefix.weight)


@pytest.mark.parametrize("stop", [1, 4])
def test_interrupted_runs_end_in_the_same_bits(plan, data, straight, tmp_path, stop):
    interrupt_and_go_on(run.SftTrainer, lambda: run.train(plan, data, tmp_path / "interrupted", quiet=True), stop)
    same(straight, tmp_path / "interrupted", steps=8)


def test_a_line_tells_of_the_steps_before_an_interruption_too(plan, data, tmp_path):
    rare = replace(plan, run=replace(plan.run, log_every=3))
    assert run.train(rare, data, tmp_path / "straight", quiet=True) == 0
    interrupt_and_go_on(run.SftTrainer, lambda: run.train(rare, data, tmp_path / "interrupted", quiet=True), 5)
    assert [line["step"] for line in lines(tmp_path / "straight")] == [3, 6, 8]
    same(tmp_path / "straight", tmp_path / "interrupted", steps=8)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"state": {"step": 8}}, "state.states: expected a whole number, got no such field"),
        ({"step": -(10**9)}, "step: expected 8, got -1000000000"),
        ({"best": {"step": "../x"}}, "best.step: expected a whole number, got text"),
        ({"unlogged": 1}, "unlogged: expected a list"),
        ({"logs_sha256": {"../../secret": SECRET}}, "metrics.jsonl: expected the lines that step-00000008"),
    ],
)
def test_a_checkpoint_of_a_stranger_says_where_its_own_run_is(plan, data, straight, tmp_path, wrong, words):
    """Its checksum is right; nothing is asked of files that are not the run's."""
    (tmp_path / "secret").write_text("mine")
    step = shutil.copytree(straight, tmp_path / "runs" / "run") / "checkpoints" / "step-00000008"
    saved = json.loads((step / "state.json").read_text())
    for name, value in wrong.items():
        (saved if name in saved else saved["state"])[name] = value
    (step / "state.json").write_text(json.dumps(saved))
    checkpoints.seal(step)
    with pytest.raises(errors.Damaged, match=words):
        run.train(plan, data, step.parents[1], quiet=True)


class Killed(BaseException):
    """Nothing in the trainer may catch it."""


#: Where a run dies, the second time it comes there: before a step, and at every stage of saving.
MOMENTS = [
    (run.SftTrainer, "_step"),
    (Engine, "save"),
    (run.SftTrainer, "_save_checkpoint"),
    (checkpoints, "seal"),
    (run.SftTrainer, "_update_best_and_prune"),
    (checkpoints.Checkpoints, "prune"),
]


@pytest.mark.parametrize(
    ("owner", "name", "after"),
    [(*moment, number % 2 == 1) for number, moment in enumerate(MOMENTS)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_killed_run_goes_back_to_its_checkpoint(plan, data, straight, tmp_path, monkeypatch, owner, name, after):
    whole, calls = getattr(owner, name), []

    def killed(*arguments, **options):
        calls.append(name)
        if len(calls) == 2 and not after:
            raise Killed
        result = whole(*arguments, **options)
        if len(calls) == 2:
            raise Killed
        return result

    monkeypatch.setattr(owner, name, killed)
    with pytest.raises(Killed):
        run.train(plan, data, tmp_path / "killed", quiet=True)
    assert run.train(plan, data, tmp_path / "killed", quiet=True) == 0
    same(straight, tmp_path / "killed", steps=8)


def test_a_finished_run_has_nothing_to_do(plan, data, straight):
    before = (straight / "metrics.jsonl").read_bytes()
    assert run.train(plan, data, straight, quiet=True) == 0
    assert (straight / "metrics.jsonl").read_bytes() == before


def test_a_run_does_not_go_on_with_other_lines(plan, data, straight, tmp_path):
    name = "metrics.jsonl"
    out = shutil.copytree(straight, tmp_path / "run")
    (out / "DIGESTS").unlink()  # as if it had been interrupted
    newest = out / "checkpoints" / "step-00000008"
    log = (out / name).read_bytes()
    (out / name).write_bytes(log.replace(b'"step": 4', b'"step": 5', 1))
    with pytest.raises(ValueError, match=f"{name}: expected the lines that {newest.name} was saved with, got others"):
        run.train(plan, data, out, quiet=True)
    (out / name).write_bytes(log)
    assert run.train(plan, data, out, quiet=True) == 0
    same(straight, out, steps=8)


def test_it_learns(plan, data, tmp_path):
    longer = replace(
        plan,
        optim=replace(plan.optim, steps=60, lr=3e-3, decoder_lr=3e-3),
        validation=replace(plan.validation, instances=0, every=1000),
        run=replace(plan.run, save_every=1000),
    )
    assert run.train(longer, data, tmp_path / "run", quiet=True) == 0
    found = losses_of(tmp_path / "run")
    assert sum(found[-5:]) < 0.85 * sum(found[:5])
