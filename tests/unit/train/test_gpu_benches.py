"""The scripts that wait for a GPU, on a CPU and in small: they check their own answers before they time anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import HANG

pytest.importorskip("torch")
pytest.importorskip("transformers")

ROOT = Path(__file__).parents[3]
BENCH = ROOT / "bench" / "gpu"
#: One of the figures that each part must report.
FIGURES = {
    "attention": "rows",
    "cells": "rows",
    "checks": "skipped",
    "sft": "rows",
    "grpo": "rows",
    "run": "rows",
    "precision": "engines",
    "play": "rows",
}


@pytest.fixture
def visit(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import visit

    return visit


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import page

    return page


def result(folder):
    (path,) = folder.glob("*.json")
    return json.loads(path.read_text())


@pytest.mark.nightly
def test_every_part_of_a_visit_reports_a_figure(visit, page, tmp_path):
    pytest.importorskip("PIL")
    only = tuple(FIGURES)
    call = ["bash", str(BENCH / "all"), "--dry-run", "--minutes", "60", "--out", str(tmp_path), "--only", *only]
    said = subprocess.run(
        call, env=os.environ | {"PYTHON": sys.executable}, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-2000:]
    found = result(tmp_path)
    assert found["dry"]
    assert found["packages"]["torch"]
    assert {name: part["status"] for name, part in found["parts"].items()} == dict.fromkeys(only, "ok")
    assert set(FIGURES) == {part.name for part in visit.PARTS}
    for name, figure in ((name, FIGURES[name]) for name in only):
        assert found["parts"][name]["figures"][figure], name
        assert re.search(rf"^{name} +ok ", said.stdout, re.MULTILINE)
    assert [row.what for row in page.RATES if page.cell(row, found) == page.NONE] == []


def program(text):
    return [sys.executable, "-c", text]


WRITES = "import pathlib, sys; pathlib.Path(sys.argv[1], 'a.json').write_text('{\"rate\": 2.5}')"
PLANTED = {
    "fails": (program("import sys; print('no such card'); sys.exit(3)"), HANG, r"exit status 3: no such card"),
    "silent": (program("pass"), HANG, r"no figure"),
    "hangs": (program("import signal; signal.pause()"), 0.01, r"not done after 0 s"),
    "fine": ([*program(WRITES), "OUT"], HANG, None),
}


def test_a_part_that_fails_is_reported_and_the_others_go_on(visit, tmp_path, monkeypatch, capsys):
    parts = [visit.Part(name, limit, call, call, visit.written) for name, (call, limit, _) in PLANTED.items()]
    monkeypatch.setattr(visit, "PARTS", parts)
    monkeypatch.setattr(visit, "LEAST", 0.0)
    assert visit.main(["--dry-run", "--out", str(tmp_path)]) == 1
    found, said = result(tmp_path)["parts"], capsys.readouterr().out
    for name, (_, _, reason) in PLANTED.items():
        assert found[name]["status"] == ("failed" if reason else "ok")
        assert reason is None or re.search(reason, found[name]["reason"])
        assert re.search(rf"^{name} +(failed|ok) ", said, re.MULTILINE)
    assert found["fine"]["figures"] == {"rate": 2.5}
