"""``recommit solve``: plans, lengths, nodes and time of every level of a file, or of generated ones."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, WrongCall, puzzle, window
from recommit.puzzles.registry import TASKS, Task
from recommit.storage.terminal_text import StatusLine, plain, tell

if TYPE_CHECKING:
    from recommit.cli.verbs.boards.solving import Solved, SolveRequest
    from recommit.puzzles.levels import Grid
    from recommit.puzzles.solutions import Limits

_REASONS = {"node_limit": "--nodes was hit", "byte_limit": "--bytes was hit", "time_limit": "--seconds were over"}


@usual(
    file="generated levels",
    task="that of the file",
    size=SIZE,
    length="any",
    nodes="no limit",
    seconds="no limit",
    bytes="2 GiB",
    threads="one per core",
)
def solve(
    file: Path | None = None,
    /,
    task: Task | None = None,
    size: tuple[int, ...] = (),
    boxes: int = 2,
    length: tuple[int, ...] | None = None,
    count: int = 10,
    seed: int = 0,
    start: int = 0,
    nodes: int | None = None,
    bytes: int = 2 << 30,
    seconds: float | None = None,
    ties: Literal["first", "random"] = "first",
    threads: int | None = None,
    database: Literal["small", "large"] = "small",
    json: bool = False,
) -> None:
    """Solve levels with the fewest actions: those of a file, or generated ones.

    A plan is one letter per action (u d l r, upper case for a push). Where a limit is hit the answer is UNKNOWN, with a
    proven lower bound and the reason.

    Args:
        file: A level file of any of the known formats.
        task: Without a file: generate instances of this puzzle.
        size: Rows, or rows and columns of generated instances.
        boxes: Boxes of generated Sokoban levels.
        length: Optimal length of generated instances, or shortest and longest.
        count: Number of generated instances.
        seed: Generated instances and random ties depend on it.
        start: Number of the first generated instance.
        nodes: Most search nodes per level.
        bytes: Most memory per level.
        seconds: Most time per level.
        ties: Which of several optimal plans: the first in action order, or a random one.
        threads: Levels at a time; one per core if not given.
        database: Tables for 4x4 sliding boards; the large ones take minutes to make, once.
        json: Print JSON.
    """
    import recommit
    from recommit.cli.verbs.boards.solving import Solved, SolveRequest, solve_all, totals

    request = SolveRequest(
        _limits(nodes, bytes, seconds), ties, _at_least("seed", seed, 0), _at_least("threads", threads, 1)
    )
    if file is not None:
        if task is not None:
            raise WrongCall(f"task: expected none with a level file, which says its puzzle, got {task}")
        levels = recommit.read_levels(file)
        task_name, states, titles = levels.task, list(levels), list(levels.titles)
    else:
        task_name, states, titles = _generated(task, size, boxes, length, count, seed, start)
    line = _SolveBar()
    set_up = _prepare(task_name, states, database, line)
    if not json:
        tell(f"{len(states)} {task_name} levels")
    solved, stopped = list[Solved](), None
    try:
        for level in solve_all(task_name, states, titles, request, line.levels(len(states))):
            solved.append(level)
            if not json:
                line.clear()
                tell(_text(level))
    except KeyboardInterrupt:
        stopped = KeyboardInterrupt(f"interrupted; {len(solved)} of {len(states)} levels were solved and are printed")
    line.clear()
    sums = totals(solved)
    tell(dumps(_document(task_name, file, request, set_up, solved, sums), indent=2) if json else _sum_text(sums))
    if stopped is not None:
        raise stopped


T = TypeVar("T", int, "int | None")


def _at_least(name: str, value: T, least: int) -> T:
    if value is not None and value < least:
        raise WrongCall(f"{name}: expected at least {least}, got {value}")
    return value


def _limits(nodes: int | None, bytes: int, seconds: float | None) -> Limits:
    import recommit

    try:
        return recommit.Limits(nodes=nodes, bytes=bytes, seconds=seconds)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _generated(
    task: str | None,
    size: tuple[int, ...],
    boxes: int,
    length: tuple[int, ...] | None,
    count: int,
    seed: int,
    start: int,
) -> tuple[str, list[Grid], list[str]]:
    if task is None:
        raise WrongCall(f"expected a level file, or --task {'|'.join(TASKS)}")
    if count < 1:
        raise WrongCall(f"count: expected at least 1, got {count}")
    try:
        instances = puzzle(task, size, boxes).generate(count, seed=seed, length=window(length), start=start)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    return task, list(instances.states), instances.ids


def _prepare(task: str, states: list[Grid], database: Literal["small", "large"], line: _SolveBar) -> float:
    """Makes or loads the tables that boards of this shape share, so that no level pays for them. CPU seconds."""
    import time

    began = time.process_time()
    shape = states[0].shape
    if database == "large" and (task != "sliding" or shape != (4, 4)):
        raise WrongCall(
            f"database: expected small for {task} {shape[0]}x{shape[1]}, got large (there is one for sliding 4x4)"
        )
    if TASKS[task].of_states((shape[0], shape[1])).prepare(database, progress=line.tables):
        line.clear()
    return round(time.process_time() - began, 6)


def _document(
    task: str, file: Path | None, request: SolveRequest, set_up: float, solved: list[Solved], sums: dict[str, Any]
) -> dict[str, Any]:
    limits = request.limits
    return {
        "task": task,
        "file": None if file is None else str(file),
        "limits": {"nodes": limits.nodes, "bytes": limits.bytes, "seconds": limits.seconds},
        "ties": request.ties,
        "seed": request.seed,
        "set_up_seconds": set_up,
        "levels": [level.to_json() for level in solved],
        "totals": sums,
    }


def _text(level: Solved) -> str:
    """Two lines: what it is and costs; the plan."""
    cost = f"{level.nodes:,} nodes, {level.seconds * 1e3:,.3f} ms"
    head = f"{level.index:>6}  {level.rows:>2} x {level.columns:<2}  "
    title = f"  {plain(level.title)}" if level.title else ""
    if level.status == "exact":
        return f"{head}{level.length} actions, {cost}{title}\n        {level.plan}".rstrip()
    if level.status == "unsolvable":
        return f"{head}unsolvable, {cost}{title}"
    return f"{head}UNKNOWN: at least {level.bound} actions; {_REASONS[level.status]}, {cost}{title}"


def _sum_text(sums: dict[str, Any]) -> str:
    return (
        f"{sums['exact']} of {sums['levels']} solved with {sums['actions']:,} actions, "
        f"{sums['unsolvable']} unsolvable, {sums['unknown']} unknown; {sums['nodes']:,} nodes, {sums['seconds']:,.3f} s"
    )


class _SolveBar(StatusLine):
    """A bar on a terminal; nothing anywhere else."""

    WIDTH = 30

    def __init__(self) -> None:
        super().__init__(terminal_only=True)

    def draw(self, done: int, total: int, what: str) -> None:
        """Draw the bar anew."""
        full = self.WIDTH * done // max(total, 1)
        self.show(f"[{'#' * full}{'.' * (self.WIDTH - full)}] {done:,}/{total:,} {what}")

    def levels(self, total: int) -> Any:
        """For ``solve_all``; a call of less than half a second shows nothing."""
        return lambda done, seconds: self.draw(done, total, f"levels, {seconds:.0f} s") if seconds > 0.5 else None

    def tables(self, done: int, total: int) -> None:
        """For ``prepare``."""
        self.draw(done, total, "placements of the tables")
