"""Whole runs: they learn, leave the depth head alone, and end in the same bits however often they are interrupted."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from functools import partial

import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused
from tests.unit.train.runs import interrupt_and_go_on, lines, same

import recommit
from recommit.runs import checkpoints
from recommit.runs.directory import best_policy
from recommit.storage import errors
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


def test_interrupted_runs_end_in_the_same_bits_and_lines(plan, data, tmp_path):
    rare = replace(plan, run=replace(plan.run, log_every=3))
    assert run.train(rare, data, tmp_path / "straight", quiet=True) == 0
    interrupt_and_go_on(run.SftTrainer, lambda: run.train(rare, data, tmp_path / "interrupted", quiet=True), 5)
    assert [line["step"] for line in lines(tmp_path / "straight")] == [3, 6, 8]
    same(tmp_path / "straight", tmp_path / "interrupted", steps=8)


WRONG = [
    ({"state": {"step": 8}}, "state.states: expected a whole number, got no such field"),
    ({"step": -(10**9)}, "step: expected 8, got -1000000000"),
    ({"best": {"step": "../x"}}, "best.step: expected a whole number, got text"),
    ({"unlogged": 1}, "unlogged: expected a list"),
    ({"logs_sha256": {"../../secret": SECRET}}, "metrics.jsonl: expected the lines that step-00000008"),
]


def test_a_checkpoint_of_a_stranger_says_where_its_own_run_is(plan, data, straight, tmp_path):
    """Its checksum is right; nothing is asked of files that are not the run's."""
    (tmp_path / "secret").write_text("mine")
    out = shutil.copytree(straight, tmp_path / "runs" / "run")
    (out / "DIGESTS").unlink()
    step, log = out / "checkpoints" / "step-00000008", (out / "metrics.jsonl").read_bytes()
    whole = (step / "state.json").read_text()

    def go_on(wrong):
        saved = json.loads(whole)
        for name, value in wrong.items():
            (saved if name in saved else saved["state"])[name] = value
        (step / "state.json").write_text(json.dumps(saved))
        checkpoints.seal(step)
        return run.train(plan, data, out, quiet=True)

    refused([(partial(go_on, wrong), words) for wrong, words in WRONG], errors.Damaged)
    assert go_on({}) == 0
    (out / "DIGESTS").unlink()  # as if it had been interrupted
    (out / "metrics.jsonl").write_bytes(log.replace(b'"step": 4', b'"step": 5', 1))
    refused([(partial(go_on, {}), f"metrics.jsonl: expected the lines that {step.name} was saved with, got others")])
    (out / "metrics.jsonl").write_bytes(log)
    assert go_on({}) == 0
    same(straight, out, steps=8)


def test_a_finished_run_has_nothing_to_do(plan, data, straight):
    before = (straight / "metrics.jsonl").read_bytes()
    assert run.train(plan, data, straight, quiet=True) == 0
    assert (straight / "metrics.jsonl").read_bytes() == before


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
