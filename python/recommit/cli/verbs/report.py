"""``recommit report``. Light to import."""

from __future__ import annotations

from json import dumps

from recommit.cli.boards import check_place
from recommit.report.options import ReportOptions
from recommit.storage.terminal_text import tell


def report(options: ReportOptions, json: bool = False, quiet: bool = False) -> None:
    """Write one page about an evaluation: figures, tables and episodes to watch; it needs no server and no network.

    Args:
        json: Print JSON.
        quiet: Print nothing.
    """
    from recommit.report import page

    check_place(options.out, makes_folders=True)
    made = page.write(options)
    counts = {"figures": len(made.figures), "watched": made.watched, "instances": made.of}
    if json:
        tell(dumps({"out": str(options.out), **counts}))
    elif not quiet:
        tell(f"{options.out}: {counts['figures']} figures, {made.watched} of {made.of} instances to watch")
