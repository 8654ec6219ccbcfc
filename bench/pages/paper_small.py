"""Tables of docs/paper-small.md from what `recommit reproduce --preset paper-small` left; the sentences there stay.

python bench/pages/paper_small.py OUT          # writes every block from `<!-- PUZZLE TABLE -->` to `<!-- end -->` anew
python bench/pages/paper_small.py OUT --check  # writes nothing; exits with 1 if the page has other figures
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from recommit.evaluate.tables.experiments import TABLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper-small.md"
BLOCK = re.compile(r"<!-- (?P<puzzle>[a-z]+) (?P<table>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)


def sections(text: str) -> dict[str, str]:
    """What an evaluation wrote of each table, by its name; remarks on runs that are not there are left out."""
    names = {table.title: name for name, table in TABLES.items()}
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {names[title]: _block(body) for title, _, body in parts}


def _block(body: str) -> str:
    lines = [line for line in body.strip().splitlines() if not line.startswith("* No ")]
    return "\n".join(lines).strip()


def filled(page: str, tables: dict[str, dict[str, str]]) -> str:
    """The page with the tables of every puzzle that is there."""

    def block(match: re.Match[str]) -> str:
        puzzle, name = match["puzzle"], match["table"]
        if puzzle not in tables:
            return match[0]
        return f"<!-- {puzzle} {name} -->\n\n{tables[puzzle][name]}\n\n<!-- end -->"

    return BLOCK.sub(block, page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what recommit reproduce was given as --out")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page has other figures")
    arguments = parser.parse_args()
    written = sorted(arguments.folder.glob("*/eval-s42/tables.md"))
    if not written:
        parser.error(f"folder: expected PUZZLE/eval-s42/tables.md in it, got none in {arguments.folder}")
    page = PAGE.read_text(encoding="utf-8")
    text = filled(page, {path.parents[1].name: sections(path.read_text(encoding="utf-8")) for path in written})
    if arguments.check:
        return int(text != page)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
