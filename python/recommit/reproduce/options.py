"""Options of ``recommit reproduce``. Light to import: the command line builds its flags from it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from recommit.reproduce.launch import TAKEN, Fleet, visible


@dataclass(frozen=True)
class ReproduceOptions:
    """Preset, output folder and machines of a reproduction.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), caves, boxoban, cumulative-ablation, paper-small, h200, qwen7b, paper,
            or a YAML file.
        jobs: Processes of this machine, side by side.
        gpus: Launch every run as processes of its own, a rank for each of these GPUs (default: runs in this machine's
            processes).
        gpus_per_run: GPUs of each run, several of which then go on side by side (default: all of them).
        launcher: Command that starts a Python module on every rank, also on several machines, such as "srun python -m"
            in a SLURM job, or "deepspeed --hostfile hosts --module" (default: torchrun on this machine).
        device: cpu, cuda, or auto (default: that of the recipe).
        wandb: Send the curves of all runs to this project of Weights & Biases.
        trackio: Log the curves of all runs to this project of trackio.
        backbone: Folder or hub repository of a backbone that recommit does not list: no file may name it.
        backbone_class: FILE:NAME of a class that reads it, where its model type is none of recommit's.
        set: Values of the recipe in every train sft and train grpo, for example --set engine.checkpointing=true.
    """

    out: Path | None = None
    preset: str = "demo"
    jobs: int = 2
    gpus: int | None = None
    gpus_per_run: int | None = None
    launcher: str = ""
    device: str | None = None
    wandb: str = ""
    trackio: str = ""
    backbone: str = ""
    backbone_class: str = ""
    set: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError(f"jobs: expected at least 1, got {self.jobs}")
        gpus, each = self.gpus or 0, self._each
        if self.gpus is not None or self.gpus_per_run or self.launcher:
            if gpus < 1:
                raise ValueError(f"gpus: expected at least 1 where runs are launched, got {self.gpus or 'none'}")
            if each < 1 or gpus % each or (self.launcher and each != gpus):
                expected = f"{gpus}, since a launcher has one run at a time" if self.launcher else "a divisor"
                raise ValueError(f"gpus-per-run: expected {expected} with --gpus {gpus}, got {each}")

    @property
    def _each(self) -> int:
        return self.gpus or 1 if self.gpus_per_run is None else self.gpus_per_run

    def fleet(self, *, elsewhere: bool = False) -> Fleet:
        """The fleet of the reproduction. ``elsewhere``: only to show commands, on a machine that may lack the GPUs."""
        flags = {name: str(value) for name in TAKEN["train sft"] if (value := getattr(self, name))}
        if self.gpus is None:
            return Fleet(((),) * self.jobs, flags=flags)
        here = not (elsewhere or self.launcher or self.device == "cpu")
        names = visible(self.gpus) if here else tuple(map(str, range(self.gpus)))
        slots = tuple(names[begin : begin + self._each] for begin in range(0, self.gpus, self._each))
        return Fleet(slots, tuple(shlex.split(self.launcher)), flags)
