"""The policies of the study that are in the repository end their episodes as its rows say."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import numpy as np
from bench.pages import verdict

from recommit.data import held_out
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, head, play
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import recipe_of
from recommit.storage import verified

FOLDERS = sorted(verdict.POLICIES.iterdir())
FEW = 24


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_plays_as_its_row(folder):
    """Rounded to half precision it may choose otherwise where two actions are as good."""
    verified.verify(folder)
    puzzle, competence, variant = next(
        (p, c, folder.name.removeprefix(f"{p}-{c}-"))
        for p in verdict.PUZZLES
        for c in verdict.COMPETENCES
        if folder.name.startswith(f"{p}-{c}-")
    )
    policy, spec = CommitPolicy.from_pretrained(folder / "policy").eval(), recipe_of(folder)
    assert spec == verdict.PUZZLES[puzzle].spec
    graph = PolicyGraph(policy, spec.puzzle(), (int(variant[6:]),) if "fixed" in variant else verdict.DEPTHS)
    nodes = graph.nodes(held_out.starts(spec, "test", FEW, ()).states)
    budget = spec.puzzle().budgets(spec.puzzle().shape)["loose"]
    ends = play(graph, nodes, budget, always(graph, graph.depths[0]) if "fixed" in variant else head(graph))
    rows = [
        row
        for row in verdict.read()
        if (row["puzzle"], row["competence"], row["agent"]) == (puzzle, competence, variant)
    ]
    outcomes = [verdict.unpacked(row["outcomes"])[:2, :FEW] for row in rows if row["budget"] == "loose"]
    apart = [int((np.stack(ends.outcome()[:2]) != each).any(0).sum()) for each in outcomes]
    assert min(apart) <= 2
