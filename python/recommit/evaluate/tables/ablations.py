"""What is left without a part, and what each change of the recipe brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.evaluate import reported
from recommit.evaluate.tables.solving import PAPER, SAMPLED, absent, absent_depths, fixed
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, number, percent

if TYPE_CHECKING:
    from recommit.evaluate.family import FamilyResults

#: Runs from the paper's recipe to ours -> what changes there, from the row above.
CHANGES = {
    "paper": "the paper's recipe",
    "ablation-inputs": "features: confidence and z, with a hidden layer",
    "ablation-observations": "15 observations per training episode instead of 5",
    "ablation-objective": "objective: clip 0.2 for 0.05, no KL, less entropy",
    "ablation-episode": "advantage: solved episodes less actions, in groups of four",
    "ablation-exact": "advantage: exact values",
    "adaptive": "last phases: more updates of the head, at last alone",
}


class Ablation(Table):
    """What is left without a part, loose budget."""

    name, title = "ablation", "Ablation"

    def agents(self) -> tuple[str, ...]:
        """All fixed depths, and one run for every part that is taken away."""
        members = self.members
        paper_like = [a for agent in ("adaptive", "shuffled") for a in members.other(agent, PAPER)]
        without = [*members.other("random", "random"), *members.other("adaptive", "depth-only")]
        return (*fixed(members), *without, *paper_like)

    def missing(self) -> list[str]:
        """Fixed depths and ablations that were not trained."""
        return [*absent_depths(self.members), *absent(self.members, "random", "depth-only", *self._more)]

    @property
    def _more(self) -> tuple[str, ...]:
        return () if self.members.like_paper else (PAPER,)

    def render(self, results: FamilyResults) -> Content:
        """A row per part."""
        members = self.members
        ours = {
            "SFT best fixed": results.best_fixed("SFT", "loose"),
            "RL best fixed": results.best_fixed("RL", "loose"),
            "random": results.first(members.other("random", "random"), "loose"),
            "depth-only": results.first(members.other("adaptive", "depth-only"), "loose"),
            "adaptive": results.row("adaptive", "loose"),
            "adaptive, sampled": results.row(SAMPLED, "loose"),
        }
        if self._more:
            ours["adaptive, the paper's recipe"] = results.first(members.other("adaptive", PAPER), "loose")
        published = reported.ABLATION[results.task]
        lines = [[name, *beside(published[name.partition(",")[0]], hundred(row))] for name, row in ours.items()]
        return Content((Grid.of("row | paper % | ours % | diff", lines),))


class CumulativeAblation(Table):
    """Every change that was run: the preset ``cumulative-ablation``."""

    name, title = "cumulative-ablation", "Cumulative ablation, from the paper's recipe to ours"

    def agents(self) -> tuple[str, ...]:
        """Its runs, by their own heads; nobody where none was run."""
        between = any(name.startswith("ablation-") and self.members.run(name) for name in CHANGES)
        return tuple(agent for name in CHANGES for agent in self._agent(name)) if between else ()

    def _agent(self, name: str) -> tuple[str, ...]:
        return self.members.other("adaptive", name)

    def missing(self) -> list[str]:
        """How to make them."""
        call = "recommit reproduce --preset cumulative-ablation --out OUT"
        return [] if self.agents() else [f"No runs: `{call}` makes them."]

    def render(self, results: FamilyResults) -> Content:
        """A row per change and budget."""
        lines = [
            (
                *(f"{budget}, K = {row['decisions']}", name, words),
                *(percent(row["solve_rate"]), number(row["actions_per_episode"])),
            )
            for budget in results.budgets
            for name, words in CHANGES.items()
            for row in (results.of(self._agent(name), budget) if self.agents() else ())
        ]
        return Content((Grid.of("budget | run | what changes | solved % | actions", lines),) if lines else ())
