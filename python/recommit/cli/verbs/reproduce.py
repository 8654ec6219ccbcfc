"""``recommit reproduce``: its flags are the fields of ``ReproduceOptions``."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.cli.flags import taking
from recommit.cli.requests import WrongCall
from recommit.reproduce.options import ReproduceOptions
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from collections.abc import Callable


@taking(
    ReproduceOptions,
    out="none: needed unless --show",
    set="nothing more",
    gpus="runs in this machine's processes",
    gpus_per_run="all of them",
    hostfile="this machine alone",
    device="that of the preset",
    card="none",
)
def reproduce(
    options: ReproduceOptions, show: bool = False, card: str | None = None, json: bool = False, quiet: bool = False
) -> int:
    """Reproduce, or show what there is to do.

    Args:
        show: Print every run of the preset with its command, and the preset, and stop; with out: how far each is.
        card: With show: what every run needs on a100, h200, rtx4090 or cpu, as recommit estimate counts it; some
            minutes.
        json: With show: print JSON.
        quiet: Say nothing while working.
    """
    from recommit.reproduce import stages

    try:
        if show:
            return _show(options, card, json)
        report = stages.reproduce(options, verbs(), quiet=quiet)
    except stages.StageFailed as stopped:
        return int(stopped.args[0])
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(report)
    return 0


def verbs() -> dict[str, Callable[..., int]]:
    """Commands whose flags a preset has by name."""
    from recommit.cli.verbs.graphs.building import build
    from recommit.cli.verbs.graphs.heads import head, world_model
    from recommit.cli.verbs.zero_shot import zero_shot

    return {"zero-shot": zero_shot, "train world-model": world_model, "graph build": build, "train head": head}


def _show(options: ReproduceOptions, card: str | None, json: bool) -> int:
    import yaml

    from recommit.reproduce import preset as presets
    from recommit.reproduce import table

    whole = presets.load(options.preset, options.set)
    out = options.out.absolute() if options.out else Path("OUT")
    entries = presets.entries(whole, out, options.device)
    listed = table.rows(entries, options.fleet(elsewhere=True), looked=options.out is not None, card=card)
    if json:
        tell(dumps(table.plain(listed, whole), indent=2))
    else:
        tell(f"{table.text(listed)}\n{yaml.safe_dump(whole, sort_keys=False)}", end="")
    return 0
