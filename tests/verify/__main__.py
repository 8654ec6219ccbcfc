"""``python -m tests.verify TIER``: run the rows of a tier and write the table of figures.

Writes ``verify-TIER.json`` and ``verify-TIER.md`` to ``build/reports`` (``--publish``: to ``docs/reliability``).
``--rows L10,K5`` picks rows; ``--results FILE`` takes pytest's results from a JUnit file of a run that just happened.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

from tests.verify import runners
from tests.verify.harness import ROOT, Finding
from tests.verify.rows import ROWS, TIERS, Row

PUBLISHED = ROOT / "docs" / "reliability"
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


def commit() -> str:
    """The commit, with a plus sign where the tree holds more than it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], check=False, capture_output=True, text=True, cwd=ROOT)
        return done.stdout.strip() if done.returncode == 0 else ""

    name = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return name + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def verify(row: Row, results: Path | None, at: str) -> Figure:
    """Run one row; nothing executed is not a pass."""
    begin = time.monotonic()
    try:
        ran = runners.run(row.check, results)
        result = "pass" if ran.executed else "FAIL: nothing was executed"
    except Finding as finding:
        ran = runners.Ran(0, "")
        print(finding, file=sys.stderr)
        result = "FAIL: " + str(finding).splitlines()[0]
    seconds = ran.seconds if ran.seconds is not None else time.monotonic() - begin
    return Figure(row.id, row.what, row.tier, row.target, ran.executed, ran.unit, result, round(seconds, 1), at)


def markdown(figures: list[Figure]) -> str:
    """The table that the documentation shows."""
    lines = ["| row | what | tier | target | executed | result | seconds |", "|---|---|---|---|---|---|---|"]
    lines += [
        f"| {f.row} | {f.what} | {f.tier} | {f.target} | {f.executed:,} {f.unit} | {f.result} | {f.seconds:,.1f} |"
        for f in figures
    ]
    commits = ", ".join(f"`{c}`" for c in sorted({f.commit for f in figures}))
    return "\n".join(lines) + f"\n\nMeasured at commit {commits}.\n"


def main() -> int:
    """Run and report; the exit status is 1 where a row failed."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tier", choices=TIERS)
    parser.add_argument("--rows", help="only these, e.g. L10,K5")
    parser.add_argument("--results", type=Path, help="a JUnit file that pytest has just written")
    parser.add_argument("--publish", action="store_true", help="write the table to docs/reliability")
    arguments = parser.parse_args()
    wanted = TIERS[: TIERS.index(arguments.tier) + 1]
    chosen = [row for row in ROWS if row.tier in wanted]
    if arguments.rows:
        names = arguments.rows.split(",")
        unknown = sorted(set(names) - {row.id for row in chosen})
        if unknown:
            parser.error(f"no such row in tier {arguments.tier}: {', '.join(unknown)}")
        chosen = [row for row in chosen if row.id in names]
    results = arguments.results if arguments.results and arguments.results.exists() else None
    at, figures = commit(), []
    for row in chosen:
        figures.append(verify(row, results, at))
        last = figures[-1]
        print(
            f"{last.row:<4} {last.seconds:8.1f} s  {last.executed:>10,}  {last.result[:60]:<60} {row.what}", flush=True
        )
    folder = PUBLISHED if arguments.publish else REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    name = f"verify-{arguments.tier}"
    text = json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(markdown(figures), encoding="utf-8")
    failed = [figure.row for figure in figures if figure.result != "pass"]
    print(f"{len(figures) - len(failed)} of {len(figures)} rows pass; the table is in {folder / name}.md")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
