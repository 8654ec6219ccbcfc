"""``recommit levels generate|check`` and ``recommit solve``: level files and optimal plans."""

from __future__ import annotations

import time
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit.cli.boards import BoardOptions, check_place, one
from recommit.puzzles.levels import format_levels, read_levels, write_levels
from recommit.puzzles.registry import TASKS
from recommit.puzzles.solutions import Limits, Status
from recommit.storage.terminal_text import StatusLine, plain, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.puzzles.levels import Grid
    from recommit.puzzles.solver import Solution

#: Chunk size of generation; it does not affect the levels.
PIECE = 256
_REASONS = {
    Status.NODE_LIMIT: "--nodes was hit",
    Status.BYTE_LIMIT: "--bytes was hit",
    Status.TIME_LIMIT: "--seconds were over",
}


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
    check_place(options.out)
    try:
        states, titles = _generated(options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; nothing was written to {options.out}") from None
    write_levels(options.out, states, titles=titles, task=options.name)
    written = {"task": options.name, "levels": options.count, "out": str(options.out)}
    tell(dumps(written) if json else f"{options.count} {options.name} levels written to {options.out}")


def _generated(options: GenerateOptions) -> tuple[Any, list[str]]:
    """Generate all levels in chunks, with progress on a terminal."""
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


def check(file: Path, index: int | None = None, json: bool = False) -> None:
    """List the levels of a file, or print one.

    Args:
        file: A level file of any of the known formats.
        index: Print this level, counted from 0, instead of the list.
        json: Print JSON.
    """
    levels = read_levels(file)
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
        text = format_levels(chosen).rstrip("\n")
        tell(dumps(rows[0] | {"state": chosen[0].tolist()}, indent=2) if json else text)


@dataclass(frozen=True, kw_only=True)
class SolveOptions(BoardOptions):
    """What is solved, and how.

    Args:
        file: A level file of any of the known formats (default: levels are generated).
        count: Number of generated levels.
        nodes: Search nodes per level at most (default: no limit).
        bytes: Memory per level at most.
        seconds: Time per level at most (default: no limit).
        ties: Which of several optimal plans: the first in action order, or a random one, which depends on the seed.
        threads: Levels at a time (default: one per core).
    """

    file: Path | None = None
    count: int = 10
    nodes: int | None = None
    bytes: int = 2 << 30
    seconds: float | None = None
    ties: Literal["first", "random"] = "first"
    threads: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("count", 1), ("seed", 0), ("threads", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}: expected at least {least}, got {value}")
        if self.file is None and self.task is None:
            raise ValueError(f"file: expected a level file, or --task {'|'.join(TASKS)}, got neither")
        self.refuse_beside(self.file, "count")

    def levels(self) -> tuple[str, list[Grid], list[str]]:
        """The puzzle, the states and their titles."""
        if self.file is not None:
            levels = read_levels(self.file)
            return levels.task, list(levels), list(levels.titles)
        instances = self.puzzle().generate(self.count, **self.drawn())
        return self.name, list(instances.states), instances.ids


def solve(options: SolveOptions, json: bool = False) -> None:
    """Solve levels with the fewest actions: those of a file, or generated ones.

    A plan is one letter per action (u d l r, upper case for a push). Where a limit is hit the answer is UNKNOWN, with a
    proven lower bound and the reason.

    Args:
        json: Print JSON.
    """
    from recommit.puzzles import solver

    limits = Limits(nodes=options.nodes, bytes=options.bytes, seconds=options.seconds)
    how: dict[str, Any] = {"ties": options.ties, "seed": options.seed, "threads": options.threads}
    line, stopped = StatusLine(terminal_only=True), None
    task, states, titles = options.levels()
    set_up = _prepare(task, states, line)
    if not json:
        tell(f"{len(states)} {task} levels")
    solved = list[solver.Solution]()
    try:
        for level in solver.solve_all(task, states, titles, limits, **how, tell=_shown(line, len(states))):
            solved.append(level)
            if not json:
                line.clear()
                tell(_text(len(solved) - 1, level))
    except KeyboardInterrupt:
        stopped = KeyboardInterrupt(f"interrupted; {len(solved)} of {len(states)} levels were solved and are printed")
    line.clear()
    sums = solver.totals(solved)
    tell(dumps(_document(task, options, set_up, solved, sums), indent=2) if json else _sum_text(sums))
    if stopped is not None:
        raise stopped


def _prepare(task: str, states: list[Grid], line: StatusLine) -> float:
    """Load or compute the tables of this shape up front, so that no level is charged for them; returns CPU seconds."""
    began, (rows, columns) = time.process_time(), states[0].shape
    tables = TASKS[task].of_states((rows, columns))
    if tables.prepare(progress=lambda done, total: line.show(f"{done:,} of {total:,} placements")):
        line.clear()
    return round(time.process_time() - began, 6)


def _shown(line: StatusLine, total: int) -> Callable[[int, float], None]:
    """Progress callback for ``solve_all``; silent for the first half second."""
    return lambda done, seconds: line.show(f"{done:,} of {total:,} levels, {seconds:.0f} s") if seconds > 0.5 else None


def _document(
    task: str, options: SolveOptions, set_up: float, solved: list[Solution], sums: dict[str, Any]
) -> dict[str, Any]:
    return {
        "task": task,
        "file": None if options.file is None else str(options.file),
        "limits": {"nodes": options.nodes, "bytes": options.bytes, "seconds": options.seconds},
        "ties": options.ties,
        "seed": options.seed,
        "set_up_seconds": set_up,
        "levels": [_described(number, level) for number, level in enumerate(solved)],
        "totals": sums,
    }


def _described(number: int, level: Solution) -> dict[str, Any]:
    """The JSON entry of a level; length and plan are None unless exact."""
    exact, unsolvable = level.status is Status.EXACT, level.status is Status.UNSOLVABLE
    return {
        "index": number,
        "title": level.title,
        "rows": level.state.shape[0],
        "columns": level.state.shape[1],
        "status": level.status.name.lower(),
        "length": level.length if exact else None,
        "bound": None if unsolvable else level.bound,
        "plan": level.letters if exact else None,
        "nodes": level.nodes,
        "seconds": level.seconds,
    }


def _text(number: int, level: Solution) -> str:
    """The text of a level: one line with size, length and cost, one with the plan."""
    cost, (rows, columns) = f"{level.nodes:,} nodes, {level.seconds * 1e3:,.3f} ms", level.state.shape
    head = f"{number:>6}  {rows:>2} x {columns:<2}  "
    title = f"  {plain(level.title)}" if level.title else ""
    if level.status is Status.EXACT:
        return f"{head}{level.length} actions, {cost}{title}\n        {level.letters}".rstrip()
    if level.status is Status.UNSOLVABLE:
        return f"{head}unsolvable, {cost}{title}"
    return f"{head}UNKNOWN: at least {level.bound} actions; {_REASONS[level.status]}, {cost}{title}"


def _sum_text(sums: dict[str, Any]) -> str:
    return (
        f"{sums['exact']} of {sums['levels']} solved with {sums['actions']:,} actions, "
        f"{sums['unsolvable']} unsolvable, {sums['unknown']} unknown; {sums['nodes']:,} nodes, {sums['seconds']:,.3f} s"
    )
