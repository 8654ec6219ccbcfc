"""The programs of the adapters' guides print what stands under them; nightly, each with the real package."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.adapters import foreign, peers

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = re.compile(r"^```py\n((?:(?!^```).)*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What another machine prints otherwise: times, and names with chance in them.
CHANGES = re.compile(r"(\| +(?:fps|time_elapsed) +\| )\S+ *(?=\|)")


@dataclass(frozen=True)
class PageProgram:
    """A block of a page, and the lines under it."""

    code: str
    shown: str

    def agrees(self, printed: str) -> bool:
        """Whether its first ten lines, or all, are what stands there."""
        return first(printed) == first(self.shown)


def first(text: str) -> list[str]:
    """Ten lines without spaces at their ends and without what changes."""
    return [CHANGES.sub(r"\1* ", line.rstrip()) for line in text.splitlines()[:10]]


def program_of(page: str, heading: str) -> PageProgram:
    """The first program with output below a heading of a guide."""
    return of((ROOT / "docs" / "guides" / f"{page}.md").read_text(encoding="utf-8"), heading)


def of(text: str, heading: str) -> PageProgram:
    """The same of a page's text."""
    below = re.split(rf"^###? {heading}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^###? ", below, maxsplit=1, flags=re.MULTILINE)[0]
    found = PROGRAM.search(section)
    assert found, f"{heading}: expected a py block and a text block under it"
    return PageProgram(found[1], found[2])


#: Page, heading, and whose environment.
PROGRAMS = [
    ("adapters", "TRL", "trl"),
    ("chunks", "LeRobot", "lerobot"),
    ("chunks", "openpi", "openpi"),
    ("rl-libraries", "Stable-Baselines3", "sb3"),
    ("rl-libraries", "torchrl", "torchrl"),
]


def printed(name: str, code: str, folder: Path) -> str:
    """What the program prints in an empty folder, in the environment called ``name``."""
    python = foreign.interpreter(name) if name in foreign.NEEDS else peers.interpreter(name)
    (folder / "program.py").write_text(code, encoding="utf-8")
    environment = {**peers.environment(name), "PYTHONPATH": peers.PATH if name not in foreign.NEEDS else ""}
    words = [python, "program.py"]
    done = subprocess.run(words, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(("page", "heading", "name"), PROGRAMS)
def test_it_prints_what_stands_there(page, heading, name, tmp_path):
    program = program_of(page, heading)
    out = printed(name, program.code, tmp_path)
    assert program.agrees(out), out


@pytest.mark.parametrize(("page", "heading", "name"), PROGRAMS)
def test_a_page_has_a_program_and_its_output(page, heading, name):
    program = program_of(page, heading)
    compile(program.code, page, "exec")
    assert len(first(program.shown)) == 10
    assert name in program.code.replace("stable_baselines3", "sb3")


@pytest.mark.nightly
def test_stable_baselines3_gets_what_the_vector_gives(tmp_path):
    assert "stable-baselines3 2.9.2: equal" in foreign.run("sb3", "sb3_ppo.py", tmp_path)
