"""What a reproduction is asked for. Light to import: the command line makes its flags of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from recommit.runs.launch import LaunchOptions


@dataclass(frozen=True)
class ReproduceOptions(LaunchOptions):
    """Which preset is reproduced, where, and on which machines.

    Args:
        out: The folder for everything; needed unless show.
        preset: demo (minutes), laptop (hours), h200, paper, qwen7b, or a YAML file.
    """

    out: Path | None = None
    preset: str = "demo"
    jobs: int = field(default=2, kw_only=True)
