"""``recommit estimate``: its flags are the fields of ``EstimateOptions``. Light to import."""

from __future__ import annotations

from json import dumps

from recommit.cli.flags import WrongCall
from recommit.estimate.options import EstimateOptions
from recommit.storage.terminal_text import tell


def estimate(options: EstimateOptions, json: bool = False) -> int:
    """Say what a recipe will take, before anything is loaded: parameters, observations, FLOPs, memory, disk, time.

    Args:
        json: Print JSON.
    """
    from recommit.estimate.costs import text

    try:
        estimates = options.estimates()
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if json:
        tell(dumps([each.to_json() for each in estimates], indent=2))
    else:
        tell("\n".join(text(each) for each in estimates), end="")
    return 0
