"""The benchmarks look at their answers, and the comparison with the baseline marks what fell and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench import compare

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_a_spoiled_answer_fails_every_benchmark() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "bench",
        "--benchmark-disable",
        "--plant",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert re.search(r"\b[1-9]\d* failed", last), done.stdout + done.stderr
    assert "passed" not in last, done.stdout
    assert "error" not in last, done.stdout


def test_the_committed_baseline_has_ratios() -> None:
    ratios = json.loads(compare.BASELINE.read_text("utf-8"))["ratios"]
    groups = {name.split(":")[0] for name in ratios}
    assert {"simulation", "pictures", "patches", "solving", "generation", "data", "look", "rollout"} <= groups
    assert all(ratio > 0 for ratio in ratios.values())
