"""Labelled rows per second: made, written, read back and fed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="data sets need the data extra")
from bench.answers import group
from bench.plain import yardstick
from tests.reference.labels import Judge

import recommit.data
from recommit.data import DataSpec, Difficulty, labels, parquet, sampling

if TYPE_CHECKING:
    from pathlib import Path

    from bench.conftest import Timed

pytestmark, test_plain_python = group("data"), yardstick
PLAN = DataSpec("sokoban", (8, 8), (Difficulty((8, 32), 2),), count=512)
BATCH = 256


@pytest.fixture(scope="module")
def content() -> Any:
    return labels.shard_rows(PLAN, "train", 0, sampling.starts(PLAN, "train", 0))


def test_labels(timed: Timed, content: Any) -> None:
    """Plans, distances and optimal actions along them, from start states."""
    starts = sampling.starts(PLAN, "train", 0)
    distance, states = timed(lambda: _labelled(starts), len(content))
    assert np.array_equal(distance, PLAN.puzzle().distance(states))
    judge, easy = Judge(PLAN.task, states.shape[1:]), np.argsort(distance, kind="stable")[:8]
    assert [judge.distance(states[i]) for i in easy] == distance[easy].tolist()


def _labelled(starts: sampling.Starts) -> tuple[np.ndarray, np.ndarray]:
    rows = labels.shard_rows(PLAN, "train", 0, starts)
    return rows.distance, rows.states


def test_writing(timed: Timed, content: Any) -> None:
    data = timed(lambda: _written(content), len(content))
    assert np.array_equal(data, _written(content))
    assert _read(data.tobytes()).sha256() == content.sha256()


def test_reading(timed: Timed, content: Any) -> None:
    data = _written(content).tobytes()
    states = timed(lambda: _read(data).states, len(content))
    assert np.array_equal(states, content.states)


def _written(content: Any) -> np.ndarray:
    return np.frombuffer(parquet.encode(parquet.to_table(PLAN, "train", content)), np.uint8)


def _read(data: bytes) -> Any:
    file = parquet.reader(parquet.pa.BufferReader(data))
    return parquet.read_groups(PLAN, file, list(range(file.num_row_groups)))


def test_feeding(timed: Timed, scratch: Path) -> None:
    """Batches in a drawn order, out of a data set on the disk."""
    folder = scratch / "set"
    if not folder.exists():
        recommit.data.build(PLAN, folder, workers=1)
    stream = recommit.data.Mixture([recommit.data.open(folder)], BATCH)
    distance, states = timed(lambda: [_batch(next(stream)[0].rows) for _ in range(32)][-1], BATCH * 32)
    assert np.array_equal(distance, PLAN.puzzle().distance(states))


def _batch(content: Any) -> tuple[np.ndarray, np.ndarray]:
    return content.distance, content.states
