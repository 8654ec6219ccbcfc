"""Instruments notice their planted defects: every row of the table of reliability leads somewhere and fails where its
check does, every benchmark looks at its answer, and what got slower is marked.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench import compare
from tests.verify import __main__ as verify
from tests.verify import sanitizers
from tests.verify.harness import ROOT, Finding, Impossible
from tests.verify.rows import ROWS, TIERS, Pytest, Row


def test_every_row_leads_somewhere() -> None:
    assert len({(row.id, row.what) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.tier in TIERS
        if isinstance(row.check, Pytest):
            assert all((ROOT / path.partition("::")[0]).exists() for path in row.check.paths), row
    named = [path for row in ROWS if isinstance(row.check, Pytest) for path in row.check.paths if "::" in path]
    for path, _, name in (each.partition("::") for each in (*sanitizers.OF_MEMORY, *named)):
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8") or not name, path


def test_every_nightly_test_has_a_row() -> None:
    paths = [path for row in ROWS if isinstance(row.check, Pytest) for path in row.check.paths]
    for path in (ROOT / "tests").rglob("test_*.py"):
        text, named = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix() + "::"
        if re.search(r"mark\.nightly", text) and not any(path.is_relative_to(ROOT / each) for each in paths):
            some = {each.removeprefix(named) for each in paths if each.startswith(named)}
            assert some, f"{path}: no row runs its nightly tests"
            assert some == set(re.findall(r"^def (test_\w+)", text, re.MULTILINE)), f"{path}: no row runs some of them"


@pytest.mark.parametrize(
    ("plain", "planted", "result"),
    [
        ((3, "things"), Finding("planted"), "pass"),
        ((0, "things"), Finding("planted"), "FAIL: nothing was executed"),
        (Finding("2 is not 3\nmore"), Finding("planted"), "FAIL: 2 is not 3"),
        (KeyError("broken"), Finding("planted"), "FAIL: 'broken'"),
        ((3, "things"), (3, "things"), "FAIL: tests.structure.test_verify.check: the planted defect went unnoticed"),
        ((3, "things"), Impossible("no strace"), "not possible here: no strace"),
    ],
)
def test_a_row_passes_where_its_check_does_and_finds_its_defect(plain: Any, planted: Any, result: str) -> None:
    def check(plant: bool) -> tuple[int, str]:
        came: Any = planted if plant else plain
        if isinstance(came, Exception):
            raise came
        return came  # type: ignore[no-any-return]

    assert verify.verify(Row("X1", "what", "quick", "all", check), "here").result == result


def test_a_nightly_test_is_counted_and_its_failure_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test_planted.py"
    text = "import pytest\npytestmark = pytest.mark.nightly\ndef test_one(record_property):\n    {}\n"
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which take seconds to import
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = nightly: slow\n")
    path.write_text(text.format("record_property('executed', 1000)"))
    assert verify.run_tests(Pytest((str(path),))) == (1000, "in 1 tests")
    path.write_text(text.format("assert 2 == 3"))
    with pytest.raises(Finding, match=r"(?s)pytest ended with 1.*2 == 3"):
        verify.run_tests(Pytest((str(path),)))


@pytest.mark.nightly
def test_a_spoiled_answer_fails_every_benchmark() -> None:
    words = ["bench", "--benchmark-disable", "--plant", "-q", "--tb=no", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert re.search(r"\b[1-9]\d* failed", last), done.stdout + done.stderr
    assert "passed" not in last, done.stdout
    assert "error" not in last, done.stdout


def test_the_committed_baseline_has_ratios_and_what_fell_is_marked() -> None:
    ratios = json.loads(compare.BASELINE.read_text("utf-8"))["ratios"]
    groups = {name.split(":")[0] for name in ratios}
    assert {"simulation", "pictures", "patches", "solving", "generation", "data", "look", "rollout"} <= groups
    assert all(ratio > 0 for ratio in ratios.values())

    def run(scale: float, slow: float = 1.0) -> dict[str, Any]:
        seconds = {"plain": 2.0 * scale, "quick": 0.5 * scale, "other": 0.25 * scale * slow}
        about = {name: {"items": 100, "yardstick": name == "plain"} for name in seconds}
        return {
            "benchmarks": [
                {"group": "some", "name": f"test_{name}", "extra_info": about[name], "stats": {"min": seconds[name]}}
                for name in seconds
            ]
        }

    before = {line.name: line.ratio for line in compare.lines(run(1), {})}
    assert before == {"some: quick": 4.0, "some: other": 8.0}
    for slow, marked in ((1.5, []), (1.7, ["some: other"]), (0.1, [])):  # on a machine that takes three times as long
        fell = [line.name for line in compare.lines(run(3, slow), before) if line.fell(compare.FACTOR)]
        assert fell == marked
