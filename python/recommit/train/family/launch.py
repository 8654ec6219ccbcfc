"""Where a run computes, and the command line that starts it there.

A ``Fleet`` is what a call may use: some GPUs of one machine, of the machines in a hostfile, or of a SLURM allocation.
It is divided into ``places``, and a run has one to itself: whole machines, or some GPUs of one.

    fleet = launch.fleet(8, per_run=4)
    launch.command(fleet, fleet.places()[0], "recommit.train.grpo", ["--recipe", "run.yaml", ...], port=29500)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Launcher = Literal["deepspeed", "torchrun", "srun"]
#: What a launcher is as a module, so that ranks run in this process's Python whatever PATH says.
_MODULES = {"deepspeed": "deepspeed.launcher.runner", "torchrun": "torch.distributed.run"}


@dataclass(frozen=True)
class Slot:
    """Where one run computes: the same GPUs on every one of its machines (none named: this one)."""

    gpus: tuple[str, ...]
    hosts: tuple[str, ...] = ()

    @property
    def ranks(self) -> int:
        """One per GPU."""
        return len(self.gpus) * max(len(self.hosts), 1)


@dataclass(frozen=True)
class Fleet:
    """What a call may use; see ``fleet``, which checks it."""

    launcher: Launcher
    #: On every machine.
    gpus: tuple[str, ...]
    per_run: int
    hosts: tuple[str, ...] = ()
    hostfile: Path | None = None
    #: ``cpu`` in the place of GPUs: ranks talk by gloo and share the cores.
    device: str = "auto"

    def places(self) -> list[Slot]:
        """Disjoint, each for one run at a time."""
        each = len(self.gpus)
        if self.per_run < each:
            parts = [self.gpus[begin : begin + self.per_run] for begin in range(0, each, self.per_run)]
            return [Slot(part, hosts) for hosts in self._alone() for part in parts]
        machines = self.per_run // each
        groups = [self.hosts[begin : begin + machines] for begin in range(0, max(len(self.hosts), 1), machines)]
        return [Slot(self.gpus, hosts) for hosts in groups]

    def _alone(self) -> list[tuple[str, ...]]:
        return [(host,) for host in self.hosts] or [()]


def fleet(
    gpus: int,
    per_run: int | None = None,
    *,
    hostfile: str | Path | None = None,
    launcher: Launcher = "deepspeed",
    device: str | None = None,
    elsewhere: bool = False,
) -> Fleet:
    """``gpus`` of every machine, ``per_run`` of them for each run (default: all). ``elsewhere``: to be
    shown, on a machine that need not have them."""
    if gpus < 1:
        raise ValueError(f"gpus: expected at least 1, got {gpus}")
    hosts = _hosts(gpus, hostfile, launcher, elsewhere)
    whole = gpus * max(len(hosts), 1)
    wanted = whole if per_run is None else per_run
    if wanted < 1 or whole % wanted or (gpus % wanted and wanted % gpus):
        raise ValueError(f"gpus-per-run: expected a divisor of {gpus} GPUs, or whole machines of {whole}, got {wanted}")
    if launcher == "srun" and wanted % gpus:
        raise ValueError(f"gpus-per-run: expected whole machines of {gpus} GPUs with srun, got {wanted}")
    here = not hosts and device != "cpu" and not elsewhere
    names = _visible(gpus, launcher) if here else tuple(map(str, range(gpus)))
    path = Path(hostfile).absolute() if hostfile else None
    return Fleet(launcher, names, wanted, hosts, path, device or "auto")


def requested(
    gpus: int | None,
    per_run: int | None,
    hostfile: Path | None,
    launcher: Launcher,
    device: str | None,
    *,
    elsewhere: bool = False,
) -> Fleet | None:
    """The ``fleet`` of the flags of a command; None without ``gpus``."""
    if gpus is None:
        if per_run is not None or hostfile is not None:
            flag = "--hostfile" if per_run is None else "--gpus-per-run"
            raise ValueError(f"gpus: expected a number with {flag}, got none")
        return None
    return fleet(gpus, per_run, hostfile=hostfile, launcher=launcher, device=device, elsewhere=elsewhere)


def command(fleet: Fleet, place: Slot, module: str, words: Sequence[str], port: int) -> list[str]:
    """What starts a module with its flags on every rank of a place."""
    count = str(len(place.gpus))
    if fleet.launcher == "torchrun":
        return ["torchrun", "--standalone", "--nproc-per-node", count, "-m", module, *words]
    if fleet.launcher == "srun":
        where = ["--nodes", str(len(place.hosts)), "--nodelist", ",".join(place.hosts), "--ntasks", str(place.ranks)]
        cards = [] if fleet.device == "cpu" else ["--gpus-per-node", count]
        each = ["--ntasks-per-node", count, *cards, "--kill-on-bad-exit=1"]
        return ["srun", *where, *each, sys.executable, "-m", module, *words]
    # DeepSpeed checks --include against the GPUs that it sees; processors are shared, so that their number is enough.
    where = ["--num_gpus", count] if fleet.device == "cpu" and not place.hosts else ["--include", _included(place)]
    others = ["--hostfile", str(fleet.hostfile), "--force_multi"] if fleet.hostfile else []
    started = ["--master_port", str(port), "--no_local_rank", "--module", module]
    return ["deepspeed", *others, *where, *started, *words]


def unranked(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what says which rank this process is: for processes that it starts, which are others."""
    own = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    return {name: value for name, value in environment.items() if name not in own}


