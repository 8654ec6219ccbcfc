"""Cheap calls of everything public: every verb of the command line, scaled down, then what Python users call."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tests.structure import running
from tests.structure.commands import call
from tests.structure.test_pages import BLOCK, EXTRAS, PAGES, name, text_of, wrong_outputs

import recommit
from recommit.cli import command_line

if TYPE_CHECKING:
    from collections.abc import Callable

#: Verbs that are not called, and why.
NOT_CALLED = {
    "play": "plays until somebody leaves",
    "serve": "serves until it is interrupted",
    "bench": "times the machine; its signature is called",
}
#: Pages whose Python blocks are called; the others train networks of their own.
GUIDES = [page for page in PAGES if page.parent.name == "guides" and page.stem not in ("backbones", "zero-shot")]
#: In the order in which one goes on from another.
FIRST = (
    "levels generate",
    "solve",
    "data build",
    "train sft",
    "train grpo",
    "train world-model",
    "graph build",
    "train head",
)
#: What the examples take for granted beside each other.
LEVEL = "######\n#@ $.#\n#    #\n######\n"
FILES = {
    "one.txt": LEVEL,
    "solutions.txt": "rR\n",
    "small.yaml": running.small_preset(),
}
OTHERS = {
    "levels check": "recommit levels check one.txt --solution solutions.txt",
    "train head": "recommit train head graph --policy world-model --updates 2 --out head",
    "graph build": "recommit graph build run --out graph --features --starts 16 --length 4 14",
    "evaluate": "recommit evaluate rl --out eval",
    "report": "recommit report eval --out report.html --figures figures",
    "bench": "recommit bench --signature",
}


def verbs(server: str) -> dict[str, Callable[[], object]]:
    """Their examples of the help."""

    def run(words: list[str]) -> None:
        status, said = call(running.scaled(words, server))
        assert status == 0, f"{words}: {status}: {said}"

    shown = {name: f"recommit {name} {verb.example}" for name, verb in command_line.VERBS.items()}
    texts = {**shown, **OTHERS}
    order = [*FIRST, *(verb for verb in texts if verb not in FIRST)]
    chosen = [verb for verb in order if verb not in NOT_CALLED or verb in OTHERS]
    return {verb: functools.partial(run, shlex.split(texts[verb])[1:]) for verb in chosen}


def calls(server: str) -> dict[str, Callable[[], object]]:
    """Everything, by name."""
    for file, text in {**FILES, "small.yaml": running.small_preset()}.items():
        Path(file).write_text(text, encoding="utf-8")
    pages = {name(each): functools.partial(page, each) for each in GUIDES if BLOCK.search(text_of(each))}
    return {**verbs(server), **pages, "interfaces": interfaces}


def page(path: Path) -> None:
    """The Python blocks of a page."""
    recommit.write_levels("pack.txt", recommit.Sokoban(8).generate(5, seed=0).states)
    try:
        assert wrong_outputs(path.read_text(encoding="utf-8")) == []
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise


def interfaces() -> None:
    """What neither verbs nor guides call."""
    import numpy as np

    from recommit import data, evaluate, horizon
    from recommit.puzzles import lurd
    from recommit.reproduce import preset
    from recommit.zero_shot.parser import parse

    data.position_weights(np.arange(4, dtype=np.int16))
    horizon.medoid(np.zeros((2, 3, 4), np.int64))
    lurd.format_solution("rR")
    preset.names()
    parse("{}")
    evaluate.evaluate(evaluate.EvaluateOptions("run", "again", "fixed-4", instances=4, validation=2))


#: Public names that no example calls, and why.
REASONS = {
    "recommit.storage.hub.push": "sends to a hub, which wants a token and a network",
    "recommit.adapters.": "called by the package that an adapter is for, which has an environment of its own",
    "recommit.envs.GridVectorEnv": "the base of others",
    "recommit.policy.Backbone": "a protocol",
    "recommit.zero_shot.zero_shot": "a line around the runner that its verb calls",
}
