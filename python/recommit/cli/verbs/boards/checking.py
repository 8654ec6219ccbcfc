"""``recommit levels check``: is a file one of levels, and do its solutions solve them? Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import plain, tell

if TYPE_CHECKING:
    from recommit.puzzles.levels import Levels
    from recommit.puzzles.lurd import Replay, Written


@usual(index="solution i belongs to level i", solution="the levels alone are checked", out="nothing is written")
def check(
    file: Path, /, solution: Path | None = None, index: int | None = None, out: Path | None = None, json: bool = False
) -> int:
    """Check the levels of a file, and solutions in letters (lurdLURD, 3l2R) against them.

    Each letter must move, and be a capital where it pushes and only there; the last must solve the level. Otherwise the
    command ends with status 1.

    Args:
        file: A level file of any of the known formats.
        solution: A file of solutions, blank lines between them.
        index: The level, counted from 0, that a file of one solution is about.
        out: Write the solutions to this file, each run of letters with its number.
        json: Print JSON.
    """
    import recommit
    from recommit.puzzles import lurd

    levels = recommit.read_levels(file)
    if solution is None:
        if index is not None or out is not None:
            raise WrongCall(f"{'index' if index is not None else 'out'}: expected --solution beside it, got none")
        tell(dumps({"task": levels.task, "levels": len(levels)}) if json else f"{levels!r}"[1:-1])
        return 0
    levels, solutions = _chosen(levels, index), lurd.read_solutions(solution)
    try:
        replays = lurd.check_solutions(list(levels), solutions, levels.task)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(_json(levels, replays) if json else _lines(levels, replays, index or 0))
    if out is not None:
        _write(out, solutions)
    return 0 if all(replay.right for replay in replays) else 1


def _chosen(levels: Levels, index: int | None) -> Levels:
    if index is None:
        return levels
    if not 0 <= index < len(levels):
        raise WrongCall(f"index: expected 0..{len(levels) - 1}, got {index}")
    return levels[index : index + 1]


def _write(out: Path, solutions: list[Written]) -> None:
    from recommit.puzzles.lurd import format_solution
    from recommit.storage.files import replacing

    with replacing(out) as file:
        file.write("\n".join(format_solution(each.letters, runs=True) + "\n" for each in solutions).encode())


def _json(levels: Levels, replays: list[Replay]) -> str:
    rows = [
        {"title": title, "solves": each.solves, "actions": each.actions, "pushes": each.pushes, "fault": each.fault}
        for title, each in zip(levels.titles, replays, strict=True)
    ]
    return dumps({"task": levels.task, "levels": rows}, indent=2)


def _lines(levels: Levels, replays: list[Replay], first: int) -> str:
    rows = [
        f"{i:>6}  {_answer(each)}  {plain(title)}".rstrip()
        for i, (title, each) in enumerate(zip(levels.titles, replays, strict=True), first)
    ]
    right = sum(each.right for each in replays)
    return "\n".join([*rows, f"{right} of {len(replays)} solutions are right"])


def _answer(replay: Replay) -> str:
    if replay.fault:
        return replay.fault
    counts = f"{replay.actions} actions, {replay.pushes} pushes"
    return f"solved: {counts}" if replay.solves else f"not solved after {counts}"