def environment(fleet: Fleet, place: Slot, port: int) -> dict[str, str]:
    """What the launcher must be told besides."""
    if fleet.launcher == "srun":
        return {"MASTER_ADDR": place.hosts[0], "MASTER_PORT": str(port)}
    if fleet.launcher == "torchrun" and fleet.device != "cpu":
        return {"CUDA_VISIBLE_DEVICES": ",".join(place.gpus)}
    return {}


def program(words: list[str]) -> list[str]:
    """The same with the launcher of this Python."""
    name, *rest = words
    return [sys.executable, "-m", _MODULES[name], *rest] if name in _MODULES else words


def slots(hostfile: str | Path) -> dict[str, int]:
    """GPUs by machine: lines ``NAME slots=8``, as DeepSpeed reads them; the rest of a line after # is a remark."""
    lines = [line.partition("#")[0].strip() for line in Path(hostfile).read_text(encoding="utf-8").splitlines()]
    machines: dict[str, int] = {}
    for line in filter(None, lines):
        match = re.fullmatch(r"(\S+)\s+slots=(\d+)", line)
        if match is None or match[1] in machines:
            raise ValueError(f"hostfile: expected every machine once, as NAME slots=8, got {line!r} in {hostfile}")
        machines[match[1]] = int(match[2])
    if not machines:
        raise ValueError(f"hostfile: expected at least one line NAME slots=8, got none in {hostfile}")
    return machines


def _hosts(gpus: int, hostfile: str | Path | None, launcher: Launcher, elsewhere: bool) -> tuple[str, ...]:
    if hostfile is None:
        return () if launcher != "srun" else ("HOST",) if elsewhere else _allocated()
    if launcher != "deepspeed":
        raise ValueError(f"launcher: expected deepspeed with a hostfile, which no other reads, got {launcher}")
    if not Path(hostfile).is_file():
        raise ValueError(f"hostfile: expected a file, got {hostfile}")
    machines = slots(hostfile)
    if few := [f"{count} of {name}" for name, count in machines.items() if count < gpus]:
        raise ValueError(f"gpus: expected at most the {few[0]} in {hostfile}, got {gpus}")
    if not elsewhere and shutil.which("pdsh") is None:
        raise ValueError("hostfile: expected pdsh on PATH, by which DeepSpeed reaches other machines, got none")
    return tuple(machines)


def _allocated() -> tuple[str, ...]:
    """The machines of a SLURM job."""
    if "SLURM_JOB_NODELIST" not in os.environ:
        raise ValueError("launcher: expected a SLURM job (SLURM_JOB_NODELIST) with srun, got none")
    listed = ["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]]
    return tuple(subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split())


def _included(place: Slot) -> str:
    return "@".join(f"{host}:{','.join(place.gpus)}" for host in place.hosts or ("localhost",))


def _visible(gpus: int, launcher: Launcher) -> tuple[str, ...]:
    """The first GPUs of this machine that this process may use."""
    import torch

    count = torch.cuda.device_count()
    if count < gpus:
        raise ValueError(f"gpus: expected at most the {count} of this machine (or --device cpu), got {gpus}")
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    visible = tuple(name.strip() for name in names.split(",")) if names else tuple(map(str, range(count)))
    if launcher == "deepspeed" and not all(name.isdigit() for name in visible[:gpus]):
        raise ValueError(f"CUDA_VISIBLE_DEVICES: expected numbers with deepspeed (torchrun takes names), got {names}")
    return visible[:gpus]
