"""Tables of docs/paper-small.md, as CSV, from what `recommit reproduce --preset paper-small` left.

python bench/pages/paper_small.py OUT          # writes docs/results/paper-small-PUZZLE-TABLE.csv
python bench/pages/paper_small.py OUT --check  # writes nothing; exits with 1 if a file has other figures
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results"
#: Of models that nobody has asked there are no figures of ours.
LEFT_OUT = ("zero-shot",)


def texts(written: list[Path]) -> dict[str, str]:
    """Names and contents of the files: one per table, further parts of it with a number."""
    found = {}
    for path in written:
        puzzle = path.parents[1].name + re.sub(r"^eval|-s42$", "", path.parent.name)  # and its size, of several
        for table in json.loads(path.read_text(encoding="utf-8"))["tables"]:
            for number, grid in enumerate(table["grids"] if table["name"] not in LEFT_OUT else (), 1):
                out = io.StringIO()
                csv.writer(out, lineterminator="\n").writerows([grid["head"], *grid["rows"]])
                part = f"-{number}" if number > 1 else ""
                found[f"paper-small-{puzzle}-{table['name']}{part}.csv"] = out.getvalue()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what recommit reproduce was given as --out")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file has other figures")
    arguments = parser.parse_args()
    written = sorted(arguments.folder.glob("*/eval*-s42/tables.json"))
    if not written:
        parser.error(f"folder: expected PUZZLE/eval-s42/tables.json in it, got none in {arguments.folder}")
    every = {FOLDER / name: text for name, text in texts(written).items()}
    changed = [path for path, text in every.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if arguments.check:
        return int(bool(changed))
    for path in changed:
        path.write_text(every[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
