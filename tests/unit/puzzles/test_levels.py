from __future__ import annotations

import copy
import os
import pickle
import re
import stat
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refused

import recommit
from recommit.puzzles import levels as module

SHARED = Path(os.environ.get("RECOMMIT_SHARED", Path(__file__).parents[4] / "shared"))
SYMBOLS = " #.$*@+"
L = "#####\n#@$.#\n#####\n"
A = "#####/#@$.#/#####"


def shown(levels: recommit.Levels) -> list[str]:
    """As the table of cases writes accepted levels."""
    result = []
    for grid, title in zip(levels, levels.titles, strict=True):
        if levels.task == "sokoban":
            rows = ["".join(SYMBOLS[cell] for cell in row) for row in grid]
        else:
            rows = [" ".join(map(str, row)) for row in grid]
        result.append("/".join(rows) + (f" | {title}" if title else ""))
    return result


def outcome(text: str | bytes) -> list[str] | tuple[int, int, str]:
    try:
        return shown(recommit.parse_levels(text))
    except recommit.LevelError as error:
        message = str(error)
        prefix = f"line {error.line}, column {error.column}: " if error.line else ""
        assert message.startswith(prefix)
        return error.line, error.column, message.removeprefix(prefix)


def test_padding_is_wall_at_the_right_and_at_the_bottom() -> None:
    levels = recommit.parse_levels(L + "\n######\n#@$. #\n#    #\n######\n")
    assert levels.states.shape == (2, 4, 6)
    np.testing.assert_array_equal(levels.states[0, :3, :5], levels[0])
    assert (levels.states[0, 3:] == 1).all()
    assert (levels.states[0, :, 5:] == 1).all()
    assert levels.shapes == ((3, 5), (4, 6))
    assert recommit.Sokoban(size=8, boxes=1).is_solved(levels.states).tolist() == [False, False]


def test_levels_are_a_frozen_sequence() -> None:
    levels = recommit.parse_levels("; a\n" + L + "\n; b\n" + L + "\n; c\n######\n#@*  #\n######\n")
    assert len(levels) == 3
    assert [grid.shape for grid in levels] == [(3, 5), (3, 5), (3, 6)]
    assert levels[-1].tolist() == levels[2].tolist()
    assert levels[1:].titles == ("b", "c")
    assert shown(levels[::-1]) == shown(levels)[::-1]
    assert len(levels[5:]) == 0
    refused([(lambda: levels[3], "")], IndexError)
    assert not any(array.flags.writeable for array in (levels[0], levels.states, levels[:2].states))
    assert repr(levels) == "<3 sokoban levels>"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda levels: pickle.loads(pickle.dumps(levels))])
def test_copies_are_read_only_as_well(copied: Callable[[recommit.Levels], recommit.Levels]) -> None:
    levels = recommit.parse_levels("; 0\n#####\n#@$.#\n#####\n\n; 1\n######\n#@ $.#\n######\n")
    assert levels.states.shape == (2, 3, 6)
    again = copied(levels)
    assert (again.task, again.shapes, again.titles) == (levels.task, levels.shapes, levels.titles)
    assert again.cells.tobytes() == levels.cells.tobytes()
    assert again.states.tobytes() == levels.states.tobytes()
    assert not any(array.flags.writeable for array in (again.cells, again.states, again[0], again[:1].cells))


def test_the_examples_of_the_guide_are_read() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "level-files.md").read_text()
    blocks = re.findall(r"(?:^    .+\n(?:\n(?=    ))?)+", guide, flags=re.MULTILINE)
    found = [outcome(block.replace("\n    ", "\n").removeprefix("    ")) for block in blocks]
    assert found == [
        [A + " | A first push"],
        [A + " | 1", "######/#@ $.#/###### | 2 'Duh!'"],
        ["#######/###@$.#/#######"],
        ["1 2 3/4 0 6/7 5 8"],
        ["1 1 1 1 1 1/1 3 0 0 0 1/1 0 0 2 0 1/1 1 1 1 1 1"],
    ]


