"""The layers of the C++ core, read from its #include lines: ``bindings -> puzzles -> core``, and no circle of files or
folders.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.structure.imports import circles

CPP = Path(__file__).resolve().parents[2] / "cpp"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def include_graph(cpp: Path) -> dict[str, set[str]]:
    """Which file includes which; one that is not there is left in."""
    files = [path for path in sorted(cpp.rglob("*")) if path.suffix in {".cpp", ".hpp", ".inc"}]
    return {str(path.relative_to(cpp)): set(INCLUDE.findall(path.read_text(encoding="utf-8"))) for path in files}


def folder_graph(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same for sub-folders: what lies above them, like the rules of a puzzle, is everybody's and left out."""
    folders: dict[str, set[str]] = {}
    for name, to_all in edges.items():
        if name.count("/") > 1:
            here = name.rpartition("/")[0]
            folders.setdefault(here, set()).update(to.rpartition("/")[0] for to in to_all if to.count("/") > 1)
    return {here: to_all - {here} for here, to_all in folders.items()}


def steps_backwards(edges: dict[str, set[str]]) -> list[str]:
    """Includes that a part may not have: core of a puzzle, a puzzle of another, both of the bindings."""
    wrong = []
    for name, to_all in edges.items():
        part = name.partition("/")[0]
        allowed = {part, "core"}
        if part != "bindings":
            wrong += [f"{name} -> {to}" for to in sorted(to_all) if to.partition("/")[0] not in allowed]
    return wrong


def faults(cpp: Path) -> list[str]:
    edges = include_graph(cpp)
    missing = [f"{name} -> {to}" for name, to_all in edges.items() for to in to_all if to not in edges]
    rings = [" ".join(ring) for ring in (*circles(edges), *circles(folder_graph(edges)))]
    return [*missing, *steps_backwards(edges), *rings]


def test_the_layers_hold() -> None:
    assert len(include_graph(CPP)) > 150
    assert faults(CPP) == []


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("core/types.hpp", '#include "ice/draw.hpp"', "core/types.hpp -> ice/draw.hpp"),
        ("ice/solver.cpp", '  #  include "sokoban/rules.hpp"', "ice/solver.cpp -> sokoban/rules.hpp"),
        ("sliding/solver.cpp", '#include "bindings/bind.hpp"', "sliding/solver.cpp -> bindings/bind.hpp"),
        ("core/types.hpp", '#include "core/draw/frame.hpp"', "core/draw/frame.hpp core/types.hpp"),
        ("core/text/lines.hpp", '#include "core/episodes/level_bank.hpp"', ""),
        ("sokoban/table/planes.hpp", '#include "sokoban/search/deadlock_freeze.hpp"', ""),
        ("ice/draw.hpp", '#include "core/nowhere.hpp"', "ice/draw.hpp -> core/nowhere.hpp"),
    ],
)
def test_a_planted_include_is_noticed(tmp_path: Path, file: str, line: str, fault: str) -> None:
    copy = shutil.copytree(CPP, tmp_path / "cpp")
    (copy / file).write_text(f"{line}\n{(copy / file).read_text(encoding='utf-8')}", encoding="utf-8")
    seen = faults(copy)
    assert any(fault in each for each in seen) if fault else seen == []


def test_a_planted_circle_of_folders_is_noticed(tmp_path: Path) -> None:
    copy = shutil.copytree(CPP, tmp_path / "cpp")
    for file, line in [
        ("table/planes.hpp", "search/search.hpp"),
        ("search/deadlock_freeze.hpp", "table/goal_sets.hpp"),
    ]:
        path = copy / "sokoban" / file
        path.write_text(f'#include "sokoban/{line}"\n{path.read_text(encoding="utf-8")}', encoding="utf-8")
    assert "sokoban/search sokoban/table" in faults(copy)


def test_only_the_bindings_know_python() -> None:
    sources = {path.relative_to(CPP): path.read_text(encoding="utf-8") for path in CPP.rglob("*.[chi]*")}
    knowing = {name.parts[0] for name, text in sources.items() if re.search(r"#\s*include\s*<(pybind11|Python)", text)}
    assert knowing == {"bindings"}


def test_folders_are_small_enough_to_look_at() -> None:
    """A header and its source count as one."""
    for folder in [CPP, *(path for path in CPP.rglob("*") if path.is_dir())]:
        names = {path.stem for path in folder.iterdir() if path.is_file()}
        assert len(names) <= 12, f"{folder}: expected at most 12 names, got {len(names)}"


def test_the_puzzles_look_alike() -> None:
    """What every puzzle has lies at its top, under the same names."""
    for puzzle in ("ice", "sliding", "sokoban"):
        names = {path.stem for path in (CPP / puzzle).iterdir() if path.is_file()}
        assert names >= {"draw", "episodes", "generate", "level_text", "simulate", "solver"}
