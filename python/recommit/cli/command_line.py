"""The command line: one verb per stage. A verb's module is imported when it runs, so that ``--help`` is quick.

Exit status: 0 done, 1 failed while working, 2 the call was wrong, 130 interrupted, 141 nobody reads the output any
more.
"""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack, contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli import completing, examples, failures, flags, usage
from recommit.cli.requests import WrongCall, gathered
from recommit.cli.verbs.boards.levels import COMMANDS as LEVELS
from recommit.cli.verbs.boards.play import play
from recommit.cli.verbs.boards.render import render
from recommit.cli.verbs.boards.solve import solve
from recommit.cli.verbs.data import COMMANDS as DATA
from recommit.cli.verbs.estimate import estimate
from recommit.cli.verbs.evaluate import evaluate
from recommit.cli.verbs.graphs import COMMANDS as GRAPH
from recommit.cli.verbs.graphs.heads import foresight, stakes
from recommit.cli.verbs.report import report
from recommit.cli.verbs.reproduce import reproduce
from recommit.cli.verbs.serve import COMMANDS as SERVE
from recommit.cli.verbs.train import family, grpo, sft
from recommit.cli.verbs.zero_shot import zero_shot
from recommit.runs import peers
from recommit.storage.terminal_text import say, tell, unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DONE, FAILED, WRONG_CALL, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141


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


def gallery(out: Path) -> None:
    """Play all puzzles at random, time the core and draw a picture of the boards.

    Args:
        out: The folder for the picture.
    """
    from recommit.cli.verbs.boards.gallery import main as play_all

    play_all(out)


def completion(shell: Literal["bash", "zsh"], /) -> None:
    """Print what a shell needs to complete verbs, flags and choices.

    Args:
        shell: bash or zsh.
    """
    tell(completing.script(shell, VERBS), end="")


#: verb -> what it runs. A verb is one word or two.
VERBS: dict[str, Callable[..., int | None]] = {
    **{f"levels {verb}": command for verb, command in LEVELS.items()},
    "solve": solve,
    "play": play,
    "render": render,
    **{f"data {verb}": command for verb, command in DATA.items()},
    "train sft": sft,
    "train grpo": grpo,
    "train family": family,
    "train world-model": foresight,
    "train stakes": stakes,
    "estimate": estimate,
    "evaluate": evaluate,
    **{f"graph {verb}": command for verb, command in GRAPH.items()},
    "zero-shot": zero_shot,
    **{f"serve {verb}": command for verb, command in SERVE.items()},
    "report": report,
    "reproduce": reproduce,
    "bench": bench,
    "doctor": doctor,
    "gallery": gallery,
    "completion": completion,
}
#: Verbs that were called otherwise: still understood, and not in the help.
FORMERLY = {"plan": "estimate", "demo": "gallery"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        peers.hold_tether()
        with _process_as_before():
            status = _run(words)
        sys.stdout.flush()  # here, where a reader that has gone is no failure
        return status
    except KeyboardInterrupt as stopped:
        return _fail(str(stopped) or "interrupted", INTERRUPTED)
    except WrongCall as error:
        return _fail(str(error), WRONG_CALL)
    except BrokenPipeError as error:
        return UNREAD if unread() else _fail(*failures.explained(error))
    except Exception as error:  # noqa: BLE001  (the last resort of a command line)
        return _fail(*failures.explained(error))


@contextmanager
def _process_as_before() -> Iterator[None]:
    """Restore what verbs settle for the whole process, and tyro's draws, for whoever calls this from a program."""
    stream = random.getstate()
    with ExitStack() as stack:
        stack.callback(random.setstate, stream)
        if "torch" in sys.modules:
            from recommit.runs.process import unsettled

            stack.enter_context(unsettled())
        yield


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        import recommit

        tell(f"recommit {recommit.__version__}")
        return DONE
    words = _of_today(words)
    verb = next((verb for verb in VERBS if words[: len(verb.split())] == verb.split()), None)
    if verb is None:
        return _usage(words)
    import tyro

    try:
        result: Any = tyro.cli(
            flags.presented(VERBS[verb]),
            prog=f"recommit {verb}",
            description=f"{flags.about(VERBS[verb])}\n\nExample: {examples.EXAMPLES[verb]}",
            args=gathered(words[len(verb.split()) :], VERBS[verb]),
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_CALL
    return DONE if result is None else int(result)


def _of_today(words: list[str]) -> list[str]:
    """The words with a verb that is still there, and ``help VERB`` as ``VERB --help``."""
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if words and words[0] in FORMERLY:
        say(f"recommit {words[0]} is called recommit {FORMERLY[words[0]]} now; the old word is still understood")
        words = [FORMERLY[words[0]], *words[1:]]
    return words


def _usage(words: list[str]) -> int:
    """Help where it was asked for, of everything or of the verbs that begin with one word; otherwise what was wrong."""
    group = usage.group(words, VERBS)
    text, rest = usage.text(words[0] if group else "", VERBS), words[1 if group else 0 :]
    if rest in (["--help"], ["-h"]) or not rest:
        tell(text)
        return DONE if rest else WRONG_CALL
    hint = usage.suggestion(words, (*VERBS, *FORMERLY)) or f"\n{text}"
    return _fail(f"unknown command: {' '.join(words)}{hint}", WRONG_CALL)


def _fail(message: str, status: int) -> int:
    say(f"recommit: {message}")
    return status
