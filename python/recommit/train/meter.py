"""The pace of a run, and the sums of its steps between two log lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Meter:
    """What the steps since the last line found, and the pace."""

    def __init__(self, steps: Sequence[dict[str, float]] = ()) -> None:
        #: No line tells of them yet: a checkpoint holds them, so that the next line is that of an undisturbed run.
        self.steps = list(steps)
        self._wall, self._cpu, self._states = time.monotonic(), time.process_time(), 0

    def add(self, step: dict[str, float], states: int) -> None:
        """One step."""
        self.steps.append(step)
        self._states += states

    def take(self) -> list[dict[str, float]]:
        """What the steps since the last call summed up."""
        steps, self.steps = self.steps, []
        return steps

    def pace(self) -> dict[str, float]:
        """Since the last call."""
        wall, cpu = time.monotonic() - self._wall, time.process_time() - self._cpu
        states, self._states = self._states, 0
        self._wall, self._cpu = time.monotonic(), time.process_time()
        return {"wall_s": round(wall, 4), "cpu_s": round(cpu, 4), "states_per_s": round(states / max(wall, 1e-9), 1)}
