"""From Python a zero-shot run gives what its folder holds, and is refused for the same reasons."""

from __future__ import annotations

import json

import pytest

from recommit.zero_shot import ZeroShotCall, zero_shot


def test_zero_shot_gives_the_summary_of_its_folder(tmp_path):
    """Nobody listens at that port, so no episode gets its answers; the folder says so."""
    flags = {"endpoint": "vllm", "base_url": "http://127.0.0.1:9/v1", "instances": 2, "retries": 0, "length": (4, 8)}
    summary = zero_shot("tiny", tmp_path / "out", **flags)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary[0]["infra_errors"] == 2


def test_one_length_stands_for_both_ends(tmp_path):
    call = ZeroShotCall("m", tmp_path, endpoint="custom", base_url="http://127.0.0.1:9/v1", length=(7,))
    assert call.prepare().spec.length == (7, 7)


def test_a_wrong_value_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match=r"budget: expected 1\.\.64, got 0"):
        zero_shot("m", tmp_path / "out", endpoint="custom", base_url="http://127.0.0.1:9/v1", budget=0)
    assert not (tmp_path / "out").exists()
