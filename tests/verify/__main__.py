"""``python -m tests.verify TIER``: run the rows of a tier and of those before it, and write the table of figures.

Writes ``verify-TIER.json`` and ``verify-TIER.md`` to ``build/reports`` after every row; ``--publish`` also enters the
figures into docs/reliability/figures.json, where rows that did not run keep their last figures.
``--rows L10,K5`` picks rows, ``--alone`` leaves out the earlier tiers.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tests.verify.harness import ROOT, Finding, Impossible, expect
from tests.verify.rows import ROWS, TIERS, Pytest, Row

if TYPE_CHECKING:
    from tests.verify.harness import Check

PUBLISHED = ROOT / "docs" / "reliability" / "figures.json"
REPORTS = ROOT / "build" / "reports"


@dataclasses.dataclass(frozen=True)
class Figure:
    """What came of a row."""

    row: str
    what: str
    tier: str
    target: str
    executed: int
    unit: str
    result: str
    seconds: float
    commit: str
    #: The day, in UTC.
    date: str


def commit() -> str:
    """The commit, with a plus sign where the tree holds more than it; figures left out: they are what this writes."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], check=False, capture_output=True, text=True, cwd=ROOT)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/reliability")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if changed else "")


def run_check(check: Check) -> tuple[int, str]:
    """The planted defect first: a check that misses it proves nothing."""
    try:
        check(True)
    except Finding:
        return check(False)
    raise Finding(f"{check.__module__}.{check.__name__}: the planted defect went unnoticed")


def run_tests(check: Pytest) -> tuple[int, str]:
    """Passed tests. A test may say how much it executed: record_property("executed", n)."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "pytest.xml"
        words = ["-q", "-m", "nightly and not gpu", f"--junit-xml={results}", *check.paths]
        done = subprocess.run([sys.executable, "-m", "pytest", *words], check=False, cwd=ROOT, capture_output=True)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-4000:]
        expect(done.returncode == 0 and results.exists(), f"pytest ended with {done.returncode}:\n{said}")
        cases = [case for case in ET.parse(results).getroot().iter("testcase") if case.find("skipped") is None]
    properties = [each for case in cases for each in case.iter("property") if each.get("name") == "executed"]
    executed = sum(int(each.get("value", 0)) for each in properties)
    return executed or len(cases), f"in {len(cases)} tests" if executed else "tests"


def verify(row: Row, at: str) -> Figure:
    """Run one row; nothing executed is not a pass, and what this machine cannot run is no failure."""
    begin, executed, unit = time.monotonic(), 0, ""
    try:
        executed, unit = run_tests(row.check) if isinstance(row.check, Pytest) else run_check(row.check)
        result = "pass" if executed else "FAIL: nothing was executed"
    except Impossible as reason:
        result = f"not possible here: {str(reason).splitlines()[0]}"
    except Exception as finding:  # noqa: BLE001  (a check that breaks has not passed)
        traceback.print_exception(finding)
        result = f"FAIL: {str(finding).strip().partition(chr(10))[0] or type(finding).__name__}"
    today, seconds = datetime.now(timezone.utc).date().isoformat(), round(time.monotonic() - begin, 1)
    return Figure(row.id, row.what, row.tier, row.target, executed, unit, result, seconds, at, today)


HEAD = "| row | what | tier | target | executed | result | seconds |\n|---|---|---|---|---|---|---:|\n"


def write(figures: list[Figure], path: Path) -> None:
    """As JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([dataclasses.asdict(f) for f in figures], indent=2) + "\n", encoding="utf-8")


def report(figures: list[Figure], path: Path) -> None:
    """As JSON, and beside it as a Markdown table."""
    write(figures, path)
    lines = (
        f"| {f.row} | {f.what} | {f.tier} | {f.target} | {f.executed:,} {f.unit} | {f.result} | {f.seconds:,.1f} |\n"
        for f in figures
    )
    path.with_suffix(".md").write_text(HEAD + "".join(lines), encoding="utf-8")


def publish(figures: list[Figure], path: Path = PUBLISHED) -> None:
    """Replace the figures of these rows; rows that are no longer in the table of rows go."""
    before = [Figure(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []
    latest = {(figure.row, figure.what): figure for figure in (*before, *figures)}
    write([latest[key] for row in ROWS if (key := (row.id, row.what)) in latest], path)


def main() -> int:
    """Run and report; the exit status is 1 where a row failed."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tier", choices=TIERS)
    parser.add_argument("--rows", help="only these, e.g. L10,K5")
    parser.add_argument("--alone", action="store_true", help="rows of this tier, without those of the earlier ones")
    parser.add_argument("--publish", action="store_true", help="enter the figures into docs/reliability")
    arguments = parser.parse_args()
    wanted = (arguments.tier,) if arguments.alone else TIERS[: TIERS.index(arguments.tier) + 1]
    chosen = [row for row in ROWS if row.tier in wanted]
    if arguments.rows:
        names = arguments.rows.split(",")
        unknown = sorted(set(names) - {row.id for row in chosen})
        if unknown:
            parser.error(f"no such row in tier {arguments.tier}: {', '.join(unknown)}")
        chosen = [row for row in chosen if row.id in names]
    figures: list[Figure] = []
    now = commit()
    # Quick rows run two at a time: none measures seconds or fills the memory. The longer tiers run one after the other.
    with ThreadPoolExecutor(2 if wanted == ("quick",) else 1) as threads:
        for last in threads.map(lambda row: verify(row, now), chosen):
            figures.append(last)
            print(
                f"{last.row:<4} {last.seconds:8.1f} s {last.executed:>11,}  {last.result[:50]:<50} {last.what}",
                flush=True,
            )
            report(figures, REPORTS / f"verify-{arguments.tier}.json")
            if arguments.publish:
                publish([last])
    print(f"{sum(each.result == 'pass' for each in figures)} of {len(figures)} rows pass; see {REPORTS}")
    return int(any(figure.result.startswith("FAIL") for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
