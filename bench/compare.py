"""Whether anything got slower, as ratios to a yardstick of the same run, so that machines differ less.

    pytest bench --benchmark-json now.json
    python bench/compare.py now.json                    # beside bench/baseline.json
    python bench/compare.py now.json --write            # now.json becomes the baseline

Each group has a yardstick that every machine can run: plain Python, a copy by numpy, a product of matrices. A
benchmark's ratio is its items per second over those of its group's yardstick. "now / then" compares that with the
committed ratio; what fell by more than --factor is marked, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASELINE = Path(__file__).resolve().parent / "baseline.json"
#: Two runs of the same code on a busy machine differ by less.
FACTOR = 1.6


@dataclass(frozen=True)
class Line:
    """One benchmark: items per second now, and its ratio to the yardstick now and then."""

    name: str
    rate: float
    ratio: float | None
    before: float | None

    @property
    def change(self) -> float | None:
        return self.ratio / self.before if self.ratio and self.before else None

    def fell(self, factor: float) -> bool:
        return self.change is not None and self.change * factor < 1


def rate(benchmark: dict[str, Any]) -> float:
    """Items per second: what a foreign program said, or of the quickest round."""
    extra = benchmark["extra_info"]
    return float(extra["rate"] if "rate" in extra else extra["items"] / benchmark["stats"]["min"])


def name_of(benchmark: dict[str, Any]) -> str:
    return f"{benchmark['group']}: {benchmark['name'].removeprefix('test_').replace('_', ' ')}"


def lines(run: dict[str, Any], before: dict[str, float]) -> list[Line]:
    """Every benchmark of a run that is no yardstick, group by group."""
    benchmarks = sorted(run["benchmarks"], key=name_of)
    yardsticks = {each["group"]: rate(each) for each in benchmarks if each["extra_info"]["yardstick"]}
    found = []
    for each in benchmarks:
        if not each["extra_info"]["yardstick"]:
            items, name, yardstick = rate(each), name_of(each), yardsticks.get(each["group"])
            found.append(Line(name, items, items / yardstick if yardstick else None, before.get(name)))
    return found


def table(results: list[Line], factor: float) -> str:
    """As text."""
    width = max((len(line.name) for line in results), default=9)
    rows = [f"{'benchmark':<{width}}{'items/s':>16}{'ratio':>12}{'then':>12}{'now / then':>12}"]
    for line in results:
        numbers = "".join(
            f"{'-' if each is None else f'{each:,.3g}':>12}" for each in (line.ratio, line.before, line.change)
        )
        rows.append(f"{line.name:<{width}}{line.rate:>16,.0f}{numbers}{'  SLOWER' if line.fell(factor) else ''}")
    return "\n".join(rows)


def write(run: dict[str, Any], results: list[Line]) -> None:
    """The ratios, and on which machine they were measured."""
    about = run["machine_info"]
    machine = {"processor": about["cpu"].get("brand_raw", ""), "python": about["python_version"]}
    ratios = {line.name: float(f"{line.ratio:.3g}") for line in results if line.ratio is not None}
    values = {"machine": machine, "date": run["datetime"][:10], "ratios": ratios}
    BASELINE.write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what `pytest bench --benchmark-json` wrote")
    parser.add_argument("--factor", type=float, default=FACTOR, help=f"mark what fell by more than this ({FACTOR})")
    parser.add_argument("--write", action="store_true", help="make this run the baseline")
    options = parser.parse_args()
    run = json.loads(options.run.read_text("utf-8"))
    before = json.loads(BASELINE.read_text("utf-8"))["ratios"] if BASELINE.exists() else {}
    results = lines(run, before)
    print(table(results, options.factor))
    for name in sorted(before.keys() - {line.name for line in results}):
        print(f"{name}: not in this run")
    if options.write:
        write(run, results)
        return 0
    return int(any(line.fell(options.factor) for line in results))


if __name__ == "__main__":
    sys.exit(main())
