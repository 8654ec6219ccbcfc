"""The layers hold in Python and in C++, there is no circle of files, and each check notices a planted fault."""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, CPP = ROOT / "python" / "recommit", ROOT / "cpp"

#: Leaves out the hook of an editable install, which would find the package elsewhere.
LINT = (
    "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__];"
    "from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of pyproject.toml, on the package in a folder."""
    env = {**os.environ, "PYTHONPATH": str(folder / "python")}
    return subprocess.run(
        [sys.executable, "-c", LINT], check=False, capture_output=True, text=True, cwd=folder, env=env
    )


def imports(package: Path) -> dict[str, set[str]]:
    """Which file imports which: deferred imports, those for types and dynamic ones count."""
    paths = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: set(_imported(path.read_text(encoding="utf-8"), paths)) - {name} for name, path in paths.items()}


@functools.cache
def _statements(source: str) -> list[ast.AST]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)]


def _imported(source: str, modules: dict[str, Path]) -> Iterator[str]:
    for node in _statements(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                # The compiled module is no Python file: to import it is not to import the package.
                if alias.name != "_core" and (whole in modules or node.module in modules):
                    yield whole if whole in modules else node.module
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and node.args[0].value in modules:
                yield node.args[0].value


def with_packages(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same, where to import a file is to import its packages, too, but for the one at the top."""

    def above(name: str) -> list[str]:
        parts = name.split(".")
        return [".".join(parts[:i]) for i in range(2, len(parts))]

    return {
        name: {each for to in to_all for each in (to, *above(to)) if each in edges} - {name, *above(name)}
        for name, to_all in edges.items()
    }


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of files that reach each other (what Kahn's algorithm leaves); launched modules start the command line."""
    remaining = {
        name: {to for to in to_all if to in edges} for name, to_all in edges.items() if not name.endswith("__main__")
    }
    while True:
        reached = {to for to_all in remaining.values() for to in to_all}
        ends = {name for name, to_all in remaining.items() if not to_all or name not in reached}
        if not ends:
            return [sorted(remaining)] if remaining else []
        remaining = {name: to_all - ends for name, to_all in remaining.items() if name not in ends}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    pytest.importorskip("importlinter")
    shutil.copytree(PACKAGE, tmp_path / "python" / "recommit", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_a_step_backwards_is_noticed(copy: Path) -> None:
    """Of the package itself ``lint-imports`` of scripts/test says that the layers hold."""
    for module, line in [("puzzles/levels.py", "import recommit.envs"), ("puzzles/sokoban.py", "import torch")]:
        path = copy / "python" / "recommit" / module
        path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    for step in ("recommit.puzzles.levels -> recommit.envs", "recommit.puzzles.sokoban -> torch"):
        assert step in result.stdout


def test_no_circle_of_files() -> None:
    assert circles(with_packages(imports(PACKAGE))) == []


def test_a_circle_of_files_is_noticed(copy: Path) -> None:
    """Deferred imports, those for types, and dynamic ones."""
    package = copy / "python" / "recommit"
    for module, line in (
        ("rng.py", "def f():\n    from recommit.puzzles import walks"),
        ("puzzles/frames.py", "if TYPE_CHECKING:\n    from recommit.puzzles.puzzle import Puzzle"),
        ("train/trainer.py", "from importlib import import_module\nimport_module('recommit.cli.command_line')"),
    ):
        text = (package / module).read_text(encoding="utf-8")
        (package / module).write_text(f"{text}\n{line}\n", encoding="utf-8")
        (circle,) = circles(imports(package))
        assert "recommit." + module.removesuffix(".py").replace("/", ".") in circle
        (package / module).write_text(text, encoding="utf-8")


def include_faults(cpp: Path) -> list[str]:
    """Includes that lead nowhere or backwards (``bindings -> a puzzle -> core``), and circles of files and folders."""
    files = [path for path in sorted(cpp.rglob("*")) if path.suffix in {".cpp", ".hpp", ".inc"}]
    edges = {str(path.relative_to(cpp)): set(INCLUDE.findall(path.read_text(encoding="utf-8"))) for path in files}
    pairs = [(name, to) for name, to_all in edges.items() for to in sorted(to_all)]
    folders: dict[str, set[str]] = {}
    for name, to in pairs:  # what lies above the sub-folders, like the rules of a puzzle, belongs to all
        here, there = name.rpartition("/")[0], to.rpartition("/")[0]
        if name.count("/") > 1 and to.count("/") > 1 and here != there:
            folders.setdefault(here, set()).add(there)
            folders.setdefault(there, set())
    backwards = [
        f"{name} -> {to}"
        for name, to in pairs
        if to not in edges
        or (not name.startswith("bindings/") and to.partition("/")[0] not in (name.partition("/")[0], "core"))
    ]
    return [*backwards, *(" ".join(ring) for ring in (*circles(edges), *circles(folders)))]


def test_the_layers_of_the_core_hold() -> None:
    assert include_faults(CPP) == []
    knowing = {
        path.relative_to(CPP).parts[0]
        for path in CPP.rglob("*.[chi]*")
        if re.search(r"#\s*include\s*<(pybind11|Python)", path.read_text(encoding="utf-8"))
    }
    assert knowing == {"bindings"}


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ({"core/types.hpp": "ice/draw.hpp"}, "core/types.hpp -> ice/draw.hpp"),
        ({"ice/solver.cpp": "sokoban/rules.hpp"}, "ice/solver.cpp -> sokoban/rules.hpp"),
        ({"ice/draw.hpp": "core/nowhere.hpp"}, "ice/draw.hpp -> core/nowhere.hpp"),
        ({"core/types.hpp": "core/draw/frame.hpp"}, "core/draw/frame.hpp core/types.hpp"),
        (
            {
                "sokoban/table/planes.hpp": "sokoban/search/search.hpp",
                "sokoban/search/deadlock_freeze.hpp": "sokoban/table/goal_sets.hpp",
            },
            "sokoban/search sokoban/table",
        ),
    ],
)
def test_a_planted_include_is_noticed(tmp_path: Path, planted: dict[str, str], fault: str) -> None:
    copy = shutil.copytree(CPP, tmp_path / "cpp")
    for file, to in planted.items():
        text = (copy / file).read_text(encoding="utf-8")
        (copy / file).write_text(f'#include "{to}"\n{text}', encoding="utf-8")
    assert any(fault in each for each in include_faults(copy))
