"""Where a family of runs computes, and the command line that starts a run there.

A ``Fleet`` is what a call may use: GPUs of this machine, divided into slots that have one run at a time, by torchrun;
or whatever a launcher of one's own reaches, which has one run after the other.

    fleet = LaunchOptions(gpus=8, gpus_per_run=4).fleet()
    fleet.command(fleet.slots[0], "recommit.train.grpo", ["--recipe", "run.yaml", ...])
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: GPUs of one run, by the names that CUDA_VISIBLE_DEVICES has for them.
Slot = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """Where runs compute.

    Args:
        jobs: Processes of this machine; runs of a family train side by side.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (default: runs in this machine's
            processes).
        gpus_per_run: So many for each run, several of which then go on side by side (default: all of them).
        launcher: What starts a Python module on every rank, also of several machines, such as "srun python -m" in a
            SLURM job, or "deepspeed --hostfile hosts --module" (default: torchrun on this machine).
        device: cpu, cuda, or auto (default: that of the recipe).
    """

    jobs: int = 1
    gpus: int | None = None
    gpus_per_run: int | None = None
    launcher: str = ""
    device: str | None = None

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError(f"jobs: expected at least 1, got {self.jobs}")
        if self.gpus is None:
            for flag, value in (("--gpus-per-run", self.gpus_per_run), ("--launcher", self.launcher)):
                if value:
                    raise ValueError(f"gpus: expected a number with {flag} {value}, got none")
        elif self.gpus < 1:
            raise ValueError(f"gpus: expected at least 1, got {self.gpus}")
        elif (each := self._each) < 1 or self.gpus % each or (self.launcher and each != self.gpus):
            expected = f"{self.gpus}, since a launcher has one run at a time" if self.launcher else "a divisor"
            raise ValueError(f"gpus-per-run: expected {expected} with --gpus {self.gpus}, got {each}")

    @property
    def _each(self) -> int:
        return self.gpus or 1 if self.gpus_per_run is None else self.gpus_per_run

    def fleet(self, *, elsewhere: bool = False) -> Fleet | None:
        """What launched runs may use; None without ``gpus``. ``elsewhere``: to be shown, on a machine that need not
        have them."""
        if self.gpus is None:
            return None
        here = not (elsewhere or self.launcher or self.device == "cpu")
        names = _visible(self.gpus) if here else tuple(map(str, range(self.gpus)))
        slots = tuple(names[begin : begin + self._each] for begin in range(0, self.gpus, self._each))
        return Fleet(slots, tuple(shlex.split(self.launcher)), self.device or "auto")


@dataclass(frozen=True)
class Fleet:
    """What a call may use."""

    #: Disjoint, each for one run at a time.
    slots: tuple[Slot, ...]
    #: Words in front of a module's name; empty: torchrun.
    launcher: tuple[str, ...] = ()
    #: ``cpu`` in the place of GPUs: ranks talk by gloo and share the cores.
    device: str = "auto"

    @property
    def ranks(self) -> int:
        """Of a run."""
        return len(self.slots[0])

    def command(self, slot: Slot, module: str, words: Sequence[str]) -> list[str]:
        """What starts a module with its flags on every rank of a slot."""
        torchrun = ("torchrun", "--standalone", "--nproc-per-node", str(len(slot)), "-m")
        return [*(self.launcher or torchrun), module, *words]

    def environment(self, slot: Slot, own: Mapping[str, str]) -> dict[str, str]:
        """That of the launcher: without what says which rank this process is, since it starts others."""
        rest = {name: value for name, value in own.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
        chosen = not self.launcher and self.device != "cpu"
        return {**rest, "CUDA_VISIBLE_DEVICES": ",".join(slot)} if chosen else rest


def program(words: list[str]) -> list[str]:
    """The same with the torchrun of this Python, whatever PATH says."""
    return [sys.executable, "-m", "torch.distributed.run", *words[1:]] if words[0] == "torchrun" else words


def _visible(gpus: int) -> Slot:
    """The first GPUs of this machine that this process may use."""
    import torch

    count = torch.cuda.device_count()
    if count < gpus:
        raise ValueError(f"gpus: expected at most the {count} of this machine (or --device cpu), got {gpus}")
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return tuple(name.strip() for name in names.split(","))[:gpus] if names else tuple(map(str, range(gpus)))
