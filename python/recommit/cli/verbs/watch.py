"""``recommit watch``: a policy that was recorded, beside a fixed depth of its plans."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Any

from recommit.cli.keys import with_keys
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from recommit.watch.match import Match


def watch(recording: str = "", terminal: bool = False) -> None:
    """Watch a policy that was recorded, beside a fixed depth of its plans: nothing but numpy is needed.

    Args:
        recording: One of the package by its name, or a file that recommit play --agent wrote with --out (default: the
            first of the package).
        terminal: In the terminal, as where there is no display, and not on a page.
    """
    from recommit.watch import recorded

    values = recorded.read(recording or recorded.names()[0])
    show(recorded.RecordedMatch(values), values, 0, terminal=terminal)


def show(match: Match, packed: dict[str, Any], number: int, *, terminal: bool) -> None:
    """In the terminal, or on a page until interrupted."""
    from recommit.watch import page
    from recommit.watch.server import MatchServer
    from recommit.watch.terminal import MatchGame

    if terminal or not _has_display():
        with_keys(MatchGame(match, number))
        return
    with MatchServer(match, page.make(match.about, packed, asks=True)) as server:
        tell(f"{match.about.policy}: {server.address}\nctrl-c ends")
        webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say()


def _has_display() -> bool:
    """Is there a window to open a page in? A browser of the terminal would take the place of what runs there."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
