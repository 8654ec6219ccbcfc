"""Heads that go by where a plan should lead, beside their plans' constants, thresholds and ceiling: none is the
paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.agent_words import readable
from recommit.evaluate.ceiling import plans
from recommit.evaluate.family import EVERY, best, clamped
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, hundred, number
from recommit.runs.directory import best_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults

#: Who else chooses on the same plans: a threshold chosen on validation, and the best depths there are.
_BESIDE = ("confidence-entropy", "oracle-dp")


class Heads(Table):
    """Foresight and stakes, the run's own head, and what their plans come to by other rules."""

    name, title = "heads", "Heads that go by where a plan leads"

    def agents(self) -> Sequence[str]:
        """Every such head; constants, thresholds and ceiling of its plans."""
        heads = self.members.heads
        if not heads:
            return ()
        folder = None if self._of_adaptive() else heads["foresight"]
        others = (f"{name}@{folder}" if folder else name for name in _BESIDE)
        return (*self._heads(), "adaptive", *others, *clamped(EVERY, folder))

    def _heads(self) -> tuple[str, ...]:
        return tuple(f"adaptive@{folder}" for folder in reversed(self.members.heads.values()))

    def _of_adaptive(self) -> bool:
        """Are their plans those of the adaptive run? Then nobody need look again for constants and ceiling."""
        one, other = (
            plans.digest(folder) for folder in (self.members.heads["foresight"], best_policy(self.members.adaptive))
        )
        return one == other

    def missing(self) -> list[str]:
        """How to teach them."""
        if self.members.heads:
            return []
        return ["No run: `recommit train world-model RUN --out FAMILY/foresight-s0` teaches one."]

    def render(self, results: FamilyResults) -> Content:
        """Per budget a row for each, of the constants for the best on validation."""
        lines = [line for budget in results.budgets for line in self._under(results, budget)]
        head = ("budget", "depth by", "solved %", "actions", "looks", "gain share", "95 %")
        return Content((Grid.of(head, lines),) if lines else ())

    def _under(self, results: FamilyResults, budget: str) -> list[list[str]]:
        rows = results.of(self.agents(), budget)
        constant = best([row for row in rows if AgentName.parse(row["agent"]).depth])
        shown = [row for row in rows if row is constant or not AgentName.parse(row["agent"]).depth]
        return [
            [f"{budget}, K = {row['decisions']}", readable(AgentName.parse(row["agent"])), *_cells(row)]
            for row in shown
        ]


def _cells(row: dict[str, Any]) -> list[str]:
    gain = ["-", "-"]
    if row.get("gain") is not None:
        gain = [f"{row['gain']:.2f}", f"{row['gain_low']:.2f} .. {row['gain_high']:.2f}"]
    return [number(hundred(row)), number(row["actions_per_episode"]), f"{row['decisions_per_episode']:.2f}", *gain]
