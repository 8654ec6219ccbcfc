"""``recommit estimate``: parameters, FLOPs, memory and time. Light to import."""

from __future__ import annotations

from json import dumps

from recommit.estimate.options import EstimateOptions
from recommit.storage.terminal_text import tell


def estimate(options: EstimateOptions, json: bool = False) -> int:
    """Say what a recipe will take, before anything is loaded: parameters, observations, FLOPs, memory, time.

    Args:
        json: Print JSON.
    """
    from recommit.estimate.costs import text

    estimates = options.estimates()
    if json:
        tell(dumps([each.to_json() for each in estimates], indent=2))
    else:
        tell("\n".join(text(each) for each in estimates), end="")
    return 0
