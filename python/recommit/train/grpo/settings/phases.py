"""The phases of a run, in whole steps: what the depth head does besides, and from how many starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from recommit.graph.prices import Prices
from recommit.train.parsing import check_least

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class GrpoPhase:
    """So many steps alike. What a phase does not say is as in the rest of the recipe."""

    steps: int
    #: Moves of the depth head alone in every step, on the graph of its plans. Each values all depths anew, without a
    #: look.
    head_updates: int = 0
    #: Plans stay as they are: the step is over after the head's moves. The default is both.
    head_only: bool = False
    #: Learning rate of these moves; 0: ``optim.depth_lr``, by the run's schedule.
    head_lr: float = 0.0
    #: Start states per step, all ranks together, a multiple of ``rollout.instances``; 0: as many as those.
    starts: int = 0
    #: Instead of ``credit.budgets``, and of the prices there.
    budgets: tuple[int, ...] = ()
    price_action: float | None = None
    price_observation: float | None = None

    def __post_init__(self) -> None:
        check_least("phases", self, steps=1, head_updates=0, head_lr=0, starts=0)
        if self.head_only and not self.head_updates:
            raise ValueError("phases.head_updates: expected at least 1 with phases.head_only, got 0")
        if self.head_lr and not self.head_updates:
            raise ValueError(f"phases.head_lr: expected 0 without phases.head_updates, got {self.head_lr}")
        if min(self.budgets, default=1) < 1:
            raise ValueError(f"phases.budgets: expected numbers from 1 on, got {self.budgets}")
        for name in ("price_action", "price_observation"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"phases.{name}: expected at least 0, got {getattr(self, name)}")

    def prices(self, usual: Prices) -> Prices:
        """Its own, and the ``usual`` ones where it says none."""
        action = usual.action if self.price_action is None else self.price_action
        return Prices(action, usual.observation if self.price_observation is None else self.price_observation)


#: What exact credit alone reads of a phase.
EXACT = ("head_updates", "head_only", "head_lr", "starts", "budgets")


def without_head(phases: Sequence[GrpoPhase]) -> tuple[GrpoPhase, ...]:
    """The phases of a run whose depth no head chooses: one that would be the head's alone has nothing of its own."""
    return tuple(
        GrpoPhase(phase.steps) if phase.head_only else replace(phase, head_updates=0, head_lr=0.0) for phase in phases
    )


def stretched(phases: Sequence[GrpoPhase], steps: int) -> tuple[GrpoPhase, ...]:
    """Phases of ``steps`` in all, in the same proportions; one that would have none is left out."""
    ends = [0, *accumulate(phase.steps for phase in phases)]
    own = [int(end * steps / ends[-1] + 0.5) for end in ends]
    return tuple(
        replace(phase, steps=end - begin)
        for phase, begin, end in zip(phases, own, own[1:], strict=False)
        if end > begin
    )


def simplest(phases: Sequence[GrpoPhase]) -> tuple[GrpoPhase, ...]:
    """The same, or none if none of them says anything but its steps."""
    return () if all(phase == GrpoPhase(phase.steps) for phase in phases) else tuple(phases)


def begun(phases: Sequence[GrpoPhase], steps: int) -> list[GrpoPhase]:
    """As much of the phases as so many steps are, the last of them cut."""
    result = []
    for phase in phases:
        if steps > 0:
            result.append(replace(phase, steps=min(phase.steps, steps)))
        steps -= phase.steps
    return result
