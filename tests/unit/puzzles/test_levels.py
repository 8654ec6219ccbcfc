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
from tests.unit.puzzles.level_cases import CASES, A, L

import recommit
from recommit.puzzles import levels as module

SHARED = Path(os.environ.get("RECOMMIT_SHARED", Path(__file__).parents[4] / "shared"))
SYMBOLS = " #.$*@+"


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


# --- The table of nasty texts.


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_nasty_text(text: str | bytes, expected: object) -> None:
    assert outcome(text) == expected


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
    with pytest.raises(IndexError):
        levels[3]
    for array in (levels[0], levels.states, levels[:2].states):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    with pytest.raises(AttributeError):
        levels.task = "sliding"  # type: ignore[misc]
    assert repr(levels) == "<3 sokoban levels>"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda levels: pickle.loads(pickle.dumps(levels))])
def test_copies_are_read_only_as_well(copied: Callable[[recommit.Levels], recommit.Levels]) -> None:
    levels = recommit.parse_levels("; 0\n#####\n#@$.#\n#####\n\n; 1\n######\n#@ $.#\n######\n")
    assert levels.states.shape == (2, 3, 6)
    again = copied(levels)
    assert (again.task, again.shapes, again.titles) == (levels.task, levels.shapes, levels.titles)
    assert again.cells.tobytes() == levels.cells.tobytes()
    assert again.states.tobytes() == levels.states.tobytes()
    for array in (again.cells, again.states, again[0], again[:1].cells):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 7


def test_padding_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_STATES_BYTES", 47)
    with pytest.raises(ValueError, match="at most 47 bytes, got 48 for 2 levels padded to 4 by 6"):
        _ = recommit.parse_levels(L + "\n######\n#@$. #\n#    #\n######\n").states


def test_the_examples_of_the_guide_are_read() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "level-files.md").read_text()
    blocks = re.findall(r"(?:^    .+\n(?:\n(?=    ))?)+", guide, flags=re.MULTILINE)
    found = [outcome(block.replace("\n    ", "\n").removeprefix("    ")) for block in blocks]
    assert found == [
        [A + " | A first push"],
        [A + " | 0"],
        [A, "######/#@ $.#/######"],
        [A + " | 1", "######/#@ $.#/###### | 2 'Duh!'"],
        ["#######/###@$.#/#######"],
        [A],
        ["1 2 3/4 0 6/7 5 8"],
        ["1 1 1 1 1 1/1 3 0 0 0 1/1 0 0 2 0 1/1 1 1 1 1 1"],
    ]


# --- Files.


def test_file_errors_name_the_file_and_the_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("#####\n#@$x#\n")
    with pytest.raises(ValueError, match=r"bad\.txt: line 2, column 4: unknown") as caught:
        recommit.read_levels(path)
    assert isinstance(caught.value, recommit.LevelError)
    assert (caught.value.line, caught.value.column) == (2, 4)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        recommit.read_levels(tmp_path / "absent")
    with pytest.raises(OSError, match="expected a file, got a folder"):
        recommit.read_levels(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
        with pytest.raises(OSError, match="expected a file, got a pipe"):
            recommit.read_levels(tmp_path / "pipe")
        with pytest.raises(OSError, match="expected a file, got a device"):
            recommit.read_levels("/dev/zero")


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


def test_grids_of_different_sizes_can_be_written() -> None:
    levels = recommit.parse_levels(L + "\n######\n#@$. #\n######\n")
    assert recommit.format_levels(list(levels)) == recommit.format_levels(levels)
    np.testing.assert_array_equal(recommit.parse_levels(recommit.format_levels(levels.states)).states, levels.states)


GOOD = recommit.parse_levels(L).states


def broken(row: int, col: int, code: int) -> np.ndarray:
    states = GOOD.copy()
    states[0, row, col] = code
    return states


@pytest.mark.parametrize(
    ("states", "options", "error", "message"),
    [
        (GOOD.astype(np.int64), {}, TypeError, r"states\[0\]: expected an array of dtype uint8, got dtype int64"),
        (GOOD.tolist(), {}, TypeError, r"states\[0\]: expected an array of dtype uint8, got list"),
        (GOOD[0], {}, ValueError, r"states\[0\]: expected 2 dimensions \[rows, columns\], got shape \(5,\)"),
        (GOOD[:0], {}, ValueError, "states: expected at least one level, got none"),
        ([], {}, ValueError, "states: expected at least one level, got none"),
        (np.ones((1, 65, 5), np.uint8), {}, ValueError, r"expected values 0\.\.64, got 65"),
        (np.ones((1, 0, 5), np.uint8), {}, ValueError, r"1\.\.64 by 1\.\.64 cells, got 0 by 5"),
        (np.ones((1, 3, 3), np.uint8), {}, ValueError, "exactly one player, got 0 in state 0"),
        (broken(1, 2, 5), {}, ValueError, "exactly one player, got 2 in state 0"),
        (
            broken(1, 2, 0),
            {},
            ValueError,
            r"states\[0\]: expected at least one box and as many goals, got 0 boxes and 1",
        ),
        (broken(0, 2, 0), {}, ValueError, r"states\[0\]: expected walls \(1\) all around, got 0 at row 0, column 2"),
        (broken(1, 2, 7), {"task": "sokoban"}, ValueError, r"cell codes 0\.\.6, got 7"),
        (np.full((1, 3, 3), 2, np.uint8), {"task": "sliding"}, ValueError, r"every tile 0\.\.8 exactly once"),
        (np.zeros((1, 6, 6), np.uint8), {"task": "sliding"}, ValueError, r"2\.\.5 by 2\.\.5 cells, got 6 by 6"),
        (GOOD, {"task": "chess"}, ValueError, "task: expected one of ice, .*sliding, sokoban.*, got 'chess'"),
        (GOOD, {"format": "sok"}, ValueError, "format: expected xsb, boxoban or plain, got 'sok'"),
        (GOOD, {"titles": []}, ValueError, "titles: expected one for each level, 1, got 0"),
        (GOOD, {"titles": [3]}, TypeError, r"titles\[0\]: expected str, got int"),
        (GOOD, {"titles": ["a\nb"]}, ValueError, r"titles\[0\]: expected one line without control characters"),
        (GOOD, {"titles": [" a"]}, ValueError, r"titles\[0\]: expected one line"),
        (GOOD, {"titles": ["\ud800"]}, ValueError, r"titles\[0\]: expected text, got a lone surrogate"),
        (GOOD, {"titles": ["x" * 5000]}, ValueError, r"titles\[0\]: expected at most 4089 bytes, got 5000"),
        (GOOD, {"titles": ["a"], "format": "plain"}, ValueError, r"titles\[0\]: expected no title in the format plain"),
        (GOOD, {"titles": ["a"], "format": "boxoban"}, ValueError, r"titles\[0\]: expected a number .* got 'a'"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(
    states: object, options: dict, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("kept")
    with pytest.raises(error, match=message):
        recommit.write_levels(path, states, **options)
    assert path.read_text() == "kept"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.txt"]


def test_the_cells_that_levels_are_made_of_stay_writable() -> None:
    cells = np.ones(9, np.uint8)
    levels = recommit.Levels("sokoban", ((3, 3),), ("",), cells)
    assert cells.flags.writeable
    assert not levels.cells.flags.writeable
