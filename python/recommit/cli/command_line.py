"""The command line: one verb per stage. A verb's imports are deferred until it runs, so that ``--help`` is fast.

Exit status: 0 done, 1 failure, 2 wrong usage, 130 interrupted, 141 output pipe closed.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shlex
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.cli.flags import POLICY, Verb, WrongCall
from recommit.cli.verbs import data, graph, levels, stages
from recommit.cli.verbs.installation import EXTRAS, bench, doctor
from recommit.cli.verbs.play import play, watch
from recommit.cli.verbs.policies import policies, score
from recommit.cli.verbs.sweep import sweep
from recommit.runs.progress import hold_tether
from recommit.storage import errors
from recommit.storage.recipe_text import brief
from recommit.storage.terminal_text import say, tell, unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DONE, FAILED, WRONG_CALL, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141

#: Extras, and required modules, of groups of verbs.
DATA, FIGURES = ("cli,data", ("pyarrow",)), ("cli,report", ("matplotlib", "pyarrow"))
SWEEP = ("cli,envs,report", ("matplotlib",))
#: Verbs that load policies, and so accept the backbone flags.
READER, PLAYER = (*POLICY, True), ("train", (), True)
#: All verbs by group, in the order of the help.
GROUPS = {
    "try": {
        "watch": Verb(watch, "", ("recording",)),
        "play": Verb(play, "--agent sliding-3x3", ("file",), *READER),
        "policies": Verb(policies, ""),
        "doctor": Verb(doctor, ""),
        "bench": Verb(bench, "--signature"),
    },
    "levels": {
        "levels generate": Verb(levels.generate, "--task sokoban --length 8 32 --out levels.txt"),
        "levels check": Verb(levels.check, "levels.txt", ("file",)),
        "solve": Verb(levels.solve, "levels.txt", ("file",)),
    },
    "data": {
        "data build": Verb(data.build, "--task sliding --length 8 24 --count 10000 --out data", (), *DATA),
        "data import": Verb(data.import_, "boxoban boxoban-levels", ("what", "folder")),
        "data show": Verb(data.show, "data", ("folder",), *DATA),
    },
    "train": {
        "train sft": Verb(stages.sft, "--recipe laptop-sliding --data data --out run", (), *READER),
        "train grpo": Verb(stages.grpo, "--recipe laptop-sliding --init run --out rl", (), *READER),
        "train world-model": Verb(stages.world_model, "run --out world-model", ("run",), *READER),
        "train head": Verb(stages.head, "graph --policy world-model --out head", ("graph",), *READER),
        "estimate": Verb(stages.estimate, "paper-sliding --gpus 8", ("recipe",), *READER),
        "reproduce": Verb(stages.reproduce, "--preset demo --out demo", (), *POLICY),
    },
    "measure": {
        "evaluate": Verb(stages.evaluate, "rl --out eval", ("run",), *READER),
        "report": Verb(stages.report, "eval --out report.html", ("eval",), *FIGURES),
        "graph build": Verb(graph.build, "run --out graph", ("run",), *READER),
        "graph score": Verb(graph.score, "graph --budget 4", ("graph",), *DATA),
        "score": Verb(score, "sliding-3x3 --split sliding-3x3 --out score.json", ("agent",), *PLAYER),
        "zero-shot": Verb(stages.zero_shot, "--endpoint NAME --model MODEL --task sokoban --out zs", (), "zero-shot"),
    },
    "chunk policies": {"sweep": Verb(sweep, "--env Pendulum-v1 --policy policy.py:make --out sweep", (), *SWEEP)},
}
VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        hold_tether()
        with _process_as_before():
            status = _run(words)
        sys.stdout.flush()  # here, so that a closed pipe is handled below
        return status
    except KeyboardInterrupt as stopped:
        return _fail(str(stopped) or "interrupted", INTERRUPTED)
    except errors.NeedsFlag as error:
        return _fail(f"{error}: recommit {shlex.join([*words, *error.flag.split()])}", WRONG_CALL)
    except WrongCall as error:
        return _fail(str(error), WRONG_CALL)
    except BrokenPipeError as error:
        return UNREAD if unread() else _fail(*explained(error))
    except Exception as error:  # noqa: BLE001  (the last resort of a command line)
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 wraps one raised during class creation
            return _fail("interrupted", INTERRUPTED)
        return _fail(*explained(error))


@contextmanager
def _process_as_before() -> Iterator[None]:
    """Restore process-wide settings and random state after a verb, for programs that call ``main``."""
    stream = random.getstate()
    with ExitStack() as stack:
        stack.callback(random.setstate, stream)
        if "torch" in sys.modules:
            from recommit.runs.process import torch_settings

            stack.enter_context(torch_settings())
        yield


def _run(words: list[str]) -> int:
    if nul := [word for word in words if "\0" in word]:  # possible from programs, not from a shell
        raise WrongCall(f"expected words without the character NUL, got {brief(nul[0])}")
    if words in (["--version"], ["-V"]):
        import recommit

        tell(f"recommit {recommit.__version__}")
        return DONE
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    name = next((name for name in VERBS if words[: len(name.split())] == name.split()), None)
    if name is None:
        return _usage(words)
    try:
        return VERBS[name].run(words[len(name.split()) :], f"recommit {name}") or DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_CALL if stop.code else DONE


def _usage(words: list[str]) -> int:
    """Print help if requested, for all verbs or those that begin with one word; otherwise an error."""
    group = bool(_group(words))
    text, rest = _list(words[0] if group else ""), words[group:]
    if rest in (["--help"], ["-h"]) or not rest:
        tell(text)
        return DONE if rest else WRONG_CALL
    return _fail(f"unknown command: {' '.join(words)}\n{text}", WRONG_CALL)


def _group(words: list[str]) -> list[str]:
    """Two-word verbs that begin with the first of ``words``."""
    return [verb for verb in VERBS if words and verb.startswith(f"{words[0]} ")]


def _list(first: str) -> str:
    """The list of verbs, or of those that begin with ``first``."""
    listed = {"": _group([first])} if first else GROUPS
    head = f"{first} VERB" if first else "VERB"
    lines = [f"usage: recommit {head} [options]; recommit {head} --help says more", ""]
    for group, verbs in listed.items():
        lines += [f"{group}:"] if group else []
        lines += [f"  {verb:<18}{VERBS[verb].about.split(chr(10))[0]}" for verb in verbs]
    lines += [] if first else [f"  {'--version, -V':<18}Print the version."]
    return "\n".join(lines)


def _fail(message: str, status: int) -> int:
    say(f"recommit: {message}")
    return status


#: Our own argument errors: "cell: expected 4..112, got 3". Others are prefixed with the name of their class.
_OURS = re.compile(r"[^:\n]+: expected .|[a-z_]+: .")
#: Suffix of system errors from Rust libraries, such as safetensors.
_OF_SYSTEM = re.compile(r"\(os error (\d{1,4})\)$")


def explained(error: Exception) -> tuple[str, int]:
    """The error message, and the exit status."""
    if isinstance(error, errors.DataError):
        return str(error), error.exit_status
    if isinstance(error, MemoryError):
        return f"out of memory: {error}", FAILED
    if found := _OF_SYSTEM.search(str(error)):
        return explained(OSError(int(found[1]), os.strerror(int(found[1]))))
    if isinstance(error, OSError) and error.filename is not None:
        return _of_path(error)
    if isinstance(error, OSError) and error.strerror:
        return f"the system says: {error.strerror}", FAILED
    if isinstance(error, ModuleNotFoundError) and error.name:
        for extra, modules in EXTRAS.items():
            if error.name.split(".")[0] in modules:
                said = f"this command needs {error.name}; in a clone of recommit: {errors.install(extra)}"
                return said + "; --set engine.kind=plain runs without it" * (extra == "deepspeed"), FAILED
    if isinstance(error, ValueError) and type(error).__module__.startswith("recommit"):
        return str(error), FAILED  # such as a malformed level: not a usage error
    if isinstance(error, ValueError) and _OURS.match(str(error)):
        return str(error), WRONG_CALL
    return f"{type(error).__name__}: {error}", FAILED


def _of_path(error: OSError) -> tuple[str, int]:
    """Message and status of a system error about a path: a usage error, unless the disk is full or broken."""
    path = Path(os.fsdecode(error.filename))
    if error.errno == errno.ENOENT or (error.errno == errno.ENOTDIR and not path.parent.is_dir()):
        folder = path.parent
        missing = "there is no such file or folder" if folder.is_dir() else f"there is no folder {folder}"
        return f"{path}: {missing}", WRONG_CALL
    said = errors.from_os(error, path)
    return str(said), said.exit_status
