"""Figures show the numbers where they are, are the same bytes every time, and leave the process as it was."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from recommit.report import by_distance, figures, plotting, reading
from recommit.report.reading import Folder


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def folder(request, evaluations):
    return Folder(evaluations[request.param])


def marks(figure, label):
    """What is drawn under an entry of the legend, as pairs."""
    with plotting.style():
        axes = figure.draw().axes
    return [
        pair for each in axes for line in each.lines if line.get_label() == label for pair in line.get_xydata().tolist()
    ]


def test_every_agent_stands_at_its_numbers_and_fixed_depths_of_one_policy_are_joined(folder):
    points = {
        point.agent.base: [point.actions.mean, point.solved.mean]
        for point in reading.points(folder, "loose")
        if not point.agent.run
    }
    figure = figures.pareto(folder, "loose")
    assert marks(figure, "adaptive") == [points["adaptive"]]
    assert marks(figure, "fixed depth h (same plans)") == [points["fixed-2"], points["fixed-8"]]
    rows = list(csv.reader(io.StringIO(figure.csv())))
    assert [row[0] for row in rows[1:]] == [agent.label for agent in folder.agents]
    assert len(figures.pareto(folder, "loose", compared_only=True).rows) == len(folder.agents) - 1, "no other policy"


@pytest.mark.parametrize("compared_only", [False, True])
def test_nothing_of_a_legend_is_cut_off(folder, compared_only):
    with plotting.style():
        figure = figures.pareto(folder, "loose", compared_only=compared_only).draw()
        figure.set_dpi(100)
        plotting.content(figure, "png")
    (legend,) = figure.legends
    inside, whole = legend.get_window_extent(), figure.bbox
    assert 0 <= inside.x0 < inside.x1 <= whole.x1
    assert 0 <= inside.y0 < figure.axes[0].get_window_extent().y0


def test_bars_are_the_shares_of_the_depths(folder):
    counts = by_distance.depth_counts(folder)
    with plotting.style():
        panels = figures.depth_histogram(counts).draw().axes
    for axes, one in zip(panels, counts, strict=True):
        heights = np.zeros(len(one.counts))
        for bars in axes.containers:
            heights += [bar.get_height() for bar in bars]
        assert heights == pytest.approx(100.0 * (one.total > 0))


def test_a_figure_is_the_same_bytes_in_every_process_and_knows_no_date(evaluations):
    folder = Folder(evaluations["sliding"])
    code = (
        "import sys; from recommit.report import figures; from recommit.report.reading import Folder\n"
        "figure = figures.pareto(Folder(sys.argv[1]), 'loose')\n"
        "sys.stdout.buffer.write(figure.svg + figure.content('pdf') + figure.content('png'))"
    )
    made = figures.pareto(folder, "loose")
    every = made.svg + made.content("pdf") + made.content("png")
    again = subprocess.run([sys.executable, "-c", code, str(folder.path)], check=True, capture_output=True).stdout
    assert every == again
    assert b"CreationDate" not in every
    assert b"dc:date" not in every
    assert ET.fromstring(made.svg).tag.endswith("svg")


def test_the_users_matplotlib_stays_as_it_is(evaluations):
    """No backend is chosen, pyplot is not imported, and settings are those from before; the user's change nothing."""
    folder = Folder(evaluations["sliding"])
    code = (
        "import sys, matplotlib; matplotlib.rcParams['font.size'] = 31\n"
        "before = repr(dict.items(matplotlib.rcParams))\n"
        "from recommit.report import figures; from recommit.report.reading import Folder\n"
        "svg = figures.pareto(Folder(sys.argv[1]), 'loose').svg\n"
        "assert 'matplotlib.pyplot' not in sys.modules; assert before == repr(dict.items(matplotlib.rcParams))\n"
        "sys.stdout.buffer.write(svg)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder.path)], check=True, capture_output=True)
    assert done.stdout == figures.pareto(folder, "loose").svg


def test_a_name_leads_nowhere_else(evaluations, tmp_path):
    """A budget of somebody's evaluation is part of a figure's name."""
    folder = Folder(evaluations["sliding"])
    (tmp_path / "figures" / "pareto-").mkdir(parents=True)
    figures.write_folder([replace(figures.pareto(folder, "loose"), name="pareto-/../../mine")], tmp_path / "figures")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == [
        f"pareto-_.._.._mine.{ending}" for ending in ("csv", "pdf", "png", "svg")
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["figures"]
