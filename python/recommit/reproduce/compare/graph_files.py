"""Graphs of all policies, as files that are built once: a second call reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.graphs import build, files
from recommit.graphs.judge import Judge
from recommit.policy.checkpoint import weights_of
from recommit.policy.policy import CommitPolicy
from recommit.runs.ranks import find_device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.graphs.graph import CommitmentGraph
    from recommit.graphs.judge import Setting
    from recommit.reproduce.compare.instances import GraphStarts, StartSet
    from recommit.reproduce.compare.sources import PlanSource


def graph_of(
    source: PlanSource,
    starts: GraphStarts,
    folder: Path,
    device: str = "auto",
) -> CommitmentGraph:
    """The graph of a policy from these starts: that of the folder if it is there, or else built and written there."""
    place, policy = folder / f"{source.label}{starts.suffix}", source.policy
    weights = weights_of(policy)
    graph = files.read(place) if (place / files.MANIFEST).is_file() else None
    if graph is not None and graph.source.get("policy") == weights and _holds(graph, starts):
        return graph
    network = CommitPolicy.from_pretrained(policy, device=find_device(device)).eval()
    built = build.build(network, starts.puzzle, starts.states(), source={"policy": weights})
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
