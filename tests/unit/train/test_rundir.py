"""A run's folder: one run at a time, one configuration, logs that go back to a checkpoint."""

from __future__ import annotations

import json

import pytest

from recommit.data.errors import FolderBusy
from recommit.train.rundir import Log, RunDirectory, best_policy, differences


def test_only_one_run_at_a_time(tmp_path):
    with RunDirectory(tmp_path / "run"), pytest.raises(FolderBusy), RunDirectory(tmp_path / "run"):
        pass


def test_another_configuration_is_refused(tmp_path):
    with RunDirectory(tmp_path / "run") as run:
        run.begin({"optim": {"lr": 0.1, "betas": (0.9, 0.95)}})
        run.begin({"optim": {"lr": 0.1, "betas": (0.9, 0.95)}})
        with pytest.raises(ValueError, match=r"optim\.lr was 0\.1, is 0\.2"):
            run.begin({"optim": {"lr": 0.2, "betas": (0.9, 0.95)}})
        assert run.read("versions.json")["numpy"]
        assert run.read("nothing.json") is None
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 2}) == ""


def test_a_log_goes_back_to_what_a_checkpoint_noted(tmp_path):
    log = Log(tmp_path / "metrics.jsonl")
    log.add({"step": 1})
    size = log.size()
    log.add({"step": 2})
    log.cut(size)
    log.add({"step": 2, "again": True})
    log.close()
    assert [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()] == [1, 2]
    again = Log(tmp_path / "metrics.jsonl")
    with pytest.raises(ValueError, match="expected at least the 9999 bytes"):
        again.cut(9999)
    again.close()


def test_a_run_without_checkpoints_has_no_policy(tmp_path):
    with pytest.raises(ValueError, match="expected a run with a checkpoint, got none"):
        best_policy(tmp_path)
