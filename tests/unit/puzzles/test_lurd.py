"""Solutions in letters, beside their slow twin."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import lurd as twin
from tests.unit.puzzles.level_cases import L

import recommit
from recommit.puzzles import lurd
from recommit.puzzles.lurd import Replay, check_solution, format_solution, parse_solutions

QUICK = settings(max_examples=300, deadline=None, derandomize=True)
ROOM = "#######\n#@ $ .#\n#     #\n#######\n"
PIECES = [*"lurdLURD0123456789 \t\n;:x(-", "\n\n", "Solution:", "Title: l\n", "::", "\r\n", "99999999", "\u00e9"]


def state(text: str = ROOM) -> np.ndarray:
    return recommit.parse_levels(text)[0]


def outcome(text: str) -> object:
    try:
        return [(each.line, each.letters) for each in parse_solutions(text)]
    except recommit.LevelError as error:
        named = str(error).startswith(f"line {error.line}, column {error.column}: ")
        return (error.line, error.column) if named else str(error)


def by_twin(text: str) -> object:
    try:
        return twin.parse(text)
    except twin.RefusedError as error:
        return error.args


def agree(*texts: str) -> None:
    for text in texts:
        assert outcome(text) == by_twin(text), text


def test_more_lines_than_a_file_of_people_has_are_refused_at_once(monkeypatch):
    """A list of 64 million empty lines takes a gigabyte before anything is read."""
    monkeypatch.setattr(lurd, "MAX_LINES", 3)
    assert [each.line for each in parse_solutions("\n\nl")] == [3]
    with pytest.raises(recommit.LevelError, match="expected at most 3 lines, got 4"):
        parse_solutions("\n\n\nl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("lurdLURD", [(1, "lurdLURD")]),
        ("3l2R", [(1, "lllRR")]),
        ("l r\n\tU\n", [(1, "lrU")]),
        ("l\n\nr\r\n\r\nU", [(1, "l"), (3, "r"), (5, "U")]),
        ("; 1\nl\n; 2\nr\n", [(2, "l"), (4, "r")]),
        ("Title: a\nSolution: 2l\nR\nLength: 3\nr\n", [(2, "llR"), (5, "r")]),
        ("Solution:\nl\n:: lurd\nu\n", [(2, "l"), (4, "u")]),
        ("lx", (1, 2)),
        ("l\nu 3", (2, 4)),
        ("3 l", (1, 2)),
        ("l03r", (1, 2)),
        ("2(lr)", (1, 2)),
        ("1000000l", [(1, "l" * 1_000_000)]),
        ("l1000000r", (1, 2)),
        ("999999999999r", (1, 1)),
        ("l" + "9" * 5000 + "r", (1, 2)),
    ],
)
def test_texts(text: str, expected: object) -> None:
    assert outcome(text) == expected
    assert by_twin(text) == expected


def test_all_solutions_together_are_limited_before_they_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lurd, "MAX_LETTERS", 5)
    assert outcome("3l\n\n2r") == [(1, "lll"), (3, "rr")]
    with pytest.raises(recommit.LevelError, match="line 3, column 1: expected at most 1000000 actions in a solution"):
        parse_solutions("3l\n\n3r")


@QUICK
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_is_read_alike(text: str) -> None:
    agree(text)


@pytest.mark.parametrize(
    ("name", "wrong"), [("LETTERS", "udl"), ("MAX_ACTIONS", 5), ("spelled", lambda line, *_: line.strip())]
)
def test_the_comparison_notices_a_wrong_twin(name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, name, wrong)
    with pytest.raises(AssertionError):
        agree("9l", "r", "2r3u", "1l")


@pytest.mark.parametrize(
    ("letters", "replay"),
    [
        ("rRR", Replay(3, 2, True)),
        ("rR", Replay(2, 1, False)),
        ("", Replay(0, 0, False)),
        ("rr", Replay(1, 0, False, "action 2: expected a capital letter for a push, got 'r'")),
        ("RRR", Replay(0, 0, False, "action 1: expected a small letter for a move without a push, got 'R'")),
        ("rRRR", Replay(3, 2, False, "action 4: expected a move, got 'R' into something that does not give way")),
        ("u", Replay(0, 0, False, "action 1: expected a move, got 'u' into something that does not give way")),
    ],
)
def test_letters_are_played(letters: str, replay: Replay) -> None:
    assert check_solution(state(), letters) == replay
    assert replay.right == (letters == "rRR")


def test_random_walks_are_judged_alike() -> None:
    grid, faults, solved = state(), 0, 0
    for seed in range(300):
        letters = "".join(Random(seed).choices("rRdldru", weights=(6, 6, 1, 1, 1, 1, 1), k=Random(seed).randint(1, 5)))
        replay = check_solution(grid, letters)
        assert (replay.actions, replay.pushes, replay.solves, bool(replay.fault)) == twin.play(grid, letters)
        faults, solved = faults + bool(replay.fault), solved + replay.right
    assert 30 < faults < 290
    assert solved


def test_optimal_plans_are_right_and_come_back_from_a_file(tmp_path: Path) -> None:
    levels = recommit.Sokoban(6, boxes=1).generate(5, seed=1)
    plans = [each.letters for each in recommit.solve(levels)]
    path = tmp_path / "plans.txt"
    path.write_text("\n\n".join(format_solution(each, runs=True) for each in plans), encoding="utf-8")
    solutions = lurd.read_solutions(path)
    assert [each.letters for each in solutions] == plans
    assert all(each.right for each in lurd.check_solutions(list(levels.states), solutions))
    with pytest.raises(ValueError, match="solutions: expected 4, one for each level, got 5"):
        lurd.check_solutions(list(levels.states[:4]), solutions)


def test_other_puzzles_have_no_pushes() -> None:
    board = recommit.parse_levels("1 2\n0 3\n")[0]
    (plan,) = recommit.solve([board])
    assert check_solution(board, plan.letters).right
    assert "small letter" in check_solution(board, plan.letters.upper()).fault


@QUICK
@given(st.text(alphabet="lurdLURD", max_size=40), st.booleans())
def test_written_letters_come_back(letters: str, runs: bool) -> None:
    text = format_solution(letters, runs)
    assert [each.letters for each in parse_solutions(text)] == ([letters] if letters else [])
    assert len(text) <= len(letters)


def test_what_cannot_be_written_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"letters\[1\]: expected one of lurdLURD, got 'x'"):
        format_solution("lx")
    path = tmp_path / "s.txt"
    path.write_bytes(b"l\nr\xff\n")
    with pytest.raises(recommit.LevelError, match=r"s\.txt: line 2, column 2: expected UTF-8, got the byte 0xFF"):
        lurd.read_solutions(path)
    monkeypatch.setattr(lurd, "MAX_FILE_BYTES", 3)
    with pytest.raises(recommit.LevelError, match="at most 3 bytes"):
        lurd.read_solutions(path)
    with pytest.raises(recommit.LevelError, match="line 1, column 1: expected one of lurdLURD, got '#'"):
        parse_solutions(L)
