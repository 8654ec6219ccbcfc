"""Figures show the numbers where they are."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from recommit import stats
from recommit.report import axes, depths, figures, training
from recommit.report.axes import Box
from recommit.report.reading import Folder

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def folder(request, evaluations):
    return Folder(evaluations[request.param])


def parsed(figure):
    return ET.fromstring(figure.svg)


def test_points_have_their_intervals(folder):
    for point in figures.points(folder, "tight"):
        row = folder.row(point.agent, "tight")
        assert (point.solved, point.solved_low, point.solved_high) == pytest.approx(
            tuple(100 * row[k] for k in ("solve_rate", "solve_low", "solve_high"))
        )
        again = stats.bootstrap(folder.outcomes[point.agent.name, "tight"]["actions"])
        assert (point.actions_low, point.actions_high) == (again.low, again.high)
        assert point.actions_low <= point.actions <= point.actions_high


def test_marks_stand_at_their_numbers_and_say_them(folder):
    figure = figures.pareto(folder, "loose")[0]
    points = figures.points(folder, "loose")
    groups = {g.get("aria-label"): g for g in parsed(figure).iter(f"{SVG}g") if "point" in g.get("class", "")}
    most = max(
        [p.actions_high for p in points] + [c.actions for c in figures.paper.MAIN[folder.task, "loose"].values()]
    )
    frame = axes.frame(0, most * 1.06, 0, 104)
    for point in points:
        group = groups[point.says()]
        assert group.get("tabindex") == "0"
        across, up = group.findall(f"{SVG}line")[1], group.findall(f"{SVG}line")[0]
        assert float(across.get("y1")) == pytest.approx(frame.y(point.solved), abs=0.06)
        assert float(up.get("x1")) == pytest.approx(frame.x(point.actions), abs=0.06)
        assert float(up.get("y2")) == pytest.approx(frame.y(point.solved_high), abs=0.06)
    assert len(groups) == len(points) + 3  # the paper's
    rows = list(csv.reader(io.StringIO(figure.csv())))
    assert [row[0] for row in rows[1:]] == [p.agent.label for p in points]


def test_fixed_depths_of_one_policy_are_joined(folder):
    families = [
        p
        for p in parsed(figures.pareto(folder, "loose")[0]).iter(f"{SVG}polyline")
        if p.get("class").startswith("family")
    ]
    assert sorted(len(p.get("points").split()) for p in families) == [1, 2]


def test_curves_end_at_the_largest_budget(folder):
    solved, spent = figures.curves(folder)
    for figure, key, factor in ((solved, "solve_rate", 100), (spent, "actions", 1)):
        last = {row[0]: row[2] for row in figure.rows if row[1] == 6}
        for agent in folder.agents:
            assert last[agent.label] == pytest.approx(factor * folder.curves[agent.name][-1][key])
        parsed(figure)


def test_shares_and_means_count_decisions(folder):
    found = depths.tables(folder)
    assert [t.agent.base for t in found] == ["adaptive", "shuffled", "oracle-dp"]
    own = found[0]
    (rows,) = folder.decisions(folder.first)
    assert own.counts.sum() + own.dead == len(rows.depth)
    for r in range(len(own.counts)):
        here = rows.depth[(rows.before - 1) // own.width == r][rows.before[(rows.before - 1) // own.width == r] > 0]
        assert own.total[r] == len(here)
        if len(here) > 1:
            mean, half = own.mean(r)
            assert mean == pytest.approx(here.mean())
            assert half == pytest.approx(1.96 * here.std(ddof=1) / np.sqrt(len(here)))
    columns = [g for g in parsed(depths.shares(own)).iter(f"{SVG}g") if "column" in g.get("class", "")]
    assert len(columns) == int((own.total > 0).sum())
    for column in columns:
        heights = sum(float(r.get("height")) for r in column.findall(f"{SVG}rect"))
        assert heights == pytest.approx(axes.HEIGHT - axes.TOP - axes.BOTTOM, abs=0.5)
    assert depths.used(found) == [2, 4, 8]
    assert parsed(depths.means(found)) is not None


def test_answers_without_a_depth_are_not_counted(folder, monkeypatch):
    """A zero-shot model's answer that could not be read has depth 0."""
    rows = SimpleNamespace(before=np.array([1, 3, 5, 40]), depth=np.array([0, 2, 0, 8], np.int8))
    monkeypatch.setattr(type(folder), "decisions", lambda *_: [rows])
    for table in depths.tables(folder):
        assert table.counts.sum() == 2
        assert table.counts[:, 1].sum() == table.counts[:, 7].sum() == 1


