"""``recommit zero-shot``: its flags are the fields of ``ZeroShotOptions``. Light to import."""

from __future__ import annotations

import json as json_module

from recommit.cli.flags import takes
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import say, tell
from recommit.zero_shot.options import ZeroShotOptions


@takes(ZeroShotOptions)
def zero_shot(options: ZeroShotOptions, json: bool = False, quiet: bool = False) -> int:
    """Play, and print what came of it.

    Args:
        json: Print the summary as JSON.
        quiet: Say nothing while playing.
    """
    from recommit.storage.errors import DataError, WrongFolder
    from recommit.zero_shot import summary
    from recommit.zero_shot.runner import ZeroShotRun

    try:
        run = ZeroShotRun(options)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    try:
        rows = run.run(quiet=quiet)
    except WrongFolder as error:
        raise WrongCall(str(error)) from None
    except DataError as error:
        say(f"recommit zero-shot: {error}")
        return error.exit_status
    tell(json_module.dumps(rows, indent=2) + "\n" if json else summary.table(rows), end="")
    return 0 if rows[0]["instances"] else 1  # not one episode got its answers
