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
    "grpo": "exact",
    "play": "decisions_per_s",
    "plan": "rows",
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
@pytest.mark.parametrize("only", [tuple(FIGURES)])
def test_every_part_of_a_visit_reports_a_figure(visit, tmp_path, only):
    pytest.importorskip("PIL")
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


def test_a_visit_whose_time_is_over_begins_no_part(visit, tmp_path, monkeypatch):
    call, limit, _ = PLANTED["fine"]
    monkeypatch.setattr(visit, "PARTS", [visit.Part("fine", limit, [*call, "OUT"], call, visit.written)])
    assert visit.main(["--dry-run", "--out", str(tmp_path), "--spent", "600"]) == 1
    assert result(tmp_path)["parts"]["fine"]["reason"] == "no time left"


def test_parts_fit_into_ten_minutes(visit):
    """The last one takes what is left, a minute and a half at least."""
    assert sum(part.limit for part in visit.PARTS[:-1]) <= 600 - 60


def test_the_pages_show_what_was_measured(page):
    assert page.main(["--check"]) == 0


def test_a_page_with_another_table_is_noticed(page, tmp_path, monkeypatch):
    path, name, make = page.TABLES[0]
    other = tmp_path / "page.md"
    other.write_text(path.read_text().replace(page.NONE, "7,001 states/s", 1))
    monkeypatch.setattr(page, "TABLES", [(other, name, make)])
    assert page.main(["--check"]) == 1
    assert page.main([]) == 0
    assert page.main(["--check"]) == 0


def test_a_visit_fills_its_rows(page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    figures = {"decisions_per_s": 1234.5, "looks_per_s": 99.25}
    tests = {"passed": 40, "skipped": 1, "failed": 0}
    seen = {"play": {"status": "ok", "figures": figures}, "checks": {"status": "ok", "figures": tests}}
    seen |= {"sft": {"status": "failed", "reason": "exit status 1"}}
    of = lambda date: {"device": "H100", "date": date, "dry": False, "parts": seen}
    (tmp_path / "new.json").write_text(json.dumps(of("2031-02-03")))
    (tmp_path / "old.json").write_text(json.dumps(of("2030-02-03")))
    (tmp_path / "dry.json").write_text(json.dumps({**of("2032-01-01"), "dry": True}))
    table = page.rates()
    assert "| 1,234.5, 99.2 | `bash bench/gpu/all --only play` |" in table
    assert "H100, 2031-02-03" in table
    assert "2030" not in table + page.tests()
    assert table.count(page.NONE) == sum(row.part not in ("play", "checks") for row in page.RATES)
    assert "H100, 2031-02-03: 40 passed, 0 failed" in page.tests()


def test_what_is_planned_is_shown(page):
    """Every quantity that a plan can tell has its number in the table."""
    plans, table = page.planned()["rows"], page.rates()
    assert {row.planned for row in page.RATES if row.planned} == plans.keys()
    assert all(f"| {number} |" in table for number in plans.values())


def test_every_file_that_wants_a_gpu_is_listed(page):
    """No file elsewhere has such tests."""
    mark = re.compile(r"^(@|pytestmark.*)pytest\.mark\.gpu", re.MULTILINE)
    marks = {p for p in (ROOT / "tests").rglob("*.py") if mark.search(p.read_text())}
    assert marks <= set(page.files())
    assert all(page.marked(path) for path in page.files())


@pytest.mark.nightly
def test_every_test_that_wants_a_gpu_is_listed(page):
    """What pytest would run is what the page names."""
    files = [path.relative_to(ROOT).as_posix() for path in page.files()]
    call = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "gpu", *files]
    said = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    collected = set(re.findall(r"^(tests/[\w/]+\.py)::(\w+)", said, re.MULTILINE))
    assert {
        (file, name) for file, path in zip(files, page.files(), strict=True) for name in page.marked(path)
    } == collected


def test_a_loop_that_sees_something_else_is_refused(monkeypatch):
    import torch

    monkeypatch.syspath_prepend(str(BENCH))
    import grpo_7b

    import recommit

    policy, task = grpo_7b.build("tiny", "cpu"), recommit.Sokoban(6, boxes=1)
    policy.eval()
    torch.nn.init.normal_(policy.depth_head.weight, std=0.5)
    states = task.generate(2, seed=1, length=(4, 20)).states
    grpo_7b.check(policy, task, states, "cpu")
    look = policy.encode
    monkeypatch.setattr(policy, "encode", lambda task, states: look(task, states[::-1].copy()))
    with pytest.raises(AssertionError, match="not the same depth logits"):
        grpo_7b.check(policy, task, states, "cpu")
