"""``recommit levels generate|check``: level files."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from recommit.cli.boards import BoardOptions, check_place, one
from recommit.storage.terminal_text import StatusLine, plain, tell

#: Levels that are generated at a time: level i is the same in whatever piece it comes.
PIECE = 256


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(BoardOptions):
    """Which levels are generated.

    Args:
        out: The file to write; it is replaced whole or not at all.
        count: Number of levels.
        generator: How levels are made: rooms, reverse or boxoban (Sokoban); uniform, walk or walk_nobacktrack (sliding)
            (default: the first of these).
    """

    out: Path
    count: int = 100
    generator: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")


def generate(options: GenerateOptions, json: bool = False) -> None:
    """Generate solvable levels and write them to a file.

    Args:
        json: Print JSON.
    """
    import recommit

    check_place(options.out)
    try:
        states, titles = _generated(options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; nothing was written to {options.out}") from None
    recommit.write_levels(options.out, states, titles=titles, task=options.name)
    written = {"task": options.name, "levels": options.count, "out": str(options.out)}
    tell(dumps(written) if json else f"{options.count} {options.name} levels written to {options.out}")


def _generated(options: GenerateOptions) -> tuple[Any, list[str]]:
    """All levels, in pieces between which a terminal is told how many there are."""
    puzzle = options.puzzle()
    how = {**options.drawn(), **puzzle.options(options.generator)}
    line, states, titles = StatusLine(terminal_only=True), list[Any](), list[str]()
    for begin in range(0, options.count, PIECE):
        part = puzzle.generate(min(PIECE, options.count - begin), start=begin, **how)
        states.append(part.states)
        titles += part.ids
        line.show(f"{len(titles):,} of {options.count:,} levels")
    line.clear()
    return np.concatenate(states), titles


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What is checked, and written.

    Args:
        file: A level file of any of the known formats.
        index: Print this level, counted from 0, instead of the list.
        out: Write the levels again to this file.
    """

    file: Path
    index: int | None = None
    out: Path | None = None


def check(options: CheckOptions, json: bool = False) -> None:
    """List the levels of a file, or print one; write them again.

    Args:
        json: Print JSON.
    """
    import recommit

    levels, index = recommit.read_levels(options.file), options.index
    chosen, first = (levels, 0) if index is None else (one(levels, index), index)
    rows: list[dict[str, Any]] = [
        {"index": i, "rows": rows, "columns": columns, "title": title}
        for i, ((rows, columns), title) in enumerate(zip(chosen.shapes, chosen.titles, strict=True), first)
    ]
    if index is None:
        lines = [f"{row['index']:>6}  {row['rows']:>2} x {row['columns']:<2}  {plain(row['title'])}" for row in rows]
        text = "\n".join(line.rstrip() for line in (f"{levels!r}"[1:-1], *lines))
        tell(dumps({"task": levels.task, "levels": rows}, indent=2) if json else text)
    else:
        text = recommit.format_levels(chosen).rstrip("\n")
        tell(dumps(rows[0] | {"state": chosen[0].tolist()}, indent=2) if json else text)
    if options.out is not None:
        recommit.write_levels(options.out, chosen)
