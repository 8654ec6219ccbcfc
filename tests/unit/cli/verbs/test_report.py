"""``recommit report``: the page and the figures' files; wrong calls say what was expected."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib", reason="PDF files need the report extra")

from tests.unit.report.conftest import write

from recommit.cli.verbs.stages import report
from recommit.report.options import ReportOptions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report") / "eval", "sliding")


def test_it_writes_a_page_and_figures(folder, tmp_path, capsys):
    out, figures = tmp_path / "report.html", tmp_path / "figures"
    report(ReportOptions(folder, out, instances=5, figures=figures))
    assert capsys.readouterr().out.endswith("figures, 5 of 24 instances to watch\n")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    names = {path.name for path in figures.iterdir()}
    assert {"pareto-loose.svg", "pareto-loose.csv", "depth-histogram.png"} <= names
    stems = [
        {name.removesuffix(end) for name in names if name.endswith(end)} for end in (".svg", ".pdf", ".png", ".csv")
    ]
    assert stems[0] == stems[1] == stems[2] == stems[3]
    first = out.read_bytes()
    report(ReportOptions(folder, out, instances=5), quiet=True)
    assert out.read_bytes() == first
    assert capsys.readouterr().out == ""
