"""``recommit reproduce``: from nothing to a report. Light to import."""

from __future__ import annotations

from dataclasses import asdict
from json import dumps
from pathlib import Path

from recommit.reproduce.options import ReproduceOptions
from recommit.storage.terminal_text import tell


def reproduce(
    options: ReproduceOptions, show: bool = False, card: str | None = None, json: bool = False, quiet: bool = False
) -> int:
    """Data, warm start, GRPO, evaluation and report in one go; what is there is not made again.

    Args:
        show: Print every run of the preset with its command, and the preset, and stop; with out: how far each is.
        card: With show: what every run needs on a100, h200, rtx4090 or cpu, as recommit estimate counts it; some
            minutes.
        json: With show: print JSON.
        quiet: Say nothing while working.
    """
    from recommit.reproduce import stages

    if show:
        return _show(options, card, json)
    try:
        report = stages.reproduce(options, quiet=quiet)
    except stages.StageFailed as stopped:
        return int(stopped.args[0])
    tell(report)
    return 0


def _show(options: ReproduceOptions, card: str | None, json: bool) -> int:
    import yaml

    from recommit.reproduce import preset as presets
    from recommit.reproduce import table

    whole = presets.load(options.preset, options.set)
    out = options.out.absolute() if options.out else Path("OUT")
    entries = presets.entries(whole, out, options.device)
    listed = table.rows(entries, options.fleet(elsewhere=True), looked=options.out is not None, card=card)
    if json:
        tell(dumps({"runs": [asdict(row) for row in listed], "preset": whole}, indent=2))
    else:
        tell(f"{table.text(listed)}\n{yaml.safe_dump(whole, sort_keys=False)}", end="")
    return 0
