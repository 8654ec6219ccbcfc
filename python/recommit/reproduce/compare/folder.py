"""The folder of a comparison: graphs, scores, tables, figures and a page of all puzzles that were compared in it.

PUZZLE/graphs/       one commitment graph per policy and size
scores-PUZZLE.json   every number that is on the page or in a table
tables-PUZZLE.md     every row
rules-compared.md    the page; assets/ has its figures, and assets/rules-compared-PUZZLE.json what the page is made of
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce.compare import figures, page, reading
from recommit.reproduce.compare.comparison import Comparison
from recommit.storage import files
from recommit.storage import reading as stored
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.reproduce.preset import PresetEntry

PAGE, ASSETS = "rules-compared.md", "assets"
#: What rows are looked up by.
NAMED_BY = {"source", "rule", "chosen", "budget", "price_action", "price_look", "instances", "seeds"}


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
    scores = [stored.values(place, path.name) for path in sorted(place.glob("scores-*.json"))]
    files.make_folders(disk, place / ASSETS)
    for one in scores:
        files.replace(disk, place / f"tables-{one['puzzle']}.md", page.tables(one).encode())
        for figure in figures.of(one):
            files.replace(disk, place / ASSETS / f"{figure.name}.svg", figure.alone().encode())
            files.replace(disk, place / ASSETS / f"{figure.name}.csv", figure.csv().encode())
        name = f"{PAGE.removesuffix('.md')}-{one['puzzle']}.json"
        files.replace(disk, place / ASSETS / name, reading.as_json(_printed(one)).encode())
    text = page.page(scores)
    files.replace(disk, place / PAGE, text.encode())
    return text, scores


class _Watched(dict[str, Any]):
    """A row that remembers what was asked of it."""

    def __init__(self, row: dict[str, Any]) -> None:
        super().__init__(row)
        self.asked_for: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked_for.add(key)
        return super().__getitem__(key)


def _printed(one: dict[str, Any]) -> dict[str, Any]:
    """The scores without what neither the page nor a figure reads."""
    rows = {name: [_Watched(row) for row in each] for name, each in one["rows"].items()}
    watched = {**one, "rows": rows, "split": [_Watched(row) for row in one["split"]]}
    page.page([watched])
    figures.of(watched)
    least = {name: _read_fields(each) for name, each in rows.items()}
    return {**one, "rows": least, "split": _read_fields(watched["split"])}


def _read_fields(rows: list[_Watched]) -> list[dict[str, Any]]:
    """Rows that were read for more than their names, with the fields that were; all are chosen by names."""
    return [{k: v for k, v in row.items() if k in row.asked_for} for row in rows if row.asked_for - NAMED_BY]


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
