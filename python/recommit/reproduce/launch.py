"""Placement and launching of a preset's commands.

A ``Fleet`` has slots, each for one command at a time: a process of this machine; GPUs of this machine, one rank each,
started by torchrun; or the machines of a custom launcher.

    fleet = ReproduceOptions(gpus=8, gpus_per_run=4).fleet()
    fleet.command(fleet.slots[0], ["train", "grpo", "--recipe", "paper-sliding", ...])
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: GPUs of one command, as named in CUDA_VISIBLE_DEVICES; empty: a process of this machine.
Slot = tuple[str, ...]
#: Commands that run on several ranks, and the module to launch; others are a single process.
ON_RANKS = {"train sft": "recommit.train.sft", "train grpo": "recommit.train.grpo", "evaluate": "recommit.cli"}
#: Flags of the reproduction that are passed on to commands, by verb.
TAKEN = {
    **dict.fromkeys(("train sft", "train grpo"), ("device", "backbone", "backbone_class", "wandb", "trackio")),
    **dict.fromkeys(("evaluate", "graph build"), ("device", "backbone", "backbone_class")),
    **dict.fromkeys(("train world-model", "train head"), ("backbone", "backbone_class")),
}


@dataclass(frozen=True)
class Fleet:
    """The slots, launcher and common flags of a reproduction."""

    #: Disjoint slots, each for one command at a time.
    slots: tuple[Slot, ...]
    #: Launcher command in front of the module's name; empty: torchrun.
    launcher: tuple[str, ...] = ()
    #: Flags to pass on, by name, as far as they are set. With ``device`` cpu, ranks use gloo and share the cores
    #: instead of GPUs.
    flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Number of ranks of a run."""
        return max(len(self.slots[0]), 1)

    def told(self, verb: str) -> list[str]:
        """The flags to pass on to every command of a verb."""
        named = [name for name in TAKEN.get(verb, ()) if name in self.flags]
        return [word for name in named for word in (f"--{name.replace('_', '-')}", self.flags[name])]

    def launches(self, words: Sequence[str]) -> bool:
        """True if a custom launcher starts the command, which then must forward SIGTERM to end it."""
        return bool(self.launcher) and _module(words) is not None

    def command(self, slot: Slot, words: Sequence[str]) -> list[str]:
        """The shell command for a command of the preset, with the launcher if it runs on ranks."""
        if not slot or (found := _module(words)) is None:
            return ["recommit", *words]
        module, rest = found
        return [*self._launched(slot), module, *rest]

    def on_ranks(self, slot: Slot, words: Sequence[str]) -> bool:
        """True if a command runs on the ranks of a slot, not in a single process."""
        return bool(slot) and _module(words) is not None

    def worker(self, slot: Slot, queue: Path, *, on_ranks: bool) -> list[str]:
        """The command that starts a worker, on every rank of a slot or as one process, which runs queued commands."""
        start = self._launched(slot) if on_ranks else ["python", "-m"]
        return [*start, "recommit.cli.worker", str(queue)]

    def _launched(self, slot: Slot) -> list[str]:
        torchrun = ("torchrun", "--standalone", "--nproc-per-node", str(len(slot)), "-m")
        return list(self.launcher or torchrun)

    def environment(self, slot: Slot, own: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command: without this process's own rank variables."""
        rest = {name: value for name, value in own.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
        chosen = slot and not self.launcher and self.flags.get("device") != "cpu"
        return {**rest, "CUDA_VISIBLE_DEVICES": ",".join(slot)} if chosen else rest


def program(words: list[str]) -> list[str]:
    """The command with this Python interpreter instead of that in PATH."""
    python = {"torchrun": ["-m", "torch.distributed.run"], "python": []}
    return [sys.executable, *python[words[0]], *words[1:]] if words[0] in python else words


def _module(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The module to launch for a command on ranks, and its arguments; None for others."""
    for verb, module in ON_RANKS.items():
        if list(words[: len(verb.split())]) == verb.split():
            return module, list(words if module == "recommit.cli" else words[len(verb.split()) :])
    return None


def visible(gpus: int) -> Slot:
    """The first ``gpus`` GPUs that are visible to this process."""
    import torch

    count = torch.cuda.device_count()
    if count < gpus:
        raise ValueError(f"gpus: expected at most the {count} of this machine (or --device cpu), got {gpus}")
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return tuple(name.strip() for name in names.split(","))[:gpus] if names else tuple(map(str, range(gpus)))
