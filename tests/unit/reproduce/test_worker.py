"""Commands that follow each other in one process leave the bytes of a process each; a frozen backbone is read once."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")
from tests.waiting import until

from recommit import CommitPolicy
from recommit.cli import main
from recommit.policy.backbones import resident
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.reproduce import worker
from recommit.runs.progress import TETHER

RECIPE = """
sft:
  model: {backbone: "random:tiny", policy: {lora: {rank: 4}, decoder: {width: 32, layers: 1, heads: 2, ffn: 64}}}
  optim: {steps: 2, batch: 8, warmup: 0}
  validation: {instances: 0}
  engine: {kind: plain}
  run: &run {save_every: 1, log_every: 1, tensorboard: false, device: cpu}
grpo:
  advantage: {group_size: 2}
  rollout: {instances: 4, budget: 3}
  optim: {steps: 2, batch: 8, warmup: 0}
  validation: {instances: 0}
  engine: {kind: plain}
  run: *run
"""
VARIANTS = ("adaptive", "fixed-2", "depth-only")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A recipe and its warm start."""
    folder = tmp_path_factory.mktemp("worker")
    (folder / "plan.yaml").write_text(RECIPE)
    data = "data build --task sliding --size 3 --length 2 10 --count 40 --validation 4 --test 4 --out"
    assert main([*data.split(), str(folder / "data")]) == 0
    make_backbone(folder / "backbone", "tiny")
    words = f"--recipe {folder}/plan.yaml --data {folder}/data --backbone {folder}/backbone --out {folder}/sft".split()
    assert main(["train", "sft", *words]) == 0
    return folder


@pytest.fixture
def reads(monkeypatch):
    """Backbones that are read from files, while frozen ones stay."""
    every, read = [], QwenBackbone.from_pretrained.__func__
    monkeypatch.setattr(
        QwenBackbone, "from_pretrained", classmethod(lambda cls, *a, **k: every.append(a) or read(cls, *a, **k))
    )
    before = dict(vars(resident._Kept))
    resident.keep()
    yield every
    for name in ("on", "key", "tokenizer", "model", "user"):
        setattr(resident._Kept, name, before[name])


def grpo(place, variant, out):
    words = ["train", "grpo", "--recipe", str(place / "plan.yaml"), "--init", str(place / "sft")]
    words += ["--backbone", str(place / "backbone")]
    return [*words, "--variant", variant, "--out", str(out / variant)]


def weights(out):
    """Of every run."""
    files = sorted(path for path in out.rglob("*.safetensors") if "checkpoints" not in path.parts)
    assert files
    return {path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_one_process_in_two_orders_and_a_process_each(place, tmp_path, reads):
    """The first order by a worker of its own, the second by this process, and without anything that stays."""
    queue = tmp_path / "queue"
    queue.mkdir()
    for number, variant in enumerate(VARIANTS):
        worker.put(queue, number, grpo(place, variant, tmp_path / "one"), tmp_path / f"{variant}.log")
    process = subprocess.Popen(
        [sys.executable, "-m", "recommit.cli.worker", str(queue)],
        stdin=subprocess.PIPE,
        env={**os.environ, TETHER: "1"},
    )
    try:
        for variant in reversed(VARIANTS):
            assert main(grpo(place, variant, tmp_path / "two")) == 0
        assert len(reads) == 1
        resident._Kept.on = False
        for variant in VARIANTS:
            assert main(grpo(place, variant, tmp_path / "each")) == 0
        until(lambda: worker.done(queue, len(VARIANTS) - 1), process)
        assert not worker.spent(queue, len(VARIANTS) - 1)
    finally:
        process.stdin.close()
        process.wait()
    assert weights(tmp_path / "one") == weights(tmp_path / "two") == weights(tmp_path / "each")


def test_a_policy_that_is_in_use_keeps_its_backbone(place, reads):
    first, second = (CommitPolicy.from_pretrained(place / "sft", backbone=place / "backbone") for _ in range(2))
    assert len(reads) == 2
    assert resident.in_use()
    theirs = {parameter.data_ptr() for parameter in first.parameters()}
    assert not theirs & {parameter.data_ptr() for parameter in second.parameters() if parameter.requires_grad}
