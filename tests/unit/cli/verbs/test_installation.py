"""Doctor sees what is there and what is not; the quick look at speed counts what it really did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recommit
from recommit.cli.verbs import installation


def test_it_names_what_is_there_and_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder is no package, though Python imports it: runs are logged to some that are called wandb."""
    (tmp_path / "a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(installation.EXTRAS, "planted", ("a_module_that_nobody_has", "a_folder"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {3}, raising=False)  # as a batch system sets it
    report = installation.examine()
    assert report["cores"] == 1
    assert report["works"]
    assert report["recommit"] == recommit.__version__
    assert report["core"].endswith((".so", ".pyd"))
    assert "a_module_that_nobody_has missing, a_folder missing  ->  pip install '.[planted]'" in installation.text(
        report
    )


def test_it_sees_a_core_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommit.Sliding, "step", lambda _self, states, _actions: states)
    report = installation.examine()
    assert not report["works"]
    assert "WRONG" in installation.text(report)


@pytest.mark.parametrize("task", installation.TASKS, ids=repr)
def test_it_counts_what_it_did(task: object) -> None:
    row = installation.play(task, boards=16, actions=32)  # type: ignore[arg-type]
    assert row["boards"] == 16
    assert 0 < row["moved"] < row["actions"] <= 16 * 32
    assert 0 <= row["solved"] < 16
    assert min(row[f"{what}_per_second"] for what in ("boards", "actions", "frames")) > 0
    assert len(installation.table([row]).splitlines()) == 2
