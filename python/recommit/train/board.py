"""How far runs are that compute elsewhere, in one line: from what they write."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from recommit.train.watch import Progress, clock

if TYPE_CHECKING:
    from pathlib import Path


class Board:
    """The line, and those that stay: one per run that ended."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._line = Progress(total, 0, quiet=quiet)
        self.total, self.ended = total, 0
        #: Name -> when its first new step was seen, and which.
        self._first: dict[str, tuple[float, int]] = {}
        self._begun: dict[str, float] = {}

    def show(self, running: list[tuple[str, Path | None, int]]) -> None:
        """Maybe say where runs are: each by name, folder and steps."""
        for name, _folder, _steps in running:
            self._begun.setdefault(name, time.monotonic())
        if running and self._line.due():
            each = "  ".join(f"{name} {self._where(name, folder, steps)}".strip() for name, folder, steps in running)
            self._line.write(f"[{self.ended}/{self.total}] {each}")

    def finished(self, name: str) -> None:
        """One less to wait for."""
        self.ended += 1
        took = clock(time.monotonic() - self._begun.get(name, time.monotonic()))
        self.say(f"[{self.ended}/{self.total}] {name}: finished in {took}")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._line.say(text)

    def _where(self, name: str, folder: Path | None, steps: int) -> str:
        step = last_step(folder) if folder else 0
        if not step:
            return "begins" if folder else ""
        now = time.monotonic()
        since, first = self._first.setdefault(name, (now, step))
        if step == first:
            return f"step {step:,}/{steps:,}"
        return f"step {step:,}/{steps:,} {clock((now - since) / (step - first) * (steps - step))} left"


def last_step(folder: Path) -> int:
    """The step in the last whole line of a run's ``timing.jsonl``; 0 if there is none."""
    try:
        with (folder / "timing.jsonl").open("rb") as file:
            file.seek(max(file.seek(0, 2) - 4096, 0))
            lines = file.read().splitlines(keepends=True)
    except OSError:
        return 0
    whole = [line for line in lines if line.startswith(b"{") and line.endswith(b"\n")]
    return int(json.loads(whole[-1])["step"]) if whole else 0
