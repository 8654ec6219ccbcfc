"""The command line: one verb per stage. A verb's module is imported when it runs, so that ``--help`` is quick.

Exit status: 0 done, 1 failed while working, 2 the call was wrong, 130 interrupted, 141 nobody reads the output any
more.
"""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli.requests import WrongCall, gathered, puzzle, window
from recommit.cli.verbs.data import COMMANDS as DATA
from recommit.cli.verbs.estimate import estimate
from recommit.cli.verbs.evaluate import evaluate
from recommit.cli.verbs.graphs import COMMANDS as GRAPH
from recommit.cli.verbs.graphs.heads import foresight
from recommit.cli.verbs.report import report
from recommit.cli.verbs.reproduce import reproduce
from recommit.cli.verbs.serve import COMMANDS as SERVE
from recommit.cli.verbs.solve import solve
from recommit.cli.verbs.train import family, grpo, sft
from recommit.cli.verbs.zero_shot import zero_shot
from recommit.puzzles.registry import Task
from recommit.runs import tether
from recommit.storage.foreign_text import plain, say, tell, unread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.levels import Levels

DONE, FAILED, WRONG_CALL, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141


def generate_levels(
    out: Path,
    task: Task = "sokoban",
    size: tuple[int, ...] = (8,),
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


def show_levels(file: Path, /, index: int | None = None, json: bool = False) -> None:
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


def import_levels(file: Path, /, out: Path, format: Literal["xsb", "boxoban", "plain"] = "xsb") -> None:
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


def bench(signature: bool = False, json: bool = False) -> None:
    """Time the core on this machine (one thread, CPU time), or print what it computes as one number per part.

    Args:
        signature: Print the numbers that every build on every machine must agree on.
        json: Print JSON.
    """
    if signature:
        from recommit.puzzles.signature import signature as compute

        numbers = {part: f"{number:016x}" for part, number in compute().items()}
        tell(dumps(numbers, indent=2) if json else "\n".join(f"{p:<8}{n}" for p, n in numbers.items()))
        return
    from recommit.cli.verbs import bench as timing

    rows = [timing.play(task) for task in timing.TASKS]
    tell(dumps([row.to_json() for row in rows], indent=2) if json else timing.table(rows))


def doctor(json: bool = False) -> int:
    """Say what is installed, what is missing and how to get it, and whether the core works.

    Args:
        json: Print JSON.
    """
    from recommit.cli.verbs.doctor import examine

    report = examine()
    tell(dumps(report.to_json(), indent=2) if json else report)
    return DONE if report.works else FAILED


def demo(out: Path) -> None:
    """Play all puzzles at random, time the core and draw a gallery.

    Args:
        out: The folder for the picture.
    """
    from recommit.cli.verbs.demo import main as play

    play(out)


#: verb -> what it runs. A verb is one word or two.
VERBS: dict[str, Callable[..., int | None]] = {
    "levels generate": generate_levels,
    "levels show": show_levels,
    "levels import": import_levels,
    "solve": solve,
    **{f"data {verb}": command for verb, command in DATA.items()},
    "train sft": sft,
    "train grpo": grpo,
    "train family": family,
    "train foresight": foresight,
    "estimate": estimate,
    "evaluate": evaluate,
    **{f"graph {verb}": command for verb, command in GRAPH.items()},
    "zero-shot": zero_shot,
    **{f"serve {verb}": command for verb, command in SERVE.items()},
    "report": report,
    "reproduce": reproduce,
    "bench": bench,
    "doctor": doctor,
    "demo": demo,
}
#: Verbs that were called otherwise: still understood, and not in the help.
FORMERLY = {"plan": "estimate"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        tether.hold()
        status = _run(words)
        sys.stdout.flush()  # here, where a reader that has gone is no failure
        return status
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except WrongCall as error:
        return _fail(str(error), WRONG_CALL)
    except BrokenPipeError as error:
        return UNREAD if unread() else _fail(_explain(error), FAILED)
    except Exception as error:  # noqa: BLE001  (the last resort of a command line)
        return _fail(_explain(error), FAILED)


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        import recommit

        tell(f"recommit {recommit.__version__}")
        return DONE
    if words[:1] and words[0] in FORMERLY:
        say(f"recommit {words[0]} is called recommit {FORMERLY[words[0]]} now; the old word is still understood")
        words = [FORMERLY[words[0]], *words[1:]]
    verb = next((verb for verb in VERBS if words[: len(verb.split())] == verb.split()), None)
    if verb is None:
        return _usage(words)
    import tyro

    try:
        result: Any = tyro.cli(
            VERBS[verb],
            prog=f"recommit {verb}",
            args=gathered(words[len(verb.split()) :], VERBS[verb]),
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_CALL
    return DONE if result is None else int(result)


def _usage(words: list[str]) -> int:
    """Help where it was asked for, of everything or of the verbs that begin with one word; otherwise what was wrong."""
    group = [verb for verb in VERBS if words and verb.startswith(f"{words[0]} ")]
    first = f"{words[0]} VERB" if group else "VERB"
    lines = [f"usage: recommit {first} [options]; recommit {first} --help says more", ""]
    lines += [f"  {verb:<18}{_first_line(VERBS[verb])}" for verb in group or VERBS]
    lines += [] if group else [f"  {'--version':<18}Print the version."]
    if words[1 if group else 0 :] in (["--help"], ["-h"]) or not words:
        tell("\n".join(lines))
        return DONE if words else WRONG_CALL
    return _fail(f"unknown command: {' '.join(words)}\n" + "\n".join(lines), WRONG_CALL)


def _first_line(command: Callable[..., object]) -> str:
    """What it does; nothing where Python leaves docstrings out (``-OO``)."""
    return next(iter((command.__doc__ or "").splitlines()), "")


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


def _explain(error: Exception) -> str:
    """One line; a missing optional module is named with the command that installs it."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        from recommit.cli.verbs.doctor import EXTRAS

        for extra, modules in EXTRAS.items():
            if error.name.split(".")[0] in modules:
                return f"this command needs {error.name}: pip install 'recommit[{extra}]'"
    return f"{type(error).__name__}: {error}"


def _fail(message: str, status: int) -> int:
    say(f"recommit: {message}")
    return status
