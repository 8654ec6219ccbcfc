"""The table of reliability is itself in order: rows that lead somewhere, failures that fail, figures that stay."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from typing import TYPE_CHECKING

import pytest
from tests.verify import __main__ as verify
from tests.verify import fuzzing, network, sanitizers
from tests.verify.harness import ROOT, Finding, Impossible
from tests.verify.rows import ROWS, TIERS, Harness, Pytest

if TYPE_CHECKING:
    from pathlib import Path

HARNESS = next(row for row in ROWS if isinstance(row.check, Harness))


def test_every_row_leads_somewhere() -> None:
    assert len({(row.id, row.what) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.tier in TIERS
        if isinstance(row.check, Pytest):
            assert all((ROOT / path.partition("::")[0]).exists() for path in row.check.paths), row
        else:
            module = importlib.import_module(f"tests.verify.{row.check.module}")
            assert all(hasattr(module, name) for name in row.check.arguments), row
    named = [path for row in ROWS if isinstance(row.check, Pytest) for path in row.check.paths if "::" in path]
    for path, _, name in (each.partition("::") for each in (*network.PARTS, *sanitizers.OF_MEMORY, *named)):
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
    ("came", "result"),
    [
        ((3, "things"), "pass"),
        ((0, "things"), "FAIL: nothing was executed"),
        (Finding("2 is not 3\nmore"), "FAIL: 2 is not 3"),
        (Impossible("no strace"), "not possible here: no strace"),
    ],
)
def test_what_came_of_a_row(came: object, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: object) -> object:
        if isinstance(came, Exception):
            raise came
        return came

    monkeypatch.setattr(verify, "run_harness", run)
    monkeypatch.setattr(verify, "ROWS", (HARNESS,))
    monkeypatch.setattr(verify, "REPORTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["verify", "quick"])
    assert verify.main() == result.startswith("FAIL")
    assert result in (tmp_path / "verify-quick.md").read_text()


def test_a_harness_that_misses_its_defect_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "run", lambda _words: '{"executed": 1, "unit": "x"}')
    with pytest.raises(Finding, match="went unnoticed"):
        verify.run_harness(Harness("signature"))


def test_nightly_tests_are_counted_and_a_failure_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test_planted.py"
    text = "import pytest\npytestmark = pytest.mark.nightly\ndef test_one(record_property):\n    {}\n"
    path.write_text(text.format("record_property('executed', 1000)"))
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which take seconds to import
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = nightly: slow\n")
    assert verify.run_tests(Pytest((str(path),))) == (1000, "in 1 tests")
    path.write_text(text.format("assert 2 == 3"))
    with pytest.raises(Finding, match=r"(?s)pytest ended with 1.*2 == 3"):
        verify.run_tests(Pytest((str(path),)))


def test_published_figures_of_other_rows_stay(tmp_path: Path) -> None:
    def figure(row: verify.Row, executed: int) -> verify.Figure:
        about = (row.id, row.what, row.tier, row.target)
        return verify.Figure(*about, executed, "things", "pass", 1.0, "here", "2026-01-02")

    path = tmp_path / "figures.json"
    gone = dataclasses.replace(ROWS[0], what="gone")
    verify.publish([figure(ROWS[1], 1), figure(ROWS[0], 2), figure(gone, 4)], path)
    verify.publish([figure(ROWS[1], 3)], path)
    assert [entry["executed"] for entry in json.loads(path.read_text())] == [2, 3]


def test_slowness_of_the_machine_is_forgiven_and_that_of_a_parser_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow-unit-1"
    slow.write_text("#")
    for own, findings in ((0.1, 0), (1.2, 1)):
        seconds = iter([2.0 + own, 2.0])
        monkeypatch.setattr(fuzzing, "cpu_seconds", lambda *_, seconds=seconds: next(seconds))
        if findings:
            slow.write_text("#")
            with pytest.raises(Finding, match=r"takes 1\.2 s"):
                fuzzing.check_slow(tmp_path / "target", slow, tmp_path)
        else:
            fuzzing.check_slow(tmp_path / "target", slow, tmp_path)
            assert not slow.exists()
