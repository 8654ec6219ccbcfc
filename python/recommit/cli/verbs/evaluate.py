"""``recommit evaluate``: its flags are the fields of ``EvaluateOptions``. Light to import."""

from __future__ import annotations

import json as json_module

from recommit.cli.flags import taking
from recommit.cli.requests import WrongCall
from recommit.evaluate.options import EvaluateOptions
from recommit.storage.terminal_text import tell


@taking(EvaluateOptions, task="the only one of the run", length="those of the data", tables="all with --paper")
def evaluate(options: EvaluateOptions, json: bool = False, quiet: bool = False) -> int:
    """Play, and print the tables.

    Args:
        json: Print the summary as JSON.
        quiet: Print nothing while playing.
    """
    from recommit.evaluate.evaluation import evaluated

    try:
        result = evaluated(options, quiet=quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on, and plays no agent again") from None
    if result is not None:  # other ranks than the main one have nothing to say
        tell(json_module.dumps(result.rows, indent=2) + "\n" if json else result.text, end="")
    return 0
