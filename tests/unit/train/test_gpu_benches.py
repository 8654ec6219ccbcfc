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
    "checks": "skipped",
    "sft": "naive_states_per_s",
    "grpo": "rows",
    "precision": "engines",
    "play": "rows",
    "reproduce": "solve_rates",
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


@pytest.mark.nightly
def test_a_plan_stands_beside_every_figure_that_has_one(page, tmp_path):
    words = [sys.executable, str(BENCH / "planned.py"), "--preset", "tiny", "--size", "6", "--out", str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True)
    assert set(result(tmp_path)["rows"]) >= {row.planned for row in page.RATES if row.planned}


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


def test_the_pages_show_what_was_measured(page):
    assert page.main(["--check"]) == 0


def test_a_loop_that_sees_something_else_is_refused(monkeypatch):
    import torch

    monkeypatch.syspath_prepend(str(BENCH))
    import grpo_7b

    import recommit

    policy, task = grpo_7b.build("tiny", "cpu"), recommit.Sokoban(6, boxes=1)
    policy.eval()
    grpo_7b.ask(policy, "picture first")  # behind a long text a tiny random network hardly tells pictures apart
    torch.nn.init.normal_(policy.depth_head.weight, std=0.5)
    states = task.generate(2, seed=1, length=(4, 20)).states
    grpo_7b.check(policy, task, states, "cpu")
    look = policy.encode
    monkeypatch.setattr(policy, "encode", lambda task, states: look(task, states[::-1].copy()))
    with pytest.raises(AssertionError, match="not the same depth logits"):
        grpo_7b.check(policy, task, states, "cpu")
