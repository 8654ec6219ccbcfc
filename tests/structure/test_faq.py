"""The FAQ quotes messages that the program still has."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "faq.md"
#: Said by another program; a test below makes it say so.
FOREIGN = ("No CMAKE_CXX_COMPILER could be found.",)


def quoted() -> list[str]:
    return re.findall(r"^### `(.*)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def said() -> list[str]:
    """Every text in the source; what is filled in is an ellipsis."""
    found = []
    for path in (ROOT / "python" / "recommit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else "…" for v in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    for path in [*(ROOT / "cpp").rglob("*.cpp"), ROOT / "scripts" / "environment"]:
        found.append(path.read_text(encoding="utf-8"))
    return found


def occurs(message: str) -> bool:
    """All its parts, in order, in one text."""
    parts = [re.escape(part.strip()) for part in message.split("…") if part.strip(" :;.")]
    return any(re.search(".*?".join(parts), text) for text in said())


@pytest.mark.parametrize("message", [m for m in quoted() if m not in FOREIGN])
def test_a_message_is_in_the_source(message):
    assert occurs(message)


def test_a_stale_message_is_noticed():
    assert len(quoted()) >= 30
    assert not occurs("…: another bild is running here (…)")
    assert not occurs("…: the folder belongs to another walk: …")


def test_without_a_compiler_cmake_says_so(tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("needs cmake")
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.24)\nproject(x LANGUAGES CXX)\n")
    (tmp_path / "bin").mkdir()
    for tool in ("make", "uname", "sh"):
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    done = subprocess.run(
        [cmake, "-G", "Unix Makefiles", "-S", str(tmp_path), "-B", str(tmp_path / "build")],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path / "bin")},
    )
    assert done.returncode
    assert FOREIGN[0] in done.stderr
