"""The table of reliability is itself in order: rows that lead somewhere, counts that count, failures that fail."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path

import pytest
from tests.verify import __main__ as verify
from tests.verify import runners
from tests.verify.harness import ROOT, Finding
from tests.verify.rows import ROWS, TIERS, Harness, Pytest

JUNIT = """<testsuites><testsuite timestamp="2026-11-23T22:40:46.525142+00:00">
<testcase classname="tests.unit.test_a" name="test_one[x]" time="0.5"/>
<testcase classname="tests.unit.test_a" name="test_two" time="1.5">
  <properties><property name="executed" value="1000"/></properties>
</testcase>
<testcase classname="tests.unit.test_ab" name="test_one" time="0.1"><skipped/></testcase>
<testcase classname="tests.unit.puzzles.test_c" name="test_one" time="0.1">
  <failure message="2 is not 3">assert 2 == 3</failure>
</testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.id}-{row.tier}")
def test_every_row_leads_somewhere(row: verify.Row) -> None:
    assert row.tier in TIERS
    if isinstance(row.check, Pytest):
        assert all((ROOT / path.split("::")[0]).exists() for path in row.check.paths)
    elif isinstance(row.check, Harness):
        importlib.import_module(f"tests.verify.{row.check.module}")
    else:
        assert list((ROOT / "tests" / "cpp").glob(f"{row.check.pattern}.cpp"))


def test_rows_have_names_of_their_own() -> None:
    names = [(row.id, row.what) for row in ROWS]
    assert len(set(names)) == len(names)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "pytest.xml"
    path.write_text(JUNIT)
    return path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/unit/test_a.py", runners.Ran(1000, "in 2 tests", 2.0)),
        ("tests/unit/test_a.py::test_one", runners.Ran(1, "tests", 0.5)),
        ("tests/unit/test_a.py::test_one[x]", runners.Ran(1, "tests", 0.5)),
        ("tests/unit/test_a.py::test_one[y]", runners.Ran(0, "tests", 0.0)),
        ("tests/unit/test_ab.py", runners.Ran(0, "tests (1 skipped)", 0.1)),
    ],
)
def test_what_was_executed_is_counted(results: Path, path: str, expected: runners.Ran) -> None:
    assert runners.count(results, (path,)) == expected


def test_a_failure_is_a_finding(results: Path) -> None:
    with pytest.raises(Finding, match=r"(?s)test_c.*2 is not 3.*assert 2 == 3"):
        runners.count(results, ("tests/unit",))


def test_results_are_of_the_commit_at_which_they_were_begun(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are committed while tests run, and after."""
    asked = []
    answers = {"rev-list": "old", "rev-parse": "old-", "status": ""}

    def git(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, answers[words[1]], "")

    monkeypatch.setattr(verify.subprocess, "run", git)
    assert verify.commit(runners.began(results)) == "old-"
    assert asked[0][3].startswith("--before=2026-11-23T22:40:46")
    assert asked[1][-1] == "old"


@pytest.mark.parametrize(
    ("ran", "result"),
    [(runners.Ran(3, "things"), "pass"), (runners.Ran(0, "things"), "FAIL: nothing was executed")],
)
def test_nothing_executed_is_no_pass(ran: runners.Ran, result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "run", lambda _check, _results: ran)
    assert verify.verify(ROWS[0], None, "here").result == result


def test_what_a_machine_cannot_run_neither_passes_nor_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in ROWS if isinstance(row.check, Harness))
    monkeypatch.setattr(runners, "command", lambda _words: '{"impossible": "unshare is not installed"}')
    assert verify.verify(row, None, "here").result == "not possible here: unshare is not installed"
    monkeypatch.setattr(verify, "REPORTS", tmp_path)
    monkeypatch.setattr(verify, "ROWS", (row,))
    monkeypatch.setattr("sys.argv", ["verify", "release"])
    assert verify.main() == 0
    assert "not possible here" in (tmp_path / "verify-release.md").read_text()


def test_a_harness_that_misses_its_defect_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "command", lambda _words: '{"executed": 1, "unit": "x"}')
    with pytest.raises(Finding, match="went unnoticed"):
        runners.run(Harness("signature"))


def figure(row: verify.Row, executed: int) -> verify.Figure:
    return verify.Figure(row.id, row.what, row.tier, row.target, executed, "things", "pass", 1.0, "here", "2026-01-02")


def test_published_figures_of_other_rows_stay(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    verify.publish([figure(ROWS[1], 1), figure(ROWS[0], 2)], path)
    verify.publish([figure(ROWS[1], 3)], path)
    assert [entry["executed"] for entry in json.loads(path.read_text())] == [2, 3]


def test_every_row_is_published_also_before_it_ever_ran(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    verify.publish([figure(ROWS[0], 7)], path)
    table = path.with_suffix(".md").read_text().splitlines()[2:]
    assert len(table) == len(ROWS)
    assert "| 7 things | pass | 1.0 | 2026-01-02 | `here` |" in table[0]
    assert all(
        f"not run yet: `bash scripts/verify {row.tier} --alone --rows {row.id}`" in line
        for row, line in zip(ROWS[1:], table[1:], strict=True)
    )


@pytest.mark.parametrize("tier", ["quick", "nightly"])
def test_figures_are_written_after_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    """Also where rows run side by side."""
    rows = [row for row in ROWS if row.tier == tier][:2]
    monkeypatch.setattr(verify, "REPORTS", tmp_path)
    monkeypatch.setattr(verify, "ROWS", rows)

    def verified(row: verify.Row, *_: object) -> verify.Figure:
        if row is rows[1]:
            raise SystemExit  # the program ends
        return figure(row, 1)

    monkeypatch.setattr(verify, "verify", verified)
    monkeypatch.setattr("sys.argv", ["verify", tier])
    with pytest.raises(SystemExit):
        verify.main()
    assert [entry["executed"] for entry in json.loads((tmp_path / f"verify-{tier}.json").read_text())] == [1]


def test_rows_of_the_longer_tiers_run_alone() -> None:
    quick, nightly = (next(row for row in ROWS if row.tier == tier) for tier in ("quick", "nightly"))
    assert verify.side_by_side([quick, quick]) == 2
    assert verify.side_by_side([quick, nightly]) == 1


def test_a_tier_may_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "REPORTS", tmp_path)
    monkeypatch.setattr(verify, "verify", lambda row, _results, _at: figure(row, 1))
    for more, tiers in (["--alone"], {"nightly"}), ([], {"quick", "nightly"}):
        monkeypatch.setattr("sys.argv", ["verify", "nightly", *more])
        assert verify.main() == 0
        written = json.loads((tmp_path / "verify-nightly.json").read_text())
        assert len(written) == sum(row.tier in tiers for row in ROWS)
