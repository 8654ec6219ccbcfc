"""The folder of a comparison: graphs, scores, tables, figures and a page of all puzzles that were compared in it.

PUZZLE/graphs/       one commitment graph per policy and size
scores-PUZZLE.json   every number that is on the page or in a table
tables-PUZZLE.md     every row
rules-compared.md    the page; assets/ has its figures, and assets/rules-compared-PUZZLE.json what the page is made of
DIGESTS              sha256 of the scores, which a later call reads
"""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce.compare import figures, page, reading, words
from recommit.reproduce.compare.comparison import Comparison
from recommit.reproduce.compare.instances import TEST, VALIDATION
from recommit.reproduce.compare.sources import SOURCES
from recommit.storage import errors, files, ownership, verified
from recommit.storage import verified as stored
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.reproduce.preset import PresetEntry

PAGE, ASSETS, SCORES = "rules-compared.md", "assets", "scores-*.json"
#: What the scores of a puzzle hold, as far as the page and the tables read them.
STARTS = {"label": str, "starts": int}
SETTING = {"budget": int, "price_action": stored.NUMBER, "price_observation": stored.NUMBER}
ENDS = [stored.NUMBER]
ROW = {
    "source": str,
    "rule": str,
    "chosen": str,
    **SETTING,
    "seeds": [int],
    "parameters": (list, type(None)),
    **dict.fromkeys(("validation", "solved", "actions", "looks", "value", "ceiling"), stored.NUMBER),
    "by_seed": ENDS,
    "ahead": ENDS,
    "ahead_solved": ENDS,
    "ahead_actions": ENDS,
    "gain": (list, type(None)),
}
LOST = {"value": stored.NUMBER, "best": stored.NUMBER, "plans_lose": ENDS, "depths_lose": ENDS}
FIELDS = {
    "puzzle": str,
    "title": str,
    "missing": [str],
    "price_action": stored.NUMBER,
    "instances": {TEST: STARTS, VALIDATION: STARTS},
    "settings": [SETTING],
    "rows": {TEST: [ROW]},
    "split": [{"instances": str, "source": str, "rule": str, **SETTING, **LOST}],
}
#: What rows are looked up by.
NAMED_BY = {"source", "rule", "chosen", "budget", "price_action", "price_observation", "instances", "seeds"}


def compare(
    entries: Sequence[PresetEntry],
    out: Path,
    seeds: tuple[int, ...],
    sizes: dict[str, int],
    device: str,
    say: Callable[[str], None],
    progress: Callable[[int, int], None] | None = None,
    call: str = words.USUAL,
) -> tuple[str, list[dict[str, Any]]]:
    """Compare the puzzles, and write everything; the page and the scores of all puzzles in the folder. ``progress`` is
    called while graphs are built; ``call`` is the command that the page names."""
    place, disk = out.absolute(), files.Files()
    ownership.refuse_foreign(place, (*(entry.name for entry in entries), PAGE), "a comparison")
    files.make_folders(disk, place)
    with Lock(place, work="comparison"):
        if strangers := sorted(name for name in verified.digests(place) if not fnmatch(name, SCORES)):
            raise errors.WrongFolder(f"out: expected a new folder or a comparison, got {place} with {strangers[0]}")
        files.sweep(disk, place)
        for entry in entries:
            _refuse_links(place / entry.name)
            values = Comparison(entry, place, seeds, **sizes, device=device, say=say, progress=progress).run()
            keep(disk, place, f"scores-{entry.name}.json", as_json(values).encode())
        return write(place, call)


def _refuse_links(puzzle: Path) -> None:
    graphs = puzzle / "graphs"
    for folder in (puzzle, graphs, *graphs.glob("*")):
        files.own_folder(folder)


def keep(disk: files.Files, place: Path, name: str, data: bytes) -> None:
    """Replace a file that is on the list of digests: off it first, and back last."""
    others = {each: digest for each, digest in verified.digests(place).items() if each != name}
    verified.write_digests(disk, place, others)
    files.replace(disk, place / name, data)
    verified.write_digests(disk, place, {**others, name: files.sha256(data)})


def write(place: Path, call: str = words.USUAL) -> tuple[str, list[dict[str, Any]]]:
    """Tables, figures and page from the scores that are there."""
    disk = files.Files()
    scores = scores_in(place)
    files.own_folder(place / ASSETS)
    files.make_folders(disk, place / ASSETS)
    files.sweep(disk, place / ASSETS)
    for one in scores:
        files.replace(disk, place / f"tables-{one['puzzle']}.md", page.tables(one).encode())
        for figure in figures.of(one):
            files.replace(disk, place / ASSETS / f"{figure.name}.svg", figure.alone().encode())
            files.replace(disk, place / ASSETS / f"{figure.name}.csv", figure.csv().encode())
        name = f"{PAGE.removesuffix('.md')}-{one['puzzle']}.json"
        files.replace(disk, place / ASSETS / name, reading.as_json(_printed(one)).encode())
    text = page.page(scores, call)
    files.replace(disk, place / PAGE, text.encode())
    return text, scores


def scores_in(place: Path) -> list[dict[str, Any]]:
    """What every puzzle that was compared there has come to, checked."""
    return [_scores(place, path.name) for path in sorted(place.glob(SCORES))]


def _scores(place: Path, name: str) -> dict[str, Any]:
    """What an earlier call has written: of the puzzle in its name, and whole."""
    one, path = stored.values(place, name, FIELDS), place / name
    if name != f"scores-{one['puzzle']}.json":
        raise errors.Damaged(f"{path}: puzzle: expected that of the file's name, got {one['puzzle']!r}")
    for kind, rows in one["rows"].items():
        stored.expect(path, rows, [ROW], f"rows.{kind}")
        stored.expect(path, one["instances"].get(kind, ...), STARTS, f"instances.{kind}")
    if strange := [row["source"] for kind in one["rows"] for row in one["rows"][kind] if row["source"] not in SOURCES]:
        raise errors.Damaged(f"{path}: source: expected one of {', '.join(SOURCES)}, got {strange[0]!r}")
    return one


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
