"""``recommit watch``: a policy that was recorded, beside a fixed depth of its plans."""

from __future__ import annotations

from pathlib import Path

from recommit.cli.boards import check_place
from recommit.storage import files
from recommit.storage.terminal_text import tell


def watch(recording: str = "", out: str = "") -> None:
    """Watch a policy that was recorded, beside a fixed depth of its plans: nothing but numpy is needed.

    Args:
        recording: One of the package by its name, or a file that recommit play --agent wrote with --out (default: the
            first of the package).
        out: Write a page, .html, instead of showing the terminal (default: none).
    """
    from recommit.watch import recorded
    from recommit.watch.terminal import MatchGame, with_keys

    values = recorded.read(recording or recorded.names()[0])
    if not out:
        with_keys(MatchGame(recorded.RecordedMatch(values)))
        return
    check_place(Path(out))
    files.replace(files.Files(), Path(out), recorded.page(values).encode())
    tell(out)
