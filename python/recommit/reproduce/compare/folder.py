"""The folder of a comparison: graphs, scores, tables, figures and a page of all puzzles that were compared in it.

PUZZLE/graphs/       one commitment graph per policy and size
scores-PUZZLE.json   every number that is on the page or in a table
tables-PUZZLE.md     every row
rules-compared.md    the page; assets/ has its figures
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce.compare import figures, page
from recommit.reproduce.compare.comparison import Comparison
from recommit.storage import files, reading
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.reproduce.preset import PresetEntry

PAGE, ASSETS = "rules-compared.md", "assets"


def compare(
    entries: Sequence[PresetEntry],
    out: Path,
    seeds: tuple[int, ...],
    sizes: dict[str, int],
    device: str,
    say: Callable[[str], None],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, list[dict[str, Any]]]:
    """Compare the puzzles, and write everything; the page and the scores of all puzzles in the folder. ``progress`` is
    called while graphs are built."""
    place, disk = out.absolute(), files.Files()
    files.make_folders(disk, place)
    with Lock(place, work="comparison"):
        for entry in entries:
            values = Comparison(entry, place, seeds, **sizes, device=device, say=say, progress=progress).run()
            files.replace(disk, place / f"scores-{entry.name}.json", as_json(values).encode())
        return write(place)


def write(place: Path) -> tuple[str, list[dict[str, Any]]]:
    """Tables, figures and page from the scores that are there."""
    disk = files.Files()
    scores = [reading.values(place, path.name) for path in sorted(place.glob("scores-*.json"))]
    files.make_folders(disk, place / ASSETS)
    for one in scores:
        files.replace(disk, place / f"tables-{one['puzzle']}.md", page.tables(one).encode())
        for figure in figures.of(one):
            files.replace(disk, place / ASSETS / f"{figure.name}.svg", figure.alone().encode())
            files.replace(disk, place / ASSETS / f"{figure.name}.csv", figure.csv().encode())
    text = page.page(scores)
    files.replace(disk, place / PAGE, text.encode())
    return text, scores


def as_json(values: dict[str, Any]) -> str:
    """A line per row, so that a page of figures can be read and compared line by line."""
    parts = []
    for name, value in _rounded(values).items():
        lists = value if isinstance(value, dict) and name == "rows" else None
        if lists is not None:
            inner = ",\n".join(f'  "{key}": {_lines(each)}' for key, each in lists.items())
            parts.append(f'"{name}": {{\n{inner}\n}}')
        else:
            parts.append(f'"{name}": {_lines(value) if name == "split" else json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(rows: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]"


def _rounded(value: Any) -> Any:
    """Six digits behind the point: more than any figure has."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, (list, tuple)) else value
