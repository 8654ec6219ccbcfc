"""What the test split of every preset shares with its training paths: builds their data and writes the table's CSV.

python -m bench.pages.overlaps   # some ten minutes; docs/results.md quotes it
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.pages.gather import ASSETS

import recommit.data
from recommit.reproduce import preset

if TYPE_CHECKING:
    from recommit.data.spec import DataSpec

HEAD = (
    "presets",
    "puzzle",
    "training instances",
    "splits never share",
    "test starts on training paths",
    "states of test paths on training paths",
)


def users() -> dict[DataSpec, list[str]]:
    """Everything that presets train on, and which of them."""
    found: dict[DataSpec, list[str]] = {}
    for name in preset.names():
        for line in preset.load(name, Path()):
            if line.verb == "data build":
                found.setdefault(line.options.spec(), []).append(name)
    return found


def row(spec: DataSpec, presets: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        seen = recommit.data.build(spec, folder, workers=2).overlap
    boxes = sorted({difficulty.boxes for difficulty in spec.difficulties})
    many = f"{boxes[0]} to {boxes[-1]}" if boxes[1:] else str(boxes[0])
    words = f", {many} {'box' if many == '1' else 'boxes'}" if boxes[0] else ""
    puzzle = f"{spec.task} {spec.size[0]}x{spec.size[1]}{words}"
    cells = [", ".join(dict.fromkeys(presets)), puzzle, f"{spec.count:,}", spec.disjoint]
    for what in ("starts", "states"):
        hit, of = seen[f"test_{what}_on_training_paths"], seen[f"test_{what}"]
        cells.append(f"{hit:,} of {of:,} ({100 * hit / of:.1f} %)")
    return cells


def main() -> None:
    rows = [row(spec, presets) for spec, presets in users().items()]
    with (ASSETS.parent / "results" / "overlaps.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])


if __name__ == "__main__":
    main()
