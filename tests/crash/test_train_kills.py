"""C3: a run killed at random moments, again and again, ends in the bits of a run that was left alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.nightly
RUN = Path(__file__).parent / "train_once.py"
KILLS = int(os.environ.get("RECOMMIT_TRAIN_KILLS", "50"))
STEPS = {"sft": 400, "naive": 400, "grpo": 150}
RECIPE = f"""
sft:
  model:
    backbone: random:small
    shape: {{width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64, vision_width: 16, vision_heads: 1, vision_ffn: 32}}
    policy: {{lora: null, prompts: [bare-v1, bare-v1], decoder: {{width: 32, layers: 1, heads: 2, ffn: 64}}}}
  optim: {{steps: {STEPS["sft"]}, batch: 16, warmup: 2}}
  validation: {{instances: 8, every: 100, budget: 3}}
  run: {{save_every: 2, log_every: 1, threads: 1, tensorboard: false, device: cpu}}
grpo:
  head: {{reads: plan, hidden: 8}}
  credit: {{group: exact, size: 2, reward: solved, scale: batch, head_steps: 1}}
  rollout: {{instances: 4, budget: 3}}
  finish: {{share: 0.25, times: 2, moves: 2}}
  optim: {{steps: {STEPS["grpo"]}, batch: 8, warmup: 2}}
  validation: {{instances: 8, every: 50, budget: 3}}
  run: {{save_every: 2, log_every: 1, threads: 1, tensorboard: false, device: cpu}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from recommit.data import Recipe, Variant, build

    folder = tmp_path_factory.mktemp("kills")
    build(Recipe("sliding", (3, 3), (Variant((6, 14)),), count=60, ties="random"), folder / "data")
    (folder / "plan.yaml").write_text(RECIPE)
    finished(start(folder, "sft", "sft-alone"))
    return folder


def start(place: Path, mode: str, name: str) -> subprocess.Popen[bytes]:
    begin = place / ("sft-alone" if mode == "grpo" else "data")
    command = [sys.executable, str(RUN), mode, str(place / "plan.yaml"), str(begin), str(place / name)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said.decode()[-2000:]


def checkpoints(place: Path, name: str) -> int:
    found = sorted((place / name / "checkpoints").glob("step-*"))
    return int(found[-1].name[5:]) if found else 0


def kill_at_random(place: Path, mode: str, name: str, kills: int) -> tuple[int, int]:
    """Kill a run up to ``kills`` times, each some way after it began to make steps; how often it was killed, and how
    often it died of what an earlier kill had left."""
    chance, done, died = random.Random(0), 0, 0
    while done < kills and not died and checkpoints(place, name) < STEPS[mode] - 20:
        process, before = start(place, mode, name), checkpoints(place, name)
        while process.poll() is None and checkpoints(place, name) == before:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done += process.returncode == -signal.SIGKILL
        died += process.returncode > 0
    return done, died


@pytest.mark.parametrize("mode", ["sft", "grpo"])
def test_killed_runs_end_in_the_same_bits(place, record_property, mode):
    alone, killed = f"{mode}-alone", f"{mode}-killed"
    if not (place / alone).exists():
        finished(start(place, mode, alone))
    kills, died = kill_at_random(place, mode, killed, KILLS)
    finished(start(place, mode, killed))
    record_property("kills", kills)
    print(f"{mode}: killed {kills} times")
    assert died == 0
    assert kills >= min(KILLS, 10)
    last = f"checkpoints/step-{STEPS[mode]:08d}"
    for file in (
        f"{last}/engine-00000.safetensors",
        f"{last}/policy/heads.safetensors",
        "metrics.jsonl",
        "samples.jsonl",
        "best.json",
    ):
        assert (place / alone / file).read_bytes() == (place / killed / file).read_bytes(), file


def test_a_writer_without_commit_is_caught(place):
    _, died = kill_at_random(place, "naive", "naive", 40)
    assert died, "40 kills of a writer that writes in place left nothing broken: this harness sees nothing"
