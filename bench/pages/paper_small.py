"""Tables of docs/paper-small.md, as CSV, from what `recommit reproduce --preset paper-small` left.

python -m bench.pages.paper_small OUT          # writes docs/results/paper-small-PUZZLE-TABLE.csv
python -m bench.pages.paper_small OUT --check  # writes nothing; exits with 1 if a file has other figures
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from bench.pages import blocks

from recommit.results.table import Grid

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results"
#: Zero-shot baselines: no model was asked.
LEFT_OUT = ("zero-shot",)


def texts(written: list[Path]) -> dict[Path, str]:
    """Paths and contents of the files: one per table, further parts of it with a number."""
    found = {}
    for path in written:
        puzzle = path.parents[1].name + re.sub(r"^eval|-s42$", "", path.parent.name)  # and its size, of several
        for table in json.loads(path.read_text(encoding="utf-8"))["tables"]:
            for number, grid in enumerate(table["grids"] if table["name"] not in LEFT_OUT else (), 1):
                part = f"-{number}" if number > 1 else ""
                name = f"paper-small-{puzzle}-{table['name']}{part}.csv"
                found[FOLDER / name] = Grid.of(grid["head"], grid["rows"]).csv()
    return found


if __name__ == "__main__":
    parser = blocks.parser(__doc__)
    parser.add_argument("folder", type=Path, help="what recommit reproduce was given as --out")
    arguments = parser.parse_args()
    sys.exit(blocks.write(texts(sorted(arguments.folder.glob("*/eval*-s42/tables.json"))), arguments.check))
