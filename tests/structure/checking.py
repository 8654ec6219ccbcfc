"""Commands of the documents are put to the parsers that they would meet; nothing is run."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import io
import re
import runpy
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.structure.commands import ROOT, Command, Wrong, call

from recommit.cli.flags import Verb
from recommit.estimate import EstimateOptions
from recommit.evaluate.tables import paper_tables

if TYPE_CHECKING:
    from collections.abc import Callable


def check(command: Command) -> None:
    """Refuse what its own parser would refuse."""
    try:
        _check(tuple(command.words))
    except Wrong as wrong:
        raise Wrong(f"{command}: {wrong}") from None


@functools.cache  # pages show the same commands
def _check(words: tuple[str, ...]) -> None:
    if words[0] not in CHECKERS:
        raise Wrong(f"no checker of {words[0]}")
    CHECKERS[words[0]](list(words[1:]))


def check_recommit(words: list[str]) -> None:
    """Parsed by the command line itself; recipes and what is set in them are looked up too."""
    given: list[dict[str, Any]] = []

    def bound(_self: Verb, **named: Any) -> Any:
        given.append(named)
        return lambda: None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Verb, "bound", bound)
        _succeed(words)
    if words[:2] in (["train", "sft"], ["train", "grpo"]) or words[0] == "reproduce":
        here = words[: words.index("--reward")] if "--reward" in words else words  # a file of the reader's
        _succeed([*here, *(["--show"] if "--show" not in here else [])])
    if words[0] == "estimate":
        _estimable(**given[0])
    if words[0] == "evaluate":
        _named_tables(given[0].get("tables", ()))


def _estimable(**options: Any) -> None:
    """The stages that an estimate is asked for, with what is set in them."""
    options.pop("json", None)
    try:
        own = EstimateOptions(**options)
        _ = own.stages(), own.boards
    except ValueError as error:
        raise Wrong(str(error)) from None


def _named_tables(names: tuple[str, ...]) -> None:
    """The tables of the paper that an evaluation is asked for."""
    try:
        paper_tables.check(names)
    except ValueError as error:
        raise Wrong(str(error)) from None


def _succeed(words: list[str]) -> None:
    status, said = call(words)
    if status:
        raise Wrong(f"exit status {status}: {said}")


class _Parsed(Exception):
    pass


def check_python(words: list[str]) -> None:
    """A program's own parser is asked, and stopped when it has answered."""
    if words[0] == "-c":
        compile(words[1], "-c", "exec")
        return
    module = words[1] if words[0] == "-m" else None
    name = module.replace(".", "/") if module else words[0].removesuffix(".py")
    places = (ROOT / f"{name}.py", ROOT / name / "__main__.py", ROOT / "python" / f"{name}.py")
    path = next((path for path in places if path.is_file()), None)
    if path is None:
        raise Wrong(f"there is no {words[1] if module else words[0]}")
    arguments = words[2:] if module else words[1:]
    if ".parse_args(" not in path.read_text(encoding="utf-8"):
        return
    parse = argparse.ArgumentParser.parse_args

    def only_parse(parser: argparse.ArgumentParser, given: Any = None, *_: Any) -> None:
        parse(parser, given)
        raise _Parsed

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(io.StringIO()) as said:
        patch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
        patch.setattr(sys, "argv", [str(path), *arguments])
        patch.setattr(sys, "path", [str(path.parent), *sys.path])
        try:
            runpy.run_path(str(path), run_name="__main__")
        except _Parsed:
            return
        except SystemExit:
            raise Wrong(said.getvalue()) from None
    raise Wrong(f"{path.name} never asks its parser")


def check_pip(words: list[str]) -> None:
    """Extras of this package exist."""
    known = importlib.metadata.metadata("recommit").get_all("Provides-Extra") or []
    for word in words[1:]:
        extras = re.fullmatch(r"(?:\.|recommit)\[([\w,-]+)\]", word)
        if extras and (missing := set(extras[1].split(",")) - set(known)):
            raise Wrong(f"no extra {', '.join(sorted(missing))}; there are {', '.join(known)}")
        if not extras and not re.fullmatch(r"\.[/\w-]*|-[\w=/.-]+|[A-Za-z][\w.<>=!-]*", word):
            raise Wrong(f"expected something to install, got {word}")


def check_bash(words: list[str]) -> None:
    """A script that is there, with options that stand in it and a preset that is known."""
    if not (ROOT / words[0]).is_file():
        raise Wrong(f"there is no {words[0]}")
    if words[0] == "scripts/verify":
        check_python(["-m", "tests.verify", *words[1:]])
    elif words[0] == "scripts/demo":
        for named in words[2:3]:
            check_recommit(["reproduce", "--preset", named, "--out", words[1]])
    else:
        known = set(re.findall(r"[\w-]+", "\n".join(re.findall(r"^ *([-\w |]+)\)", _text(words[0]), re.MULTILINE))))
        steps = set(re.findall(r"only=([\w,]+)", _text(words[0]))) if "--only" in words else set()
        unknown = [word for word in words[1:] if word not in known and word not in ",".join(steps)]
        if unknown:
            raise Wrong(f"{words[0]} does not know {unknown}")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def check_cmake(words: list[str]) -> None:
    """Its preset exists."""
    presets = (ROOT / "CMakePresets.json").read_text(encoding="utf-8")
    if "--preset" in words and f'"{words[words.index("--preset") + 1]}"' not in presets:
        raise Wrong(f"no such preset: {words}")


def check_launcher(words: list[str]) -> None:
    """What the launcher starts, as if it were started by hand."""
    for i, word in enumerate(words):
        if re.fullmatch(r"recommit\.train\.(sft|grpo)", word):
            check_recommit(["train", word.rpartition(".")[2], *words[i + 1 :]])
        elif word in ("recommit.cli", "slurm.sbatch"):
            check_recommit([*(["train"] if word[0] == "s" and words[i + 1] != "reproduce" else []), *words[i + 1 :]])


CHECKERS: dict[str, Callable[[list[str]], None]] = {
    "recommit": check_recommit,
    "python": check_python,
    "bash": check_bash,
    "pip": check_pip,
    **dict.fromkeys(("deepspeed", "torchrun", "srun", "sbatch"), check_launcher),
    **dict.fromkeys(("cmake", "ctest"), check_cmake),
    **dict.fromkeys(("git", "mkdocs", "ray", "export", "pytest", "lerobot-eval", "lerobot-train"), lambda _: None),
}
