"""What the optimiser does arrives in the policy, whatever the engine, at the learning rates of the paper's RL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ports import free_port

pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
ROOT = Path(__file__).parents[4]


def least(*options):
    """The smallest share of changed weights, and the smallest cosine, of all engines and groups of weights."""
    alone = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "RANK": "0", "WORLD_SIZE": "1"}
    command = [sys.executable, "bench/training/precision.py", *options]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **alone, "LOCAL_RANK": "0"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = re.findall(r"\| +([\d.]+) % \| (-?[\d.]+) \|", done.stdout)
    return len(rows), min(float(changed) for changed, _ in rows), min(float(cosine) for _, cosine in rows)


@pytest.mark.parametrize(
    ("steps", "engines"),
    [
        (40, ("plain", "ZeRO 2", "ZeRO 3")),
        pytest.param(200, ("plain", "ZeRO 0", "ZeRO 1", "ZeRO 2", "ZeRO 3"), marks=pytest.mark.nightly),
    ],
    ids=["some", "all"],
)
def test_every_engine_moves_the_weights_that_are_saved(steps, engines):
    rows, changed, cosine = least("--steps", str(steps), "--engines", *engines)
    assert rows == 3 * len(engines), "groups of weights"
    assert changed > 99
    assert cosine > 0.99


def test_weights_in_bfloat16_are_noticed():
    """The planted defect, which is how DeepSpeed's bf16 mode trains."""
    _, changed, cosine = least("--steps", "30", "--rounded")
    assert changed < 50
    assert cosine < 0.9
