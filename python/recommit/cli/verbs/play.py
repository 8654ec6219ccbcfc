"""``recommit play``: a level in the terminal, or on a page of this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from recommit.cli.boards import LevelOptions, check_port
from recommit.storage.terminal_text import plain, repaint, tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.cli.game import BoardGame


@dataclass(frozen=True, kw_only=True)
class PlayOptions(LevelOptions):
    """Which level is played, and where.

    Args:
        browser: Serve a page with pictures instead, at an address that is printed.
        port: The port of that page (0: a free one).
        cell: Pixels per cell on that page.
        theme: Its colours.
    """

    browser: bool = False
    port: int = 0
    cell: int = 56
    theme: Literal["light", "dark"] = "light"


def play(options: PlayOptions) -> None:
    """Play levels with the keys of the terminal, or on a page that this machine alone can open.

    Arrows, wasd or hjkl move; u takes back, r begins again, ? gives a hint, n goes on to the next level, q ends.
    """
    from recommit.cli import game as games

    game = games.BoardGame(options.level, options.index)
    if options.browser:
        from recommit.cli import local_page

        check_port(options.port)
        local_page.serve(game, options.port, options.cell, options.theme)
    elif sys.stdin is None:  # closed by whoever started this: there are no keys
        run(game, (), live=False)
    else:
        run(game, games.keys(sys.stdin.fileno()), live=sys.stdin.isatty() and sys.stdout.isatty())


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
    from recommit.cli.game import HELP

    return "\n".join([plain(game.chosen.title), "", game.board(), "", game.summary(), game.note, HELP])
