"""``recommit levels generate|show|import|check``: the signatures are the command line. Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, WrongCall, check_place, puzzle, window
from recommit.cli.verbs.boards.checking import check
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import StatusLine, plain, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    Grids = NDArray[np.uint8]

    from recommit.puzzles.levels import Levels


#: Levels that are generated at a time: level i is the same in whatever piece it comes.
PIECE = 256


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
    json: bool = False,
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
        json: Print JSON.
    """
    import recommit

    if count < 1:
        raise WrongCall(f"count: expected at least 1, got {count}")
    check_place(out)
    try:
        chosen = puzzle(task, size, boxes)
        how = {"seed": seed, "length": window(length), **chosen.options(generator)}
        states, titles = _generated(chosen, count, start, how)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; nothing was written to {out}") from None
    recommit.write_levels(out, states, titles=titles, task=task)
    written = {"task": task, "levels": count, "out": str(out)}
    tell(dumps(written) if json else f"{count} {task} levels written to {out}")


def _generated(task: Puzzle, count: int, start: int, how: dict[str, Any]) -> tuple[Grids, list[str]]:
    """So many levels, in pieces between which a terminal is told how many there are."""
    line, states, titles = StatusLine(terminal_only=True), list[Any](), list[str]()
    for begin in range(0, count, PIECE):
        part = task.generate(min(PIECE, count - begin), start=start + begin, **how)
        states.append(part.states)
        titles += part.ids
        line.show(f"{len(titles):,} of {count:,} levels")
    line.clear()
    return np.concatenate(states), titles


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
COMMANDS: dict[str, Callable[..., int | None]] = {
    "generate": generate,
    "show": show,
    "import": import_,
    "check": check,
}


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