def test_far_distances_share_columns(folder):
    table = depths.DepthCounts(folder.first, 3, np.ones((4, 8), np.int64), 0)
    assert [table.name(0), table.name(3)] == ["1..3", "10..12"]
    assert table.middle(0) == 2


def test_training_shows_what_was_written_and_no_more():
    lines = [{"step": s, "loss": 0.1, "solve_rate": s / 20, "depths": {"1": 0.5, "x": 1}} for s in range(1, 13)]
    lines += [{"step": 8, "validation": {"solved": {"adaptive": 0.75}}}, {"step": 8, "loss": float("nan")}]
    found = {figure.name: figure for figure in training.panels(lines)}
    assert sorted(found) == ["training-shares", "training-solved"]
    rows = found["training-solved"].rows
    assert [row[2] for row in rows if row[0] == "validation"] == [75.0]
    assert [row[2] for row in rows if row[0] == "training"][-1] == pytest.approx(50)  # the mean of 40 .. 60
    imitation = training.panels([{"step": s, "loss": 1 / s} for s in range(1, 4)])
    assert [figure.name for figure in imitation] == ["training-loss"]
    assert training.panels([]) == []


def test_a_short_run_is_drawn_as_it_is():
    lines = [{"step": s, "loss": 0.1, "solve_rate": s / 10, "actions": 9.0} for s in (8, 9)]
    (solved, _) = training.panels(lines)
    assert [row[2] for row in solved.rows] == pytest.approx([80, 90]), "nothing is smoothed"
    names = [
        t.text
        for t in parsed(solved).iter(f"{SVG}text")
        if t.get("class") == "tick" and t.get("text-anchor") == "middle"
    ]
    assert names == ["8", "9"], "there is no half step"
    one = [lines[0], {"step": 8, "validation": {"solved": {"adaptive": 0.5}, "actions": {"adaptive": 7}}}]
    assert training.panels(one) == []
    assert training.in_words(one) == [
        "In training, at step 8: 80.0 % solved with 9.0 actions.",
        "In validation, at step 8: 50.0 % solved with 7.0 actions.",
    ]
    assert training.in_words(lines) == []


def test_a_warm_start_of_one_validation_draws_its_loss():
    lines = [{"step": s, "loss": 1 / s} for s in (1, 2, 3)]
    (loss,) = training.imitation([*lines, {"step": 3, "validation": {"loss": 0.4, "solved": {"1": 0.5}}}])
    assert [(row[0], row[2]) for row in loss.rows if row[1] == 3] == [
        ("training", pytest.approx(1 / 3)),
        ("validation", 0.4),
    ]
    assert training.imitation([]) == []


def test_no_label_is_struck_through_by_a_bar(folder):
    for figure in (figures.front(folder, "loose"), *figures.pareto(folder, "tight")):
        assert struck(figure) == []


def test_a_struck_label_is_noticed(folder):
    """Planted: a label upon the first bar."""
    figure = figures.front(folder, "loose")
    bar = next(line for line in parsed(figure).iter(f"{SVG}line") if line.get("class") == "bar")
    label = axes.words(float(bar.get("x1")) - 5, float(bar.get("y1")), "adaptive", "label")
    assert struck(replace(figure, svg=axes.Html(figure.svg.replace("</svg>", f"{label}</svg>")))) == ["adaptive"]


def struck(figure):
    """Labels with a bar of an interval through them."""
    tree = parsed(figure)
    bars = [
        [float(line.get(key)) for key in ("x1", "x2", "y1", "y2")]
        for line in tree.iter(f"{SVG}line")
        if line.get("class") == "bar"
    ]
    lines = [Box(min(x, u), min(y, v), max(x, u) + 0.1, max(y, v) + 0.1) for x, u, y, v in bars]
    labels = [t for t in tree.iter(f"{SVG}text") if t.get("class") == "label" and not t.text.startswith("paper")]
    return [t.text for t in labels if any(line.meets(taken_by(t)) for line in lines)]


def taken_by(label):
    width, x, y = axes.LETTER * len(label.text), float(label.get("x")), float(label.get("y"))
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[label.get("text-anchor") or "start"]
    return Box(left, y - 9, left + width, y + 2)


def test_an_empty_figure_is_still_one():
    figure = figures.lines("n", "t", "x", "y", [])
    assert "NaN" not in figure.svg
    assert not re.search(r"\bnan\b|\binf\b", figure.svg)
