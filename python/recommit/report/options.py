"""Options of a report. Light to import: the command line makes its flags of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ReportOptions:
    """Make the report of an evaluation, as one HTML page.

    Args:
        eval: The folder of an evaluation (see recommit evaluate).
        out: The page to write, an HTML file, or .md for the table of all seeds alone; it is replaced atomically.
        seeds: Evaluations of the same family with other seeds; one table takes all of them together (default: none).
        instances: Most instances whose episodes can be watched.
        figures: Write every figure to this folder as well, as SVG, PDF, PNG and CSV (default: none is written).
    """

    eval: Path
    out: Path
    seeds: tuple[Path, ...] = ()
    instances: int = 48
    figures: Path | None = None

    def __post_init__(self) -> None:
        if self.instances < 0:
            raise ValueError(f"instances: expected 0 or more, got {self.instances}")
