"""Whose plans are compared, and which of them a folder of ``recommit reproduce`` has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.policy.checkpoint import local_folder

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.reproduce.preset import PresetEntry

#: The four sources of plans, and what a page calls them. The head that everybody is compared with is the first one's.
OURS = "adaptive"
SOURCES = {
    OURS: "adaptive's own plans",
    "fixed-8": "plans trained for depth 8",
    "random": "plans trained under random depths",
    "init": "plans of the warm start",
}


@dataclass(frozen=True)
class PlanSource:
    """A run whose plans are compared."""

    name: str
    seed: int
    folder: Path

    @property
    def label(self) -> str:
        """The name of its graphs."""
        return f"{self.name}-s{self.seed}"

    @property
    def policy(self) -> Path:
        """The folder of its best policy."""
        return local_folder(self.folder)


def every_source(entry: PresetEntry) -> list[PlanSource]:
    """All that a preset says, seed by seed."""
    return [
        PlanSource(name, seed, start if name == "init" else entry.family / f"{name}-s{seed}")
        for seed, start in entry.starts().items()
        for name in SOURCES
    ]


def finished(entry: PresetEntry, sources: list[PlanSource]) -> list[PlanSource]:
    """Those whose runs have taken all their steps."""
    states = {run.folder: run.state for run in [*entry.warm_runs(), *entry.reinforced()]}
    return [each for each in sources if states.get(each.folder) == "finished"]


def action_price(entry: PresetEntry) -> float:
    """What an action cost where adaptive's depth head was finished."""
    from recommit.train.grpo.config import GrpoConfig

    run = next(run for run in entry.reinforced() if run.name.startswith(f"{OURS}-s"))
    assert isinstance(run.config, GrpoConfig)
    usual = run.config.credit.prices
    return (run.config.phases[-1].prices(usual) if run.config.phases else usual).action
