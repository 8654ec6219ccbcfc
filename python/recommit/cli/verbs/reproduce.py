"""``recommit reproduce``: the signature is the command line. Light to import."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import tell
from recommit.train.family.launch import Launcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.train.family.launch import Fleet


@usual(
    out="none: needed unless --show",
    set="nothing more",
    gpus="runs in this machine's processes",
    gpus_per_run="all of them",
    hostfile="this machine alone",
    device="that of the preset",
    card="none",
)
def reproduce(
    out: Path | None = None,
    preset: str = "demo",
    set: tuple[str, ...] = (),
    jobs: int = 2,
    gpus: int | None = None,
    gpus_per_run: int | None = None,
    hostfile: Path | None = None,
    launcher: Launcher = "deepspeed",
    device: str | None = None,
    show: bool = False,
    card: str | None = None,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Data, warm start, reinforcement, evaluation and report in one go; what is there is not made again.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), h200, paper, sound, or a YAML file.
        set: Any value of the preset, for all puzzles or, after the name of one, for it, for example --set
            sft.optim.steps=300 grpo.rollout.instances=32 seeds=[0] sliding.evaluate.instances=256
        jobs: Processes of this machine; runs of a family train side by side.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (of every machine).
        gpus_per_run: So many for each run, several of which then go on side by side; all of them if not said.
        hostfile: Machines that this one reaches by pdsh and ssh, as DeepSpeed's launcher reads them.
        launcher: deepspeed, torchrun, or srun in a SLURM job.
        device: cpu, cuda, or auto.
        show: Print every run of the preset with its command, and the preset, and stop; with out: how far each is.
        card: With show: what every run needs on a100, h200, rtx4090 or cpu, as recommit estimate counts it; some
            minutes.
        json: With show: print JSON.
        quiet: Say nothing while working.
    """
    from recommit.reproduce import preset as presets
    from recommit.reproduce import stages as pipeline
    from recommit.train.family import launch

    if jobs < 1:
        raise WrongCall(f"jobs: expected at least 1, got {jobs}")
    try:
        whole = presets.load(preset, set)
        fleet = launch.requested(gpus, gpus_per_run, hostfile, launcher, device, elsewhere=show)
        if show:
            return _show(whole, out, fleet, device, card, json)
        if out is None:
            raise WrongCall("out: expected a folder, got none")
        report = pipeline.reproduce(
            preset, out, jobs=jobs, fleet=fleet, device=device, verbs=verbs(), changes=set, quiet=quiet
        )
    except pipeline.StageFailed as stopped:
        return int(stopped.args[0])
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(report)
    return 0


def verbs() -> dict[str, Callable[..., int]]:
    """Commands whose flags a preset has by name."""
    from recommit.cli.verbs.graphs.building import build
    from recommit.cli.verbs.graphs.heads import foresight, stakes
    from recommit.cli.verbs.zero_shot import zero_shot

    return {"zero-shot": zero_shot, "train world-model": foresight, "graph build": build, "train stakes": stakes}


def _show(
    whole: dict[str, Any], out: Path | None, fleet: Fleet | None, device: str | None, card: str | None, json: bool
) -> int:
    import yaml

    from recommit.reproduce import preset as presets
    from recommit.reproduce import table

    entries = presets.entries(whole, out.absolute() if out else Path("OUT"), device)
    listed = table.rows(entries, fleet, looked=out is not None, card=card)
    if json:
        tell(dumps(table.plain(listed, whole), indent=2))
    else:
        tell(f"{table.text(listed)}\n{yaml.safe_dump(whole, sort_keys=False)}", end="")
    return 0
