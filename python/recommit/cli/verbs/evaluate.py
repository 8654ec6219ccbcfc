"""``recommit evaluate``. Light to import."""

from __future__ import annotations

import json as json_module

from recommit.evaluate.options import EvaluateOptions
from recommit.storage.terminal_text import tell


def evaluate(options: EvaluateOptions, json: bool = False, quiet: bool = False) -> None:
    """Play agents on the same test instances and compare the first with the others.

    Args:
        json: Print the summary as JSON.
        quiet: Print nothing while playing.
    """
    from recommit.evaluate.evaluation import evaluated

    try:
        result = evaluated(options, quiet=quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on, and plays no agent again") from None
    if result is not None:  # other ranks than the main one have nothing to say
        tell(json_module.dumps(result.rows, indent=2) + "\n" if json else result.text, end="")
