"""What ``scripts/demo`` installs is enough for the README."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from recommit.cli.verbs.doctor import EXTRAS

ROOT = Path(__file__).resolve().parents[2]


def modules(page: str) -> set[str]:
    """Packages that the Python blocks of a page import, but for the standard library and numpy."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names = {name for block in blocks for name in re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)}
    return names - sys.stdlib_module_names - {"numpy", "recommit"}


def missing(page: str, script: str) -> set[str]:
    """Packages that a page imports and none of the extras of a script brings."""
    (extras,) = re.findall(r"-e '\.\[([\w,]+)\]'", script)
    return modules(page) - {module for extra in extras.split(",") for module in EXTRAS[extra]}


def test_the_demo_runs_every_block_of_the_readme() -> None:
    page, script = (ROOT / "README.md").read_text(encoding="utf-8"), (ROOT / "scripts/demo").read_text(encoding="utf-8")
    assert "gymnasium" in modules(page)
    assert not missing(page, script)
    assert missing(page, script.replace("envs,", "")) == {"gymnasium"}


def test_it_says_what_it_does_before_what_takes_long() -> None:
    lines = (ROOT / "scripts/demo").read_text(encoding="utf-8").splitlines()
    long = [number for number, line in enumerate(lines) if line.startswith(("pip install", "recommit "))]
    assert len(long) == 3
    assert all(lines[number - 1].startswith("echo ") for number in long)
