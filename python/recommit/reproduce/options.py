"""What a reproduction is asked for. Light to import: the command line makes its flags of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from recommit.train.family.launch import LaunchOptions


@dataclass(frozen=True)
class ReproduceOptions(LaunchOptions):
    """Which preset is reproduced, where, and on which machines.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), h200, paper, qwen7b, or a YAML file.
        set: Any value of the preset, for all puzzles or, after the name of one, for it, for example --set
            sft.optim.steps=300 grpo.rollout.instances=32 seeds=[0] sliding.evaluate.instances=256
    """

    out: Path | None = None
    preset: str = "demo"
    set: tuple[str, ...] = ()
    jobs: int = field(default=2, kw_only=True)
