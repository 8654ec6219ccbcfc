"""Where commands compute, and what starts one there.

A ``Fleet`` has slots, each for one command at a time: processes of this machine; GPUs of this machine, on whose ranks
torchrun starts the command; or whatever a launcher of one's own reaches.

    fleet = LaunchOptions(gpus=8, gpus_per_run=4).fleet()
    fleet.command(fleet.slots[0], ["train", "grpo", "--recipe", "paper-sliding", ...])
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: GPUs of one command, by the names that CUDA_VISIBLE_DEVICES has for them; none: a process of this machine.
Slot = tuple[str, ...]
#: What computes on several ranks, and the module that a launcher starts; everything else is one process.
ON_RANKS = {"train sft": "recommit.train.sft", "train grpo": "recommit.train.grpo", "evaluate": "recommit.cli"}
#: The flags of a call that commands of its verbs take.
TAKEN = {
    **dict.fromkeys(("train sft", "train grpo"), ("device", "backbone", "wandb", "trackio")),
    **dict.fromkeys(("evaluate", "graph build"), ("device", "backbone")),
    **dict.fromkeys(("train world-model", "train head"), ("backbone",)),
}


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """Where runs compute.

    Args:
        jobs: Processes of this machine, side by side.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (default: runs in this machine's
            processes).
        gpus_per_run: So many for each run, several of which then go on side by side (default: all of them).
        launcher: What starts a Python module on every rank, also of several machines, such as "srun python -m" in a
            SLURM job, or "deepspeed --hostfile hosts --module" (default: torchrun on this machine).
        device: cpu, cuda, or auto (default: that of the recipe).
        wandb: Send the curves of all runs to this project of Weights & Biases.
        trackio: Write them for trackio, by this project.
        backbone: Folder or hub repository of a backbone that recommit does not list: no file may name it.
    """

    jobs: int = 1
    gpus: int | None = None
    gpus_per_run: int | None = None
    launcher: str = ""
    device: str | None = None
    wandb: str = ""
    trackio: str = ""
    backbone: str = ""

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

    def fleet(self, *, elsewhere: bool = False) -> Fleet:
        """What commands may use. ``elsewhere``: to be shown, on a machine that need not have the GPUs."""
        if self.gpus is None:
            return Fleet(((),) * self.jobs)
        here = not (elsewhere or self.launcher or self.device == "cpu")
        names = _visible(self.gpus) if here else tuple(map(str, range(self.gpus)))
        slots = tuple(names[begin : begin + self._each] for begin in range(0, self.gpus, self._each))
        return Fleet(slots, tuple(shlex.split(self.launcher)), self.device or "auto")

    def said(self, verb: str) -> list[str]:
        """The flags that every command of a verb takes from the call."""
        values = ((name, getattr(self, name)) for name in TAKEN.get(verb, ()))
        return [word for name, value in values if value for word in (f"--{name}", value)]


@dataclass(frozen=True)
class Fleet:
    """What a call may use."""

    #: Disjoint, each for one command at a time.
    slots: tuple[Slot, ...]
    #: Words in front of a module's name; empty: torchrun.
    launcher: tuple[str, ...] = ()
    #: ``cpu`` in the place of GPUs: ranks talk by gloo and share the cores.
    device: str = "auto"

    @property
    def ranks(self) -> int:
        """Of a run."""
        return max(len(self.slots[0]), 1)

    def check(self, name: str, engine: str) -> None:
        """Refuse a run that ranks cannot share, before anything begins."""
        if self.ranks > 1 and engine == "plain":
            raise ValueError(f"gpus-per-run: expected 1 for {name} with engine.kind plain, got {self.ranks}")

    def launches(self, words: Sequence[str]) -> bool:
        """True if a launcher of one's own starts a command, which ends it by what it makes of SIGTERM."""
        return bool(self.launcher) and _module(words) is not None

    def command(self, slot: Slot, words: Sequence[str]) -> list[str]:
        """What starts a command of recommit: on every rank of a slot, where it computes on ranks."""
        if not slot or (found := _module(words)) is None:
            return ["recommit", *words]
        module, rest = found
        torchrun = ("torchrun", "--standalone", "--nproc-per-node", str(len(slot)), "-m")
        return [*(self.launcher or torchrun), module, *rest]

    def environment(self, slot: Slot, own: Mapping[str, str]) -> dict[str, str]:
        """That of the command: without what says which rank this process is, since it starts others."""
        rest = {name: value for name, value in own.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
        chosen = slot and not self.launcher and self.device != "cpu"
        return {**rest, "CUDA_VISIBLE_DEVICES": ",".join(slot)} if chosen else rest


def program(words: list[str]) -> list[str]:
    """The same by this Python, whatever PATH says."""
    modules = {"torchrun": "torch.distributed.run", "recommit": "recommit.cli"}
    return [sys.executable, "-m", modules[words[0]], *words[1:]] if words[0] in modules else words


def _module(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The module that a launcher starts for a command, and its words."""
    for verb, module in ON_RANKS.items():
        if list(words[: len(verb.split())]) == verb.split():
            return module, list(words if module == "recommit.cli" else words[len(verb.split()) :])
    return None


def _visible(gpus: int) -> Slot:
    """The first GPUs of this machine that this process may use."""
    import torch

    count = torch.cuda.device_count()
    if count < gpus:
        raise ValueError(f"gpus: expected at most the {count} of this machine (or --device cpu), got {gpus}")
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return tuple(name.strip() for name in names.split(","))[:gpus] if names else tuple(map(str, range(gpus)))
