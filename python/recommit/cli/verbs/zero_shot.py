"""``recommit zero-shot``. Light to import."""

from __future__ import annotations

import json as json_module

from recommit.storage.terminal_text import tell
from recommit.zero_shot.options import ZeroShotOptions


def zero_shot(options: ZeroShotOptions, json: bool = False, quiet: bool = False) -> int:
    """Let a vision-language model play through an API, or go on with such a run: the same options do both.

    Args:
        json: Print the summary as JSON.
        quiet: Say nothing while playing.
    """
    from recommit.zero_shot import summary
    from recommit.zero_shot.runner import ZeroShotRun

    rows = ZeroShotRun(options).run(quiet=quiet)
    tell(json_module.dumps(rows, indent=2) + "\n" if json else summary.table(rows), end="")
    return 0 if rows[0]["instances"] else 1  # not one episode got its answers
