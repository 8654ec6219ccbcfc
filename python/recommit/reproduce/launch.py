"""Where the commands of a preset compute, and what starts one there.

A ``Fleet`` has slots, each for one command at a time: processes of this machine; GPUs of this machine, on whose ranks
torchrun starts the command; or whatever a launcher of one's own reaches.

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

#: GPUs of one command, by the names that CUDA_VISIBLE_DEVICES has for them; none: a process of this machine.
Slot = tuple[str, ...]
#: What computes on several ranks, and the module that a launcher starts; everything else is one process.
ON_RANKS = {"train sft": "recommit.train.sft", "train grpo": "recommit.train.grpo", "evaluate": "recommit.cli"}
#: The flags of a call that commands of its verbs take.
TAKEN = {
    **dict.fromkeys(("train sft", "train grpo"), ("device", "backbone", "backbone_class", "wandb", "trackio")),
    **dict.fromkeys(("evaluate", "graph build"), ("device", "backbone", "backbone_class")),
    **dict.fromkeys(("train world-model", "train head"), ("backbone", "backbone_class")),
}


@dataclass(frozen=True)
class Fleet:
    """What a call may use."""

    #: Disjoint, each for one command at a time.
    slots: tuple[Slot, ...]
    #: Words in front of a module's name; empty: torchrun.
    launcher: tuple[str, ...] = ()
    #: Flags that commands take from the call, by name, without those that it does not have. ``device`` cpu stands in
    #: the place of GPUs: ranks talk by gloo and share the cores.
    flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Of a run."""
        return max(len(self.slots[0]), 1)

    def told(self, verb: str) -> list[str]:
        """The flags that every command of a verb takes from the call."""
        named = [name for name in TAKEN.get(verb, ()) if name in self.flags]
        return [word for name in named for word in (f"--{name.replace('_', '-')}", self.flags[name])]

    def launches(self, words: Sequence[str]) -> bool:
        """True if a launcher of one's own starts a command, which ends it by what it makes of SIGTERM."""
        return bool(self.launcher) and _module(words) is not None

    def command(self, slot: Slot, words: Sequence[str]) -> list[str]:
        """What a shell would start for a command: on every rank of a slot, where it computes on ranks."""
        if not slot or (found := _module(words)) is None:
            return ["recommit", *words]
        module, rest = found
        return [*self._launched(slot), module, *rest]

    def on_ranks(self, slot: Slot, words: Sequence[str]) -> bool:
        """True if a command computes on the ranks of a slot, and not in one process."""
        return bool(slot) and _module(words) is not None

    def worker(self, slot: Slot, queue: Path, *, on_ranks: bool) -> list[str]:
        """What starts the process, on every rank of a slot or one, that runs commands as they come."""
        start = self._launched(slot) if on_ranks else ["python", "-m"]
        return [*start, "recommit.cli.worker", str(queue)]

    def _launched(self, slot: Slot) -> list[str]:
        torchrun = ("torchrun", "--standalone", "--nproc-per-node", str(len(slot)), "-m")
        return list(self.launcher or torchrun)

    def environment(self, slot: Slot, own: Mapping[str, str]) -> dict[str, str]:
        """That of the command: without what says which rank this process is, since it starts others."""
        rest = {name: value for name, value in own.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
        chosen = slot and not self.launcher and self.flags.get("device") != "cpu"
        return {**rest, "CUDA_VISIBLE_DEVICES": ",".join(slot)} if chosen else rest


def program(words: list[str]) -> list[str]:
    """The same by this Python, whatever PATH says."""
    python = {"torchrun": ["-m", "torch.distributed.run"], "python": []}
    return [sys.executable, *python[words[0]], *words[1:]] if words[0] in python else words


def _module(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The module that a launcher starts for a command, and its words."""
    for verb, module in ON_RANKS.items():
        if list(words[: len(verb.split())]) == verb.split():
            return module, list(words if module == "recommit.cli" else words[len(verb.split()) :])
    return None


def visible(gpus: int) -> Slot:
    """The first GPUs of this machine that this process may use."""
    import torch

    count = torch.cuda.device_count()
    if count < gpus:
        raise ValueError(f"gpus: expected at most the {count} of this machine (or --device cpu), got {gpus}")
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return tuple(name.strip() for name in names.split(","))[:gpus] if names else tuple(map(str, range(gpus)))
