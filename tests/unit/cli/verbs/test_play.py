"""A level in the hands of a person: in the terminal, with keys."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import HANG, ended

from recommit.cli.boards import LevelOptions
from recommit.cli.keys import parsed
from recommit.cli.verbs.play import BoardGame

pytest.importorskip("tyro")

#: Two levels: the first is solved by two pushes to the right, the second has a box in a corner.
LEVELS = "######\n#@$ .#\n######\nTitle: two\n\n#####\n#$  #\n#@ .#\n#####\nTitle: stuck\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.txt"
    path.write_text(LEVELS)
    return path


@pytest.fixture
def game(pack: Path) -> BoardGame:
    return BoardGame(LevelOptions(file=pack).level)


def test_moves_are_taken_back_and_counted(game: BoardGame) -> None:
    start = game.board()
    for key in ("up", "right", "nonsense"):
        game.press(key)
    assert game.summary() == "1 action", "a wall stops, and is no action"
    game.press("undo")
    assert (game.board(), game.summary()) == (start, "0 actions")
    game.press("undo")
    game.press("right")
    game.press("right")
    assert game.solved
    assert game.summary() == "solved with 2 actions; the fewest are 2"
    game.press("left")
    assert game.summary().startswith("solved with 2"), "a solved level stays as it is"
    game.press("restart")
    assert game.board() == start


def test_a_hint_is_the_next_action_of_an_optimal_plan(game: BoardGame) -> None:
    game.press("hint")
    assert game.note == "right, then 1 more"
    game.press("next")
    game.press("hint")
    assert game.note == "nothing solves it from here: undo"


def test_after_the_last_level_the_game_goes_on(game: BoardGame) -> None:
    game.press("next")
    board = game.board()
    for _ in range(2):
        game.press("next")
        assert (game.note, game.board(), game.index) == ("this is the last level", board, 1)


@pytest.mark.parametrize(
    ("typed", "words", "rest"),
    [
        ("\x1b[A\x1bOBdl", ["up", "down", "right", "right"], ""),
        ("u?\x1b[", ["undo", "hint"], "\x1b["),
        ("\x1b[5zQ", ["quit"], ""),
        ("\x1b[1;5C\x1b[1;2Au\x1b[1;", ["undo"], "\x1b[1;"),
        ("\u00e9", [], ""),
    ],
)
def test_keys(typed: str, words: list[str], rest: str) -> None:
    assert parsed(typed) == (words, rest)


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of a Unix")
def test_a_terminal_shows_every_move_and_is_left_as_it_was(pack: Path) -> None:
    import termios

    controller, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    words = [sys.executable, "-m", "recommit.cli", "play", str(pack)]
    with ended(subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal)) as process:
        os.write(controller, b"ddq")
        assert process.wait(timeout=HANG) == 0
        shown = ""
        while select.select([controller], [], [], 0.2)[0]:  # in parts, where the machine is busy
            shown += os.read(controller, 1 << 16).decode()
    assert termios.tcgetattr(terminal) == before
    assert shown.count("\x1b[H\x1b[J") == 4, "the level, two moves, the end"
    assert "solved with 2 actions" in shown
    os.close(controller)
    os.close(terminal)


def test_a_generated_level_is_that_of_generate() -> None:
    import recommit

    game = BoardGame(LevelOptions(task="sliding", size=(3,), length=(8,), seed=5).level, 3)
    expected = recommit.Sliding(3).generate(4, seed=5, length=8).states[3]
    assert game.state.tolist() == expected.tolist()
