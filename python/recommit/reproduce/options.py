"""What a reproduction is asked for. Light to import: the command line makes its flags of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.train.family.launch import Launcher

if TYPE_CHECKING:
    from recommit.train.family.launch import Fleet


@dataclass(frozen=True)
class ReproduceOptions:
    """Which preset is reproduced, where, and on which machines.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), h200, paper, qwen7b, or a YAML file.
        set: Any value of the preset, for all puzzles or, after the name of one, for it, for example --set
            sft.optim.steps=300 grpo.rollout.instances=32 seeds=[0] sliding.evaluate.instances=256
        jobs: Processes of this machine; runs of a family train side by side.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (of every machine) (default:
            runs in this machine's processes).
        gpus_per_run: So many for each run, several of which then go on side by side (default: all of them).
        hostfile: Machines that this one reaches by pdsh and ssh, as DeepSpeed's launcher reads them (default: this one
            alone).
        launcher: deepspeed, torchrun, or srun in a SLURM job.
        device: cpu, cuda, or auto (default: that of the preset).
    """

    out: Path | None = None
    preset: str = "demo"
    set: tuple[str, ...] = ()
    jobs: int = 2
    gpus: int | None = None
    gpus_per_run: int | None = None
    hostfile: Path | None = None
    launcher: Launcher = "deepspeed"
    device: str | None = None

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError(f"jobs: expected at least 1, got {self.jobs}")
        if self.gpus is None and (self.gpus_per_run is not None or self.hostfile is not None):
            flag = "--hostfile" if self.gpus_per_run is None else "--gpus-per-run"
            raise ValueError(f"gpus: expected a number with {flag}, got none")

    def fleet(self, *, elsewhere: bool = False) -> Fleet | None:
        """What launched runs may use; None without ``gpus``. ``elsewhere``: nothing is launched here."""
        from recommit.train.family import launch

        if self.gpus is None:
            return None
        return launch.fleet(
            self.gpus,
            self.gpus_per_run,
            hostfile=self.hostfile,
            launcher=self.launcher,
            device=self.device,
            elsewhere=elsewhere,
        )
