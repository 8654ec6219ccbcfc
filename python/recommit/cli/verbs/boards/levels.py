"""``recommit levels generate|show|import``: the signatures are the command line. Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, WrongCall, puzzle, window
from recommit.puzzles.registry import Task
from recommit.storage.foreign_text import plain, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.levels import Levels


@usual(size=SIZE, length="any", generator="the first of these for the puzzle")
def generate(
    out: Path,
    task: Task = "sokoban",
    size: tuple[int, ...] = (),
    boxes: int = 2,
    length: tuple[int, ...] | None = None,
    count: int = 100,
    seed: int = 0,
    start: int = 0,
    generator: str = "",
) -> None:
    """Generate solvable levels and write them to a file.

    Args:
        out: The file to write; it is replaced whole or not at all.
        task: Which puzzle.
        size: Rows, or rows and columns; the outer wall counts.
        boxes: Boxes of a Sokoban level.
        length: Optimal length of every level, or the shortest and longest.
        count: Number of levels.
        seed: Level i depends on (task, size, boxes, length, generator, seed, start + i) alone.
        start: Number of the first level.
        generator: How levels are made: rooms or reverse (Sokoban); uniform, walk or walk_nobacktrack (sliding).
    """
    import recommit

    try:
        chosen = puzzle(task, size, boxes)
        how = chosen.options(generator)
        instances = chosen.generate(count, seed=seed, length=window(length), start=start, **how)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if not len(instances):
        raise WrongCall("count: expected at least 1, got 0")
    recommit.write_levels(out, instances.states, titles=instances.ids, task=task)
    tell(f"{len(instances)} {task} levels written to {out}")


def show(file: Path, /, index: int | None = None, json: bool = False) -> None:
    """List the levels of a file, or print one of them.

    Args:
        file: A level file of any of the known formats.
        index: Print this level, counted from 0, instead of the list.
        json: Print JSON.
    """
    import recommit

    levels = recommit.read_levels(file)
    if index is None:
        tell(dumps({"task": levels.task, "levels": _rows(levels)}, indent=2) if json else _list(levels))
        return
    if not 0 <= index < len(levels):
        raise WrongCall(f"index: expected 0..{len(levels) - 1}, got {index}")
    row = _rows(levels)[index] | {"state": levels[index].tolist()}
    tell(dumps(row, indent=2) if json else recommit.format_levels(levels[index : index + 1]).rstrip("\n"))


def import_(file: Path, /, out: Path, format: Literal["xsb", "boxoban", "plain"] = "xsb") -> None:
    """Check a level file and write its levels again in one format.

    Args:
        file: A level file of any of the known formats.
        out: The file to write; it is replaced whole or not at all.
        format: Where titles go: under a level, as a number above it, or nowhere.
    """
    import recommit

    levels = recommit.read_levels(file)
    recommit.write_levels(out, levels, format=format)
    tell(f"{len(levels)} {levels.task} levels written to {out}")


#: verb -> what it runs
COMMANDS: dict[str, Callable[..., int | None]] = {"generate": generate, "show": show, "import": import_}


def _rows(levels: Levels) -> list[dict[str, Any]]:
    return [
        {"index": i, "rows": rows, "columns": columns, "title": title}
        for i, ((rows, columns), title) in enumerate(zip(levels.shapes, levels.titles, strict=True))
    ]


def _list(levels: Levels) -> str:
    lines = [f"{levels!r}"[1:-1]]
    lines += [
        f"{row['index']:>6}  {row['rows']:>2} x {row['columns']:<2}  {plain(row['title'])}" for row in _rows(levels)
    ]
    return "\n".join(line.rstrip() for line in lines)
