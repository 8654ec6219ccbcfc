"""The quick look at speed counts what it really did."""

from __future__ import annotations

import pytest

from recommit.cli.verbs import bench


@pytest.mark.parametrize("task", bench.TASKS, ids=repr)
def test_it_counts_what_it_did(task: object) -> None:
    row = bench.play(task, boards=16, actions=32)  # type: ignore[arg-type]
    assert row["boards"] == 16
    assert 0 < row["moved"] < row["actions"] <= 16 * 32
    assert 0 <= row["solved"] < 16
    assert min(row[f"{what}_per_second"] for what in ("boards", "actions", "frames")) > 0
    assert len(bench.table([row]).splitlines()) == 2
