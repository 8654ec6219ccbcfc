"""Where regret falls: sums against plain Python, and what the viewer's data say of each commitment."""

from __future__ import annotations

import shutil
from collections import defaultdict

import numpy as np
import pytest
from tests.unit.report.conftest import with_regrets

from recommit.data.table import pa, pq
from recommit.graph.regret import CAUSES
from recommit.report import episodes, page
from recommit.report.commitments import regret
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
    lost = regret.of_agents(folder)
    assert [one.label for one in lost] == [
        *("adaptive depth", "the same plans, always 8", "adaptive's depths, shuffled")
    ]
    sums = defaultdict(float)
    for distance, cause, value in rows_of(folder):
        if cause >= 0:
            sums[distance, cause] += value
    assert len(sums) > 8
    own = lost[0]
    for (distance, cause), total in sums.items():
        assert own.lost[(distance - 1) // own.width, cause] == pytest.approx(total)
    assert own.lost.sum() + own.elsewhere == pytest.approx(sum(sums.values()))


def test_a_cause_that_is_left_out_is_noticed(folder):
    """The planted defect: rounds are not counted."""
    rows = rows_of(folder)
    distance, cause, value = (np.array(column) for column in zip(*rows, strict=True))
    whole = regret.table("a", "a", distance, cause, value, 24)
    torn = regret.table("a", "a", distance, np.where(cause == CAUSES.index("round"), -1, cause), value, 24)
    assert whole.lost.sum() > torn.lost.sum()
    assert not torn.lost[:, CAUSES.index("round")].any()


def test_columns_are_as_high_as_what_was_lost(folder):
    every = regret.of_agents(folder)
    own, figure = every[0], regret.figures(every)[0]
    assert figure.svg.count("<rect") == int((own.lost > 0).sum())
    assert sum(sum(row[2:]) for row in figure.rows) == pytest.approx(100 * own.lost.sum() / 24)
    text = str(regret.in_words(own))
    assert f"gives away {100 * (own.lost.sum() + own.elsewhere) / 24:.1f} of 100 episodes" in text


def test_lost_states_have_no_column():
    lost = regret.table("a", "a", np.array([3, -1, 0]), np.array([3, 0, -1]), np.array([0.5, 0.25, 0.0]), 2)
    assert (lost.lost.sum(), lost.elsewhere) == (0.5, 0.25)
    assert "in states that nobody can solve 33%" in regret.in_words(lost)


def test_nothing_lost_is_said():
    nothing = regret.table("solver", "s", np.array([3]), np.array([-1], np.int8), np.array([0.0]), 2)
    assert "gives nothing away" in regret.in_words(nothing)
    assert "<svg" in regret.figures([nothing])[0].svg


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


def test_what_is_missing_is_said(evaluations, folder):
    without = page.make(Folder(evaluations["sliding"]), 3).html
    assert "This evaluation kept no regrets of single commitments." in without
    assert '<section id="regret">' not in without
    html = page.make(folder, 3).html
    assert "kept no regrets" not in html
    assert '<section id="regret">' in html


@pytest.mark.parametrize("damage", ["turn", "cause", "best", "regret", "short", "column"])
def test_rows_that_do_not_fit_are_refused(folder, tmp_path, damage):
    copy = shutil.copytree(folder.path, tmp_path / "eval")
    path = copy / "decisions/adaptive@6-regret.parquet"
    columns = {name: np.array(values) for name, values in pq.read_table(path).to_pydict().items()}
    if damage == "short":
        columns = {name: values[:-1] for name, values in columns.items()}
    elif damage == "column":
        del columns["best"]
    else:
        columns[damage][0] = {"turn": 5, "cause": 9, "best": 0, "regret": np.nan}[damage]
    pq.write_table(pa.table(columns), path)
    with pytest.raises(ValueError, match=r"adaptive@6-regret.*(expected a regret and a cause|cannot be read)"):
        episodes.pack(Folder(copy), 3)
