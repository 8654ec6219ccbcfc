"""C3: a run killed again and again, anywhere, ends in the bits of a run that was left alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
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
  run: {{save_every: 2, log_every: 3, threads: 1, tensorboard: false, device: cpu}}
grpo:
  head: {{features: z+confidence, hidden: 8}}
  advantage: {{estimator: exact, group_size: 2}}
  rollout: {{instances: 4, budget: 3}}
  phases:
    - {{steps: 3, head_updates: 1}}
    - {{steps: 1, head_only: true, head_updates: 2, depth_head_lr: 3e-3, starts: 8}}
  optim: {{steps: {STEPS["grpo"]}, batch: 8, warmup: 2}}
  validation: {{instances: 8, every: 50, budget: 3}}
  run: {{save_every: 2, log_every: 3, threads: 1, tensorboard: false, device: cpu}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from recommit.data import DataSpec, Difficulty, build

    folder = tmp_path_factory.mktemp("kills")
    build(DataSpec("sliding", (3, 3), (Difficulty((6, 14)),), count=60, ties="random"), folder / "data")
    (folder / "plan.yaml").write_text(RECIPE)
    finished(start(folder, "sft", "sft-alone"))
    return folder


def start(place: Path, mode: str, name: str, *death: object) -> subprocess.Popen[bytes]:
    begin = place / ("sft-alone" if mode == "grpo" else "data")
    command = [
        sys.executable,
        str(RUN),
        mode,
        str(place / "plan.yaml"),
        str(begin),
        str(place / name),
        *map(str, death),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()[-2000:]


def kill_again_and_again(place: Path, mode: str, name: str, kills: int) -> int:
    """Kill a run at one of its next thirty changes of the disk, by a seed, or within 5 ms of processor time after that;
    at which kill it died of what an earlier one had left, or 0. It has changes enough for all of them."""
    draw = random.Random(0)
    for kill in range(kills):
        process = start(place, mode, name, draw.randint(1, 30), draw.choice([0, draw.uniform(0.0001, 0.005)]))
        process.communicate()
        if process.returncode > 0:
            return kill
        assert process.returncode in (-signal.SIGKILL, -signal.SIGPROF), process.returncode
    return 0


@pytest.mark.parametrize("mode", ["sft", "grpo"])
def test_killed_runs_end_in_the_same_bits(place, record_property, mode):
    alone, killed = f"{mode}-alone", f"{mode}-killed"
    if not (place / alone).exists():
        finished(start(place, mode, alone))
    assert kill_again_and_again(place, mode, killed, KILLS) == 0
    finished(start(place, mode, killed))
    record_property("executed", KILLS)
    last = f"checkpoints/step-{STEPS[mode]:08d}"
    for file in (
        f"{last}/engine-00000.safetensors",
        f"{last}/policy/heads.safetensors",
        "metrics.jsonl",
        "best.json",
    ):
        assert (place / alone / file).read_bytes() == (place / killed / file).read_bytes(), file


def test_a_writer_without_commit_is_caught(place):
    assert kill_again_and_again(place, "naive", "naive", 40)
