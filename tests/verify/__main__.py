"""``python -m tests.verify TIER``: run the rows of a tier and of those before it, and write the table of figures.

Writes ``verify-TIER.json`` and ``verify-TIER.md`` to ``build/reports`` after every row; ``--publish`` also enters the
figures into the table that the documentation shows, where rows that did not run keep their last figures.
``--rows L10,K5`` picks rows, ``--alone`` leaves out the earlier tiers; ``--results FILE`` takes pytest's results from a
JUnit file of a run that just happened.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tests.verify import runners
from tests.verify.harness import ROOT, Finding, Impossible
from tests.verify.rows import ROWS, TIERS, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

PUBLISHED = ROOT / "docs" / "reliability" / "figures.json"
#: What a row says that this machine cannot run: no pass, and nobody's fault.
NOT_HERE = "not possible here"
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
    #: The day, in UTC; empty in figures from before it was noted.
    date: str = ""


def commit(at: datetime | None = None) -> str:
    """The commit, or that of a moment, with a plus sign where the tree holds more than it; figures left out: they are
    what this writes.
    """

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], check=False, capture_output=True, text=True, cwd=ROOT)
        return done.stdout.strip() if done.returncode == 0 else ""

    then = git("rev-list", "-1", f"--before={at.isoformat()}", "HEAD") if at else "HEAD"
    name = git("rev-parse", "--short=12", then or "HEAD") or "unknown"
    return name + ("+" if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/reliability") else "")


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
    except Impossible as reason:
        ran, result = runners.Ran(0, ""), f"{NOT_HERE}: {str(reason).splitlines()[0]}"
    seconds = ran.seconds if ran.seconds is not None else time.monotonic() - begin
    today = datetime.now(timezone.utc).date().isoformat()
    return Figure(row.id, row.what, row.tier, row.target, ran.executed, ran.unit, result, round(seconds, 1), at, today)


HEAD = (
    "| row | what | tier | target | executed | result | seconds | date | commit |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


def line(figure: Figure) -> str:
    """A row of the table that ran."""
    f = figure
    return (
        f"| {f.row} | {f.what} | {f.tier} | {f.target} | {f.executed:,} {f.unit} | {f.result} | {f.seconds:,.1f} "
        f"| {f.date or '-'} | `{f.commit}` |\n"
    )


def missing(row: Row) -> str:
    """A row of the table that never ran, and how to run it."""
    command = f"`bash scripts/verify {row.tier} --alone --rows {row.id}`"
    return f"| {row.id} | {row.what} | {row.tier} | {row.target} | - | not run yet: {command} | - | - | - |\n"


def write(figures: list[Figure], path: Path, table: str = "") -> None:
    """As JSON, and beside it as Markdown."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([dataclasses.asdict(f) for f in figures], indent=2) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table or HEAD + "".join(map(line, figures)), encoding="utf-8")


def publish(figures: list[Figure], path: Path = PUBLISHED) -> None:
    """Replace the figures of these rows; rows that are no longer in the table of rows go."""
    before = [Figure(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []
    latest = {(f.row, f.what): f for f in (*before, *figures)}
    named = {row: latest.get((row.id, row.what)) for row in ROWS}
    table = HEAD + "".join(missing(row) if figure is None else line(figure) for row, figure in named.items())
    write([figure for figure in named.values() if figure], path, table)


def longest_first(rows: Sequence[Row], path: Path = PUBLISHED) -> list[Row]:
    """By the seconds that they took last: so the last of them end at about the same time."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    seconds = {(entry["row"], entry["what"]): entry["seconds"] for entry in before}
    return sorted(rows, key=lambda row: -seconds.get((row.id, row.what), 0.0))


def side_by_side(rows: Sequence[Row]) -> int:
    """How many at a time: two quick ones, of which none measures seconds or fills the memory; others are alone."""
    return 2 if all(row.tier == "quick" for row in rows) else 1


def main() -> int:
    """Run and report; the exit status is 1 where a row failed."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tier", choices=TIERS)
    parser.add_argument("--rows", help="only these, e.g. L10,K5")
    parser.add_argument("--alone", action="store_true", help="rows of this tier, without those of the earlier ones")
    parser.add_argument("--results", type=Path, help="a JUnit file that pytest has just written")
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
    results = arguments.results if arguments.results and arguments.results.exists() else None
    now, figures = commit(), []
    then = now if results is None else commit(runners.began(results))
    side = side_by_side(chosen)
    ordered = longest_first(chosen) if side > 1 else chosen
    with ThreadPoolExecutor(side) as threads:
        for last in threads.map(lambda row: verify(row, results, then if runners.taken(row.check) else now), ordered):
            figures.append(last)
            print(
                f"{last.row:<4} {last.seconds:8.1f} s  {last.executed:>10,}  {last.result[:60]:<60} {last.what}",
                flush=True,
            )
            write(figures, REPORTS / f"verify-{arguments.tier}.json")
            if arguments.publish:
                publish([last])
    passed = sum(figure.result == "pass" for figure in figures)
    failed = [figure.row for figure in figures if figure.result.startswith("FAIL")]
    print(f"{passed} of {len(figures)} rows pass; the table is in {REPORTS}/verify-{arguments.tier}.md")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
