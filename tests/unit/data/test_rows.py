"""Rows, samples, tables: packing and unpacking lose nothing."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from recommit.data import parquet, rows
from recommit.data.parquet import pa, pq
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors


def test_sample_count():
    """The golden numbers of the specification."""
    known = {1: 1, 2: 3, 3: 5, 4: 8, 7: 17, 8: 21, 17: 57, 20: 69}
    assert {length: rows.sample_count(length) for length in known} == known


def test_windows_and_prefixes():
    plans = [[0, 1, 2], [], [3], list(range(4)) * 5]
    flat = np.array([a for plan in plans for a in plan], np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(plan) for plan in plans])])
    actions, count = rows.windows(flat, offsets)
    expected = [plan[t : t + 8] for plan in plans for t in range(len(plan))]
    assert [a[:n].tolist() for a, n in zip(actions, count, strict=True)] == expected
    assert all((a[n:] == rows.NO_ACTION).all() for a, n in zip(actions, count, strict=True))
    actions, count = rows.prefixes(flat, offsets)
    assert [a[:n].tolist() for a, n in zip(actions, count, strict=True)] == [plan[:8] for plan in plans]


def test_position_weights():
    weights = rows.position_weights(np.array([-1, 0, 1, 2, 3, 4, 7, 8, 30], np.int16))
    assert weights.tolist()[:3] == [[0] * 8, [0] * 8, [1] + [0] * 7]
    assert weights[5].tolist() == [3, 2, 1, 1, 0, 0, 0, 0]
    assert weights[-1].tolist() == weights[-2].tolist() == [4, 3, 2, 2, 1, 1, 1, 1]


def random_rows(n, size, seed=0):
    rng = np.random.default_rng(seed)
    distance = rng.integers(-1, 40, n).astype(np.int16)
    count = np.clip(distance, 0, 8).astype(np.uint8)
    actions = rng.integers(0, 4, (n, 8)).astype(np.uint8)
    actions[np.arange(8) >= count[:, None]] = rows.NO_ACTION
    return rows.LabelledRows(
        instance=np.sort(rng.integers(0, 2**62, n)) if n else np.zeros(0, np.int64),
        difficulty=rng.integers(0, 2, n).astype(np.uint8),
        length=rng.integers(1, 400, n).astype(np.int16),
        t=rng.integers(0, 400, n).astype(np.uint16),
        kind=rng.integers(0, 3, n).astype(np.uint8),
        states=rng.integers(0, 7, (n, *size)).astype(np.uint8),
        distance=distance,
        optimal=rng.integers(0, 16, n).astype(np.uint8),
        count=count,
        actions=actions,
    )


@pytest.mark.parametrize("n", [0, 1, 40_000])
def test_parquet_round_trip(n):
    recipe = DataSpec("sokoban", (5, 9), (Difficulty((1, 9), 1), Difficulty((2, 8), 3)), count=1)
    content = random_rows(n, (5, 9))
    data = parquet.encode(parquet.to_table(recipe, "train", content))
    assert bytes(data) == bytes(parquet.encode(parquet.to_table(recipe, "train", content)))
    file = parquet.reader(parquet.pa.BufferReader(data))
    back = parquet.read_groups(recipe, file, list(range(file.num_row_groups)))
    assert back.sha256() == content.sha256()
    for field, column in zip(content.__dataclass_fields__, back.columns(), strict=True):
        assert column.dtype == getattr(content, field).dtype


def test_hash_sees_every_column():
    content = random_rows(50, (4, 4))
    seen = {content.sha256()}
    for name in content.__dataclass_fields__:
        changed = {field: getattr(content, field).copy() for field in content.__dataclass_fields__}
        changed[name].ravel()[7] ^= 1
        seen.add(rows.LabelledRows(**changed).sha256())
    assert len(seen) == 1 + len(content.__dataclass_fields__)


def test_expand_against_a_loop():
    content = random_rows(300, (3, 3), 4)
    expanded = rows.expand(content)
    expected = [
        (i, depth, content.actions[i, :depth].tolist())
        for i in range(len(content))
        for depth in (1, 2, 4, 8)
        if depth <= content.distance[i]
    ]
    got = zip(expanded.row.tolist(), expanded.depth.tolist(), expanded.actions, strict=True)
    assert [(row, depth, actions[:depth].tolist()) for row, depth, actions in got] == expected


def test_a_word_of_a_table_is_kept_once_and_a_trap_is_not_read(tmp_path, monkeypatch):
    """A file of some kilobytes may mean as many gigabytes."""
    long = pa.array(["x" * 1_000_000])
    pq.write_table(pa.table({"agent": pa.DictionaryArray.from_arrays(pa.array([0] * 100_000), long)}), tmp_path / "t")
    data = (tmp_path / "t").read_bytes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = parquet.parsed(tmp_path / "t", data)
    words = parquet.columns(tmp_path / "t", table, {"agent": "string"})["agent"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert len(words) == 100_000
    assert all(word is words[0] for word in words)
    monkeypatch.setattr(parquet, "MOST_UNSAID", 0)
    monkeypatch.setattr(parquet, "MOST_GROWTH", 2)
    with pytest.raises(errors.Damaged, match="expected at most 2 times its size, got 1,000,202 bytes"):
        parquet.parsed(tmp_path / "t", data)