# --- Files.


def test_what_is_no_file(tmp_path: Path) -> None:
    read = lambda path: lambda: recommit.read_levels(path)
    rows = [(read(tmp_path / "absent"), "absent"), (read(tmp_path), "expected a file, got a folder")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
        rows += [(read(tmp_path / "pipe"), "got a pipe"), (read("/dev/zero"), "got a device")]
    refused(rows, OSError)


GIANT = """
import resource, sys
import recommit
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a child inherits its parent's peak
try:
    recommit.read_levels(sys.argv[1])
except recommit.LevelError as error:
    print(error.line, error.column, "1073741824" in str(error) and "67108864" in str(error))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture
def resource() -> types.ModuleType:
    """Where the operating system counts memory; nowhere on Windows."""
    return pytest.importorskip("resource")


@pytest.mark.usefixtures("resource")
def test_a_giant_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "giant.txt"
    with path.open("wb") as file:
        file.truncate(2**30)
    done = subprocess.run([sys.executable, "-c", GIANT, str(path)], capture_output=True, text=True, check=True)
    refusal, kilobytes = done.stdout.splitlines()
    assert refusal == "0 0 True"
    assert int(kilobytes) * (1 if sys.platform != "darwin" else 1 / 1024) < 200_000


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 20)
    path = tmp_path / "grown.txt"
    path.write_text(L + L)
    before = os.stat_result([stat.S_IFREG, *[0] * 9])
    monkeypatch.setattr(module.os, "fstat", lambda _: before)
    with pytest.raises(recommit.LevelError, match="at most 20 bytes of text, got 21"):
        recommit.read_levels(path)


def test_oversize_text_is_refused_before_it_is_copied(resource: types.ModuleType) -> None:
    text = "#" * (2**26 + 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(recommit.LevelError, match="at most 67108864 bytes of text, got 67108865"):
        recommit.parse_levels(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


@pytest.mark.parametrize("name", ["boxoban-unfiltered-test", "boxoban-medium-valid", "boxoban-hard"])
def test_boxoban_files(name: str) -> None:
    path = SHARED / "data" / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"known-answer data absent: {path}")
    levels = recommit.read_levels(path)
    assert levels.states.shape == (250, 10, 10)
    assert len(set(levels.titles)) == 250
    boxes = np.isin(levels.states, (3, 4)).sum(axis=(1, 2))
    assert (boxes == 4).all()
    # The file itself, apart from blank lines at its end, is what the writer makes of it.
    assert recommit.format_levels(levels, format="boxoban").rstrip("\n") == path.read_text().rstrip("\n")


# --- Writing.


def test_the_three_formats() -> None:
    levels = recommit.parse_levels("; 3\n" + L + "\n; 4\n" + L)
    assert recommit.format_levels(levels) == L + "Title: 3\n\n" + L + "Title: 4\n"
    assert recommit.format_levels(levels, format="boxoban") == "; 3\n" + L + "\n; 4\n" + L
    assert recommit.format_levels(levels, format="plain") == L + "\n" + L
    assert recommit.format_levels(levels, ["a", ""]) == L + "Title: a\n\n" + L
    words = recommit.parse_levels("; word\n" + L)
    assert recommit.format_levels(words, format="boxoban") == "; 0\n" + L
    assert shown(recommit.parse_levels(recommit.format_levels(np.array([[[1, 2], [3, 0]]], np.uint8)))) == ["1 2/3 0"]


def test_generated_states_can_be_written(tmp_path: Path) -> None:
    for task in (recommit.Sokoban(size=8, boxes=2), recommit.Sliding(3, 4)):
        states = task.generate(50, seed=1).states
        recommit.write_levels(tmp_path / "out.txt", states)
        again = recommit.read_levels(tmp_path / "out.txt")
        assert again.task == task.task
        np.testing.assert_array_equal(again.states, states)
