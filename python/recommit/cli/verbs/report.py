"""``recommit report``: its flags are the fields of ``ReportOptions``."""

from __future__ import annotations

from json import dumps

from recommit.cli.flags import taking
from recommit.cli.requests import WrongCall, check_place
from recommit.report.options import ReportOptions
from recommit.storage.terminal_text import tell


@taking(ReportOptions, seeds="this evaluation alone", figures="none")
def report(options: ReportOptions, json: bool = False, quiet: bool = False) -> int:
    """Write the page, and say what is in it.

    Args:
        json: Print JSON.
        quiet: Print nothing.
    """
    from recommit.report import page

    check_place(options.out, makes_folders=True)
    try:
        made = page.write(options)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    counts = {"figures": len(made.figures), "watched": made.watched, "instances": made.of}
    if json:
        tell(dumps({"out": str(options.out), **counts}))
    elif not quiet:
        tell(f"{options.out}: {counts['figures']} figures, {made.watched} of {made.of} instances to watch")
    return 0
