"""Whose plans are compared, which of them a folder of ``recommit reproduce`` has, and the graphs of them.

Graphs are files that are built once: a second call reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph import build, files
from recommit.graph.judge import Judge
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.storage import digests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.judge import Setting
    from recommit.reproduce.compare.instances import GraphStarts, StartSet
    from recommit.reproduce.preset import PresetEntry

#: The four sources of plans, and what a page calls them. The head that everybody is compared with is the first one's.
OURS = "adaptive"
SOURCES = {
    OURS: "adaptive's own plans",
    "fixed-8": "plans trained for depth 8",
    "random": "plans trained under random depths",
    "init": "plans of the warm start",
}
#: The same in two words, for cells of tables and ends of lines.
SHORT = {OURS: "own plans", "fixed-8": "depth 8", "random": "random depths", "init": "warm start"}


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
    return run.config.last_prices.action


def graph_of(
    source: PlanSource,
    starts: GraphStarts,
    folder: Path,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> CommitmentGraph:
    """The graph of a policy from these starts: that of the folder if it is there, or else built and written there."""
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.ranks import find_device

    place, policy = folder / f"{source.label}{starts.suffix}", source.policy
    weights = weights_of(policy)
    graph = files.read(place) if (place / files.MANIFEST).is_file() else None
    if graph is not None and graph.source.get("policy") == weights and _holds(graph, starts):
        if files.MANIFEST not in digests.read(place):  # whoever wrote it was killed before the last of its files
            files.write(graph, place)
        return graph
    network = CommitPolicy.from_pretrained(policy, device=find_device(device), anyway=True).eval()
    built = build.build(network, starts.puzzle, starts.states(), source={"policy": weights}, progress=progress)
    files.write(built, place)
    return built


def _holds(graph: CommitmentGraph, starts: GraphStarts) -> bool:
    numbers = graph.numbers()
    return all(state.tobytes() in numbers for each in starts.sets for state in each.looked_at())


def judge_of(graph: CommitmentGraph, starts: StartSet, settings: Sequence[Setting]) -> Judge:
    """Everything that episodes from these instances can come to."""
    numbers = graph.numbers()
    nodes = np.array([numbers[state.tobytes()] for state in starts.states])
    return Judge(graph.part(graph.reachable(nodes), nodes, starts.rooms), tuple(settings))
