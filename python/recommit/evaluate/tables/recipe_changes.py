"""From the paper's recipe to ours, one change per row: the runs of the preset cumulative-ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults

#: A run -> what changes there, from the row above.
RUNGS = {
    "paper": "the paper's recipe",
    "ladder-inputs": "the head reads how sure the plan is, too, and has a hidden layer",
    "ladder-looks": "a training episode has 15 looks instead of 5",
    "ladder-objective": "objective: clip 0.2 for 0.05, no KL, less entropy",
    "ladder-episode": "credit: solved episodes less actions, in groups of four",
    "ladder-exact": "credit: exact values",
    "adaptive": "the finish: more moves of the head, at last alone",
}


class RecipeChanges(Table):
    """Every rung that was run."""

    name, title = "ladder", "From the paper's recipe to ours, one change per row"

    def agents(self) -> Sequence[str]:
        """Its runs, by their own heads; nobody where no rung was run."""
        between = [name for name in RUNGS if name.startswith("ladder-") and self.members.run(name)]
        return tuple(agent for name in RUNGS for agent in self._agent(name)) if between else ()

    def _agent(self, name: str) -> tuple[str, ...]:
        return self.members.other("adaptive", name)

    def missing(self) -> list[str]:
        """How to make them."""
        return (
            []
            if self.agents()
            else ["No runs: `recommit reproduce --preset cumulative-ablation --out OUT` makes them."]
        )

    def render(self, results: FamilyResults) -> Content:
        """A row per change and budget."""
        if not self.agents():
            return Content(())
        lines = []
        for budget in results.budgets:
            for name, words in RUNGS.items():
                for row in results.of(self._agent(name), budget):
                    cells = (percent(row["solve_rate"]), number(row["actions_per_episode"]))
                    lines.append([f"{budget}, K = {row['decisions']}", name, words, *cells])
        return Content((Grid.of(("budget", "run", "what changes", "solved %", "actions"), lines),) if lines else ())
