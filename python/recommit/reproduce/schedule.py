"""How far a reproduction is, and how long the rest takes on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recommit.runs.progress import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Stages of less than this, together, say nothing of a machine's pace.
TELLING = 5.0
#: A stage that takes a tenth of what is expected was not done but skipped.
SKIPPED = 10


@dataclass
class StageSchedule:
    """The seconds that a preset expects of every stage, and those that were taken."""

    expected: Sequence[float | None]
    taken: list[float] = field(default_factory=list)

    def passed(self, seconds: float) -> None:
        """A stage is over."""
        self.taken.append(seconds)

    def place(self) -> str:
        """Which of the stages is next; with the time left where the preset knows every stage."""
        place = f"{len(self.taken) + 1} of {len(self.expected)}"
        remaining = self.remaining()
        return place if remaining is None else f"{place}, some {clock(remaining)} left"

    def remaining(self) -> float | None:
        """What the preset expects of the rest, at the pace of the stages that are over."""
        seconds = [each for each in self.expected if each is not None]
        if len(seconds) < len(self.expected):
            return None
        over = len(self.taken)
        # What was there already took no time.
        done = [pair for pair in zip(self.taken, seconds[:over], strict=True) if pair[0] > pair[1] / SKIPPED]
        before = sum(pair[1] for pair in done)
        pace = sum(pair[0] for pair in done) / before if before >= TELLING else 1.0
        return sum(seconds[over:]) * pace
