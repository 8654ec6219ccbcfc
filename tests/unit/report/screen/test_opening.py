"""The instance that is shown first, against plain Python, and what happens where no instance is of the best kind."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from recommit.data.table import pa, pq
from recommit.report import episodes
from recommit.report.reading import Folder
from recommit.report.screen import opening


def by_hand(folder):
    """The rule in plain values."""
    rival = opening.shown_beside(folder)
    (rows,) = folder.decisions(folder.first)
    solved, beaten = (folder.outcomes[a.name, folder.widest]["solved"] for a in (folder.first, rival))
    each = []
    for i in range(int(folder.spec["instances"])):
        mine = np.flatnonzero(rows.instance == i)
        forward = all(0 <= rows.after[k] < rows.before[k] for k in mine)
        kinds = [solved[i] > 0.5 and forward and beaten[i] <= 0.5, solved[i] > 0.5 and forward]
        kinds += [solved[i] > 0.5 and beaten[i] <= 0.5, solved[i] > 0.5, True]
        depths, actions = len({int(rows.depth[k]) for k in mine}), sum(int(rows.executed[k]) for k in mine)
        each.append((kinds.index(True), -depths, len(mine), actions, i))
    return min(each)[-1]


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_the_rule_picks_what_plain_python_picks(evaluations, task):
    folder = Folder(evaluations[task])
    first = opening.choose(folder)
    assert first.instance == by_hand(folder)
    assert first.rule.startswith("Shown first, by rule: ")


@pytest.mark.parametrize("count", [1, 3, 24])
def test_it_can_be_watched_however_few_are(evaluations, count):
    folder = Folder(evaluations["sliding"])
    packed = episodes.pack(folder, count)
    assert len(packed["instances"]) == count
    assert packed["instances"][packed["open"]]["n"] == opening.choose(folder).instance
    assert packed["agents"][packed["rival"]]["label"] == opening.shown_beside(folder).label


def test_an_instance_with_a_step_back_is_shown_only_where_there_is_no_other(evaluations, tmp_path):
    copy = shutil.copytree(evaluations["sliding"], tmp_path / "eval")
    path = copy / "decisions/adaptive@6.parquet"
    rows = {name: np.array(column) for name, column in pq.read_table(path).to_pydict().items()}
    shown = opening.choose(Folder(copy)).instance
    rows["after"] = np.where(rows["instance"] == shown, rows["before"] + 1, rows["after"]).astype(np.int32)
    pq.write_table(pa.table(rows), path)
    other = opening.choose(Folder(copy))
    assert other.instance not in (shown,)
    assert "every commitment a step forward" in other.rule
    rows["after"] = rows["before"] + 1
    pq.write_table(pa.table(rows), path)
    assert "a step forward" not in opening.choose(Folder(copy)).rule


def test_without_decisions_nothing_is_chosen(evaluations, tmp_path):
    copy = shutil.copytree(evaluations["sliding"], tmp_path / "eval")
    shutil.rmtree(copy / "decisions")
    assert opening.choose(Folder(copy)) is None
