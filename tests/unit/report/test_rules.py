"""Rules without training on the page: a line over their thresholds, and gain shares beside the other figures."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET

import pytest

from recommit.report import axes, figures, sections
from recommit.report.agents import tables
from recommit.report.reading import Folder

SVG = "{http://www.w3.org/2000/svg}"
CURVE = [{"threshold": t, "solve_rate": t, "actions": 40 * t} for t in (0.2, 0.5, 0.9)]


@pytest.fixture
def folder(evaluations, tmp_path):
    """An evaluation in which ``shuffled`` is called by the name of a rule."""
    path = shutil.copytree(evaluations["sliding"], tmp_path / "eval")
    (path / "DIGESTS").unlink(missing_ok=True)
    for name in ("plan.json", "summary.json", "comparisons.json", "curves.json"):
        (path / name).write_text((path / name).read_text().replace('"shuffled"', '"confidence-least-shared"'))
    (path / "episodes.parquet").unlink()
    summary = json.loads((path / "summary.json").read_text())
    summary[0] |= {"gain": 0.25, "gain_low": -0.1, "gain_high": 0.5}
    (path / "summary.json").write_text(json.dumps(summary))
    (path / "thresholds.json").write_text(json.dumps({"confidence-least@6": {"curve": CURVE}}))
    return Folder(path)


def lines_of(figure):
    groups = [g for g in ET.fromstring(figure.svg).iter(f"{SVG}g") if g.get("class") == "thresholds"]
    return [group.find(f"{SVG}title").text for group in groups]


def test_a_rule_with_a_threshold_is_a_line(folder):
    figure = figures.pareto(folder, "loose")[0]
    assert lines_of(figure) == ["as deep as every action is sure, one threshold for all budgets, over its thresholds"]
    points = figures.points(folder, "loose")
    most = max([p.actions for p in points] + [c.actions for c in figures.paper.MAIN["sliding", "loose"].values()])
    frame = axes.frame(0, most * 1.06, 0, 104)
    line = axes.path([(frame.x(40 * t), frame.y(100 * t)) for t in (0.2, 0.5, 0.9)], "family")
    assert str(line) in str(figure.svg)
    assert not lines_of(figures.pareto(folder, "tight")[0]), "no thresholds were written down for that budget"


def test_gain_shares_stand_where_there_are_any(folder, evaluations):
    assert "gain share" not in tables.tables(Folder(evaluations["sliding"]))
    table = tables.tables(folder)
    assert "gain share" in table
    assert f"0.25 <small>{sections.MINUS}0.10 .. 0.50</small>" in table
