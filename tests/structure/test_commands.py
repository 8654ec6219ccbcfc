"""Every command that the documents show is one that its program understands. Those that can run are run elsewhere."""

from __future__ import annotations

import functools
import re

import pytest
from tests.structure import checking, commands, running
from tests.structure.commands import PAGES, ROOT, Command, Wrong

from recommit.cli import command_line

pytest.importorskip("tyro")
pytest.importorskip("yaml")
WITH = [page for page in PAGES if commands.commands(page)]


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", WITH, ids=name)
def test_every_command_is_understood(page):
    for command in commands.commands(page):
        checking.check(command)


@functools.cache
def _help(verb):
    return commands.call([*verb.split(), "--help"])[1]


@pytest.mark.parametrize("page", [p for p in PAGES if commands.inline(p)], ids=name)
def test_every_flag_in_running_text_exists(page):
    for text in commands.inline(page):
        words = text.split()
        verb = next((v for v in command_line.VERBS if words[1 : 1 + len(v.split())] == v.split()), None)
        if words[0] != "recommit" or "--out" in words or "--version" in words or verb in (None, "bench"):
            checking.check(Command(name(page), 0, 0, text))
        else:
            said = _help(verb)
            for flag in (word for word in words if word.startswith("--")):
                assert re.search(rf"{flag}\b", said), f"{name(page)}: {text}"


def test_every_verb_is_run_by_a_page_and_every_reason_is_needed():
    every = [command for page in PAGES for command in commands.commands(page)]
    for pattern in running.NOT_RUN:
        assert any(re.search(pattern, " ".join(command.words)) for command in every), f"no command matches {pattern}"
    ran = {" ".join(command.words[1:]) for command in every if running.reason(command) is None}
    silent = [verb for verb in command_line.VERBS if not any(f"{text} ".startswith(f"{verb} ") for text in ran)]
    assert silent == ["play", "watch", "data import"], "they go on until somebody ends them, or need what is not here"


@pytest.mark.parametrize(
    "text",
    [
        "recommit train sft --recipe laptop-sliding --dta data --out run",
        "recommit train sft --recipe laptop-slidng --data data --out run",
        "recommit train sft --recipe laptop-sliding --data data --out run --set optim.setps=4",
        "recommit train grpo --recipe laptop-sliding --init run --out rl --variant fixed-17",
        "recommit train head graph --policy run --features exakt --out head",
        "recommit levels genrate --out levels.txt",
        "recommit reproduce --preset dmeo --out demo",
        "deepspeed --module recommit.train.sft --recipe paper-sliding --data data --out run --zreo 2",
        "python bench/training/warm_start.py run data --bugdet 6",
        "python bench/training/warm_strat.py run data",
        "pip install '.[evns]'",
        "curl https://example.org",
    ],
)
def test_a_wrong_command_is_noticed(text):
    with pytest.raises((Wrong, SystemExit)):
        checking.check(Command("page", 1, 0, text))
