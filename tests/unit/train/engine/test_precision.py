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


def measured(steps, engines, *more):
    """(share of changed weights in percent, cosine) of every group of weights, by engine."""
    alone = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "RANK": "0", "WORLD_SIZE": "1"}
    command = [sys.executable, "bench/training/precision.py", "--steps", str(steps), "--engines", *engines, *more]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **alone, "LOCAL_RANK": "0"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = re.findall(r"\| ([\w ]+) \| \w+ \| +([\d.]+) % \| (-?[\d.]+) \|", done.stdout)
    return {name: [tuple(map(float, numbers)) for own, *numbers in rows if own == name] for name in engines}


@pytest.mark.parametrize(
    ("steps", "engines"),
    [
        (40, ("plain", "ZeRO 2", "ZeRO 3")),
        pytest.param(200, ("plain", "ZeRO 0", "ZeRO 1", "ZeRO 2", "ZeRO 3"), marks=pytest.mark.nightly),
    ],
    ids=["some", "all"],
)
def test_every_engine_moves_the_weights_that_are_saved(steps, engines):
    """Planted: weights in bfloat16, which is how DeepSpeed's bf16 mode trains."""
    found = measured(steps, (*engines, "rounded"))
    assert {name: len(groups) for name, groups in found.items()} == dict.fromkeys((*engines, "rounded"), 3)
    planted = found.pop("rounded")
    assert min(changed for changed, _ in planted) < 50
    assert min(cosine for _, cosine in planted) < 0.9
    assert min(changed for groups in found.values() for changed, _ in groups) > 99
    assert min(cosine for groups in found.values() for _, cosine in groups) > 0.99
