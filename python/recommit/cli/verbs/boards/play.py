"""``recommit play``: a level in the terminal, or on a page of this machine. The signature is the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.cli.flags import usual
from recommit.cli.requests import SIZE, check_port
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import plain, repaint, tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.cli.verbs.boards.game.board_game import BoardGame


@usual(task="sokoban", file="generated levels", size=SIZE, length="any", port="a free one")
def play(
    file: Path | None = None,
    /,
    task: Task | None = None,
    size: tuple[int, ...] = (),
    boxes: int = 2,
    length: tuple[int, ...] | None = None,
    seed: int = 0,
    index: int = 0,
    browser: bool = False,
    port: int = 0,
    cell: int = 56,
    theme: Literal["light", "dark"] = "light",
) -> None:
    """Play levels with the keys of the terminal, or on a page that this machine alone can open.

    Arrows, wasd or hjkl move; u takes back, r begins again, ? gives a hint, n goes on to the next level, q ends.

    Args:
        file: A level file of any of the known formats.
        task: Without a file: which puzzle.
        size: Rows, or rows and columns of a generated level.
        boxes: Boxes of a generated Sokoban level.
        length: Optimal length of a generated level, or shortest and longest.
        seed: Generated levels depend on it.
        index: The level to begin with, counted from 0.
        browser: Serve a page with pictures instead, at an address that is printed.
        port: The port of that page.
        cell: Pixels per cell on that page.
        theme: Its colours.
    """
    from recommit.cli.verbs.boards.chosen_level import LevelRequest
    from recommit.cli.verbs.boards.game.board_game import BoardGame

    game = BoardGame(LevelRequest(file, task, size, boxes, length, seed).level, index)
    if browser:
        from recommit.cli.verbs.boards.game import local_page

        check_port(port)
        local_page.serve(game, port, cell, theme)
        return
    from recommit.cli.verbs.boards.game.keyboard import keys

    if sys.stdin is None:  # closed by whoever started this: there are no keys
        run(game, (), live=False)
        return
    run(game, keys(sys.stdin.fileno()), live=sys.stdin.isatty() and sys.stdout.isatty())


def run(game: BoardGame, pressed: Iterable[str], *, live: bool) -> None:
    """Play until there are no more keys; ``live`` shows every move in place of the last one."""
    if live:
        repaint(screen(game))
    for key in pressed:
        game.press(key)
        if live:
            repaint(screen(game))
        if game.over:
            break
    if not live:
        tell(screen(game))


def screen(game: BoardGame) -> str:
    """Title, board, how it stands, and the keys."""
    from recommit.cli.verbs.boards.game.keyboard import HELP

    return "\n".join([plain(game.chosen.title), "", game.board(), "", game.summary(), game.note, HELP])
