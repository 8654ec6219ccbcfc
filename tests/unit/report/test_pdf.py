"""The PDF shows what the SVG shows, and is the same bytes every time."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recommit.report import axes
from recommit.report.axes import Figure
from recommit.report.embed import Html, tag

pytest.importorskip("matplotlib", reason="PDF files need the report extra")

from recommit.report import pdf

ROOT = Path(__file__).resolve().parents[3]


def figure(*parts: Html) -> Figure:
    return Figure("f", "a < b", axes.drawing("a < b", list(parts)), ("a",), ((1,),))


PARTS = (
    tag("rect", class_="depth d1", x=100, y=100, width=40, height=60),
    tag("g", tag("line", class_="bar", x1=200, x2=260, y1=50, y2=50), class_="point fixed"),
    tag("g", tag("rect", class_="depth d8", x=300, y=100, width=40, height=60), class_="column few"),
    tag("g", axes.words(50, 250, "label", "label"), tag("title", "not drawn"), class_="first"),
    axes.path([(20, 300), (400, 300)], "family"),
    axes.words(20, 320, "tick", "tick"),
)


def pixels(*parts: Html) -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with pdf.settings():
        page = pdf.page(figure(*parts))
        page.set_dpi(72)
        canvas = FigureCanvasAgg(page)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def test_shapes_stand_where_they_are_in_their_colours():
    shown = pixels(*PARTS)
    assert shown.shape[:2] == (axes.HEIGHT, axes.WIDTH)
    assert shown[130, 120].tolist() == [0xF5, 0xC4, 0x51]
    assert shown[170, 120].tolist() == [255, 255, 255]
    pale = np.array([0x2C, 0x3A, 0x7E]) * 0.35 + 255 * 0.65  # few decisions: opacity .35
    assert np.abs(shown[130, 320] - pale).max() <= 2
    orange = shown[48:53, 230].min(axis=0)  # half a pixel of an orange bar, at 60 %
    assert orange[0] > orange[1] > orange[2]
    blue = shown[238:252, 50:85].reshape(-1, 3).astype(int)
    assert (blue[:, 2] - blue[:, 0] > 80).sum() > 20


def test_the_file_is_the_same_every_time_and_knows_no_date():
    made = pdf.pdf(figure(*PARTS))
    code = "import sys; from tests.unit.report.test_pdf import *; sys.stdout.buffer.write(pdf.pdf(figure(*PARTS)))"
    again = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT).stdout
    assert made == again
    assert made.startswith(b"%PDF-1.")
    assert b"/CreationDate" not in made
    assert b"/FontFile2" in made  # the font is inside
    assert pdf.pdf(figure(*PARTS[1:])) != made


def test_nothing_is_left_out_in_silence():
    with pytest.raises(ValueError, match="got an element ellipse"):
        pdf.pdf(figure(tag("ellipse", cx=1)))


def test_no_text_is_taken_for_a_formula():
    assert len(pdf.pdf(figure(axes.words(10, 10, "$\\frac{1}$ and $", "label")))) > 1000


def test_a_name_leads_nowhere_else(tmp_path):
    """A budget of somebody's evaluation is part of a figure's name."""
    (tmp_path / "figures" / "pareto-").mkdir(parents=True)
    pdf.write_folder([replace(figure(*PARTS), name="pareto-/../../mine")], tmp_path / "figures")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == [
        f"pareto-_.._.._mine.{ending}" for ending in ("csv", "pdf", "svg")
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["figures"]
