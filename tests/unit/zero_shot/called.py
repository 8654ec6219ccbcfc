"""``recommit zero-shot`` from Python, with its flags by their names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from recommit.cli.verbs import stages as verb
from recommit.storage.errors import DataError
from recommit.zero_shot.options import ZeroShotOptions


def zero_shot(model: str, out: Path, *, json: bool = False, quiet: bool = False, **flags: Any) -> int:
    """Its exit status, as the command line would end with."""
    try:
        return verb.zero_shot(ZeroShotOptions(model, out, **flags), json=json, quiet=quiet)
    except DataError as error:
        if isinstance(error, ValueError) and error.exit_status == 2:  # the call was wrong
            raise
        print(f"recommit: {error}", file=sys.stderr)
        return error.exit_status
