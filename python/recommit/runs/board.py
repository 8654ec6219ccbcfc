"""How far runs are that compute elsewhere, in one line: from what they write."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

from recommit.runs.progress import Progress, clock
from recommit.storage.opening import reading

if TYPE_CHECKING:
    from pathlib import Path


class Board:
    """The line, and those that stay: one per run that ended."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._line = Progress(total, 0, quiet=quiet)
        self.total, self.ended = total, 0
        #: Name -> when something of it was first seen to be done, and how much.
        self._first: dict[str, tuple[float, int]] = {}
        self._begun: dict[str, float] = {}

    def show(self, running: list[tuple[str, int, int]]) -> None:
        """Maybe say where runs are: each by name, how much is done, and how much there is to do (0: not yet known)."""
        for name, _done, _whole in running:
            self._begun.setdefault(name, time.monotonic())
        if running and self._line.due():
            each = "  ".join(f"{name} {self._where(name, done, whole)}" for name, done, whole in running)
            self._line.write(f"[{self.ended}/{self.total}] {each}")

    def finished(self, name: str) -> None:
        """One less to wait for."""
        self.ended += 1
        took = clock(time.monotonic() - self._begun.get(name, time.monotonic()))
        self.say(f"[{self.ended}/{self.total}] {name}: finished in {took}")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._line.say(text)

    def _where(self, name: str, done: int, whole: int) -> str:
        if not done:
            return "begins"
        now = time.monotonic()
        since, first = self._first.setdefault(name, (now, done))
        remaining = "" if done == first else f" {clock((now - since) / (done - first) * (whole - done))} left"
        return f"{done:,}/{whole:,}{remaining}"


def last_step(folder: Path) -> int:
    """The step in the last whole line of a run's ``timing.jsonl``; 0 if there is none."""
    whole = [line for line in _end(folder / "timing.jsonl") if line.startswith(b"{") and line.endswith(b"\n")]
    try:
        return int(json.loads(whole[-1])["step"]) if whole else 0
    except (ValueError, KeyError, TypeError):
        return 0  # a line that is shown while a run goes on is not worth its end


def last_agent(log: Path) -> tuple[int, int]:
    """How many agents an evaluation has played, by the last such line of its log, and of how many."""
    lines = b"".join(_end(log)).rpartition(b"\n$ ")[2]
    counts = re.findall(rb"(\d+)/(\d+) \S+: [\d.]+ s\n", lines)
    return (int(counts[-1][0]), int(counts[-1][1])) if counts else (0, 0)


def _end(file: Path) -> list[bytes]:
    """The last lines of a file, the first of them perhaps cut; none if it is not there."""
    try:
        with reading(file) as opened:
            opened.seek(max(opened.seek(0, 2) - 4096, 0))
            return opened.read().splitlines(keepends=True)
    except OSError:
        return []
