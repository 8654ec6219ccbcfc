"""Depths and regrets by distance against plain Python, and what the viewer's data say of each commitment."""

from __future__ import annotations

import shutil
from collections import defaultdict

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.report.conftest import with_regrets

from recommit.data.parquet import pa, pq
from recommit.graph.regret import CAUSES
from recommit.report import by_distance, episodes
from recommit.report.reading import Folder


@pytest.fixture(scope="module")
def folder(evaluations, tmp_path_factory):
    return Folder(with_regrets(shutil.copytree(evaluations["sliding"], tmp_path_factory.mktemp("regret") / "eval")))


def rows_of(folder, name="adaptive"):
    """(distance, cause, regret) of each commitment, in plain values."""
    decisions = pq.read_table(folder.path / f"decisions/{name}@6.parquet").to_pylist()
    kept = pq.read_table(folder.path / f"decisions/{name}@6-regret.parquet").to_pylist()
    return [(d["before"], k["cause"], k["regret"]) for d, k in zip(decisions, kept, strict=True)]


def test_sums_equal_plain_python(folder):
    lost = by_distance.agent_regrets(folder)
    assert [one.label for one in lost] == [*("adaptive", "fixed depth 8", "shuffled depths")]
    sums = defaultdict(float)
    for distance, cause, value in rows_of(folder):
        if cause >= 0:
            sums[distance, cause] += value
    assert len(sums) > 8
    own = lost[0]
    for (distance, cause), total in sums.items():
        assert own.lost[(distance - 1) // own.width, cause] == pytest.approx(total)
    assert own.lost.sum() + own.elsewhere == pytest.approx(sum(sums.values()))


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_shares_count_decisions(evaluations, task):
    folder = Folder(evaluations[task])
    found = by_distance.depth_counts(folder)
    assert [one.agent.base for one in found] == ["adaptive", "shuffled", "oracle-dp"]
    own = found[0]
    (rows,) = folder.decisions(folder.first)
    assert own.counts.sum() + own.dead == len(rows.depth)
    for r in range(len(own.counts)):
        which = (rows.before > 0) & ((rows.before - 1) // own.width == r)
        assert own.counts[r].tolist() == np.bincount(rows.depth[which], minlength=9)[1:].tolist()


def test_lost_states_have_no_column():
    lost = by_distance.regret_by_distance(
        "a", np.array([3, -1, 0]), np.array([3, 0, -1]), np.array([0.5, 0.25, 0.0]), 2
    )
    assert (lost.lost.sum(), lost.elsewhere) == (0.5, 0.25)
    assert "in states that cannot be solved 33%" in str(lost)


def test_the_viewer_has_every_commitment(folder):
    packed = episodes.pack(folder, 5)
    labels = [agent["label"] for agent in packed["agents"]]
    assert packed["causes"] == list(CAUSES)
    kept = pq.read_table(folder.path / "decisions/adaptive@6-regret.parquet").to_pylist()
    for instance, one in zip(packed["instances"], packed["played"][labels.index("adaptive")], strict=True):
        own = sorted((row for row in kept if row["instance"] == instance["n"]), key=lambda row: row["turn"])
        assert one["r"] == [round(1000 * row["regret"]) for row in own]
        assert one["b"] == "".join(str(row["best"]) for row in own)
        assert one["c"] == "".join(str(row["cause"] + 1) for row in own)
    assert "r" not in packed["played"][labels.index("oracle-dp")][0]


def test_rows_that_do_not_fit(folder, tmp_path):
    rows, wrong = [], {"turn": 5, "cause": 9, "best": 0, "regret": np.nan}
    for damage in ("turn", "cause", "best", "regret", "short", "column"):
        copy = shutil.copytree(folder.path, tmp_path / damage)
        path = copy / "decisions/adaptive@6-regret.parquet"
        table = pq.read_table(path)
        columns = {name: table[name].to_numpy().copy() for name in table.column_names}
        if damage == "short":
            columns = {name: values[:-1] for name, values in columns.items()}
        elif damage == "column":
            del columns["best"]
        else:
            columns[damage][0] = wrong[damage]
        pq.write_table(pa.table(columns), path)
        said = "expected a column best" if damage == "column" else "expected a regret and a cause"
        rows.append((lambda copy=copy: episodes.pack(Folder(copy), 3), said))
    refused(rows)
