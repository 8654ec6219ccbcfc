"""The scripts that wait for a GPU, on a CPU and in small: they check their own answers before they time anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

BENCH = Path(__file__).parents[3] / "bench" / "gpu"
SMALL = ["--preset", "tiny", "--device", "cpu", "--size", "6"]


@pytest.mark.parametrize(
    ("script", "options", "measured"),
    [
        ("sft_7b.py", ["--batch", "2", "--steps", "1"], "naive_states_per_s"),
        (
            "grpo_7b.py",
            ["--instances", "2", "--budget", "2", "--candidates", "2", "--rounds", "1", "--batch", "2"],
            "credits",
        ),
    ],
)
def test_it_runs_and_writes_what_it_found(script, options, measured, tmp_path):
    pytest.importorskip("PIL")
    call = [sys.executable, str(BENCH / script), *SMALL, *options, "--out", str(tmp_path)]
    said = subprocess.run(call, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    (written,) = tmp_path.glob("*.json")
    found = json.loads(written.read_text())
    assert found[measured] > 0
    assert {"device", "torch", "commit", "date", "ratio"} <= found.keys()


def test_a_loop_that_sees_something_else_is_refused(monkeypatch):
    import torch

    monkeypatch.syspath_prepend(str(BENCH))
    import grpo_7b

    import recommit

    policy, task = grpo_7b.build("tiny", "cpu"), recommit.Sokoban(6, boxes=1)
    policy.eval()
    torch.nn.init.normal_(policy.depth_head.weight, std=0.5)
    states = task.generate(2, seed=1, length=(4, 20)).states
    grpo_7b.check(policy, task, states, "cpu")
    look = policy.look
    monkeypatch.setattr(policy, "look", lambda task, states: look(task, states[::-1].copy()))
    with pytest.raises(AssertionError, match="not the same depth logits"):
        grpo_7b.check(policy, task, states, "cpu")
