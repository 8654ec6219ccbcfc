"""From Python a zero-shot run gives what its folder holds, and is refused for the same reasons."""

from __future__ import annotations

import json

from recommit.zero_shot import ZeroShotOptions, zero_shot
from recommit.zero_shot.runner import ZeroShotRun


def test_zero_shot_gives_the_summary_of_its_folder(tmp_path):
    """Nobody listens at that port, so no episode gets its answers; the folder says so."""
    flags = {"endpoint": "vllm", "base_url": "http://127.0.0.1:9/v1", "instances": 2, "retries": 0, "length": (4, 8)}
    summary = zero_shot(ZeroShotOptions("tiny", tmp_path / "out", **flags))
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary[0]["infra_errors"] == 2


def test_one_length_stands_for_both_ends(tmp_path):
    options = ZeroShotOptions("m", tmp_path, endpoint="custom", base_url="http://127.0.0.1:9/v1", length=(7,))
    assert ZeroShotRun(options).spec.options.length == (7, 7)
