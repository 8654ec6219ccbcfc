"""Every command that the documents show is one that its program understands; those that can run do, scaled down."""

from __future__ import annotations

import functools
import re

import pytest
from tests.structure import checking, commands, running
from tests.structure.commands import PAGES, ROOT, Command, Wrong
from tests.unit.zero_shot.servers import Server

from recommit.cli import command_line

pytest.importorskip("tyro")
pytest.importorskip("yaml")
WITH = [page for page in PAGES if commands.commands(page)]
#: Pages whose commands take more than ten seconds: what they are made of, unit tests of the verbs run.
LONG = {"a100", "leaderboard", "paper-small", "results"}
LONG |= {f"results/{each}" for each in ("boxoban", "ice", "sliding", "sokoban")}
LONG |= {f"guides/{each}" for each in ("change-one-thing", "chunks", "evaluation", "graphs", "reinforcement", "sweep")}
LONG |= {"guides/training"}


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
    assert silent == ["watch", "play", "data import"], "they go on until a key ends them, or need what is not here"


@pytest.fixture(scope="module")
def model_server():
    """Where a model answers, always the same."""
    server = Server()
    yield server.url
    server.close()


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.nightly] * (name(page)[5:-3] in LONG)) for page in WITH],
    ids=name,
)
def test_the_commands_of_a_page_run(page, tmp_path, model_server):
    running.run_page(page, tmp_path, model_server)


WRONG = """
recommit train sft --recipe laptop-sliding --dta data --out run
recommit train sft --recipe laptop-slidng --data data --out run
recommit train sft --recipe laptop-sliding --data data --out run --set optim.setps=4
recommit train grpo --recipe laptop-sliding --init run --out rl --variant fixed-17
recommit train head graph --policy run --features exakt --out head
recommit levels genrate --out levels.txt
recommit reproduce --preset dmeo --out demo
deepspeed --module recommit.train.sft --recipe paper-sliding --data data --out run --zreo 2
python bench/training/thraeds.py
bash scripts/test --onyl cpp
bash scripts/test --only cppp
bash scripts/verify quik
bash scripts/demo out lapotp
bash scripts/tset
cmake --preset relese
pip install '.[evns]'
curl https://example.org
"""


@pytest.mark.parametrize("text", WRONG.strip().splitlines())
def test_a_wrong_command_is_noticed(text):
    with pytest.raises((Wrong, SystemExit)):
        checking.check(Command("page", 1, 0, text))


#: A page -> its commands with their lines, or what is wrong with it.
FOUND = {
    "```console\n$ recommit --version\nrecommit 0.1.0\n```\n": ["2 recommit --version"],
    "```console\nA=1 recommit solve \\\n    x.txt  # why\nrecommit doctor\n```\n": [
        "2 recommit solve x.txt",
        "4 recommit doctor",
    ],
    "```console\nA=1 recommit solve\nnode-0$ no\n```\n```console\na && b\n```\n": ["3 no", "6 a", "6 b"],
    "```text\nrecommit doctor\n```\n": "not marked as console",
    "```console\n$ recommit --version\n$ recommit solve nothing.txt\n```\n": r"page\.md:3: .* exit status 2",
}


@pytest.mark.parametrize("text", FOUND)
def test_commands_hide_nowhere_and_one_that_fails_is_noticed(text, tmp_path):
    (tmp_path / "page.md").write_text(text)
    if isinstance(FOUND[text], str):
        with pytest.raises(Wrong, match=FOUND[text]):
            running.run_page(tmp_path / "page.md", tmp_path, "")
    else:
        found = commands.commands(tmp_path / "page.md")
        assert [f"{each.line} {' '.join(each.words)}" for each in found] == FOUND[text]
