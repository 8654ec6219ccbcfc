"""The layers hold, and the tool that says so notices a planted step backwards. Tests lie where their modules do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.structure.imports import circles, graph, with_packages

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "recommit"

#: Modules without a file of tests of their own, and where they are tested instead.
TESTED_ELSEWHERE = {
    "version": "cli/test_command_line.py, which prints it",
    "registration": "envs, which make every environment through it",
}

CODE = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder / "python")}
    return subprocess.run(
        [sys.executable, "-c", HOOKLESS + CODE], check=False, capture_output=True, text=True, cwd=folder, env=env
    )


#: Leaves out the hook of an editable install, which would find the package elsewhere.
HOOKLESS = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__];"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    pytest.importorskip("importlinter")
    shutil.copytree(PACKAGE, tmp_path / "python" / "recommit", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_layers_hold(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("puzzles/puzzle.py", "import recommit.cli"),
        ("puzzles/levels.py", "import recommit.envs"),
        ("puzzles/sokoban.py", "import torch"),
        ("horizon/rule.py", "import recommit.rng"),
    ],
)
def test_a_step_backwards_is_noticed(copy: Path, module: str, line: str) -> None:
    path = copy / "python" / "recommit" / module
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


def test_no_circle_of_files() -> None:
    assert circles(with_packages(graph(PACKAGE))) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("rng.py", "def f():\n    from recommit.puzzles import walks"),
        ("puzzles/frames.py", "if TYPE_CHECKING:\n    from recommit.puzzles.puzzle import Puzzle"),
        ("train/trainer.py", "from importlib import import_module\nimport_module('recommit.cli.command_line')"),
    ],
    ids=["deferred", "types", "dynamic"],
)
def test_a_circle_of_files_is_noticed(copy: Path, module: str, line: str) -> None:
    package = copy / "python" / "recommit"
    (package / module).write_text((package / module).read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    (circle,) = circles(graph(package))
    assert "recommit." + module.removesuffix(".py").replace("/", ".") in circle


def modules() -> list[Path]:
    found = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    return sorted(path for path in found if path.name != "__init__.py")


def homes_of(module: Path) -> list[Path]:
    """tests/unit/PACKAGE/test_MODULE*.py, or a test of the whole package of the module."""
    folder = ROOT / "tests" / "unit" / module.parent
    whole = [ROOT / "tests" / "unit" / f"test_{module.parent.name}.py"] if module.parent.name else []
    return [path for path in (*folder.glob(f"test_{module.stem}*.py"), *whole) if path.exists()]


def test_every_folder_of_tests_has_its_package() -> None:
    for folder in (ROOT / "tests" / "unit").rglob("*"):
        if folder.is_dir() and folder.name != "__pycache__":
            assert (PACKAGE / folder.relative_to(ROOT / "tests" / "unit")).is_dir(), f"{folder} mirrors nothing"


def test_every_package_has_tests() -> None:
    for module in modules():
        if len(module.parts) == 1 and module.stem not in TESTED_ELSEWHERE:
            assert homes_of(module), f"no tests/unit/test_{module.stem}*.py"
        elif len(module.parts) > 1:
            folder = ROOT / "tests" / "unit" / module.parent
            assert homes_of(module) or any(folder.glob("test_*.py")), f"no tests in {folder}"
