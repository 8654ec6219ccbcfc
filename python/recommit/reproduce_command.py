"""``recommit reproduce``: the signature is the command line. Light to import."""

from __future__ import annotations

import sys
from pathlib import Path

from recommit.calls import WrongCall


def reproduce(
    out: Path | None = None, preset: str = "demo", jobs: int = 2, show: bool = False, quiet: bool = False
) -> int:
    """Data, warm start, reinforcement, evaluation and report in one go; what is there is not made again.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), h200, paper, or a YAML file.
        jobs: Processes; runs of a family train side by side.
        show: Print the preset and stop.
        quiet: Say nothing while working.
    """
    from recommit import reproduce as pipeline

    try:
        plan = pipeline.load(preset)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if show:
        import yaml

        sys.stdout.write(yaml.safe_dump(plan, sort_keys=False))
        return 0
    if out is None:
        raise WrongCall("out: expected a folder, got none")
    try:
        report = pipeline.reproduce(preset, out, jobs=jobs, quiet=quiet)
    except pipeline.Stopped as stopped:
        return int(stopped.args[0])
    except ValueError as error:
        raise WrongCall(str(error)) from None
    sys.stdout.write(f"{report}\n")
    return 0
