"""The table of a cumulative ablation: who is played for it, and a row per change in the order of the changes."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from recommit.evaluate.tables.ablations import CumulativeAblation

from recommit.evaluate.family import FamilyResults, Members


def family(folder, *names):
    for name in names:
        (folder / f"{name}-s0").mkdir()
        (folder / f"{name}-s0" / "best.json").write_text("{}")
    return Members(folder)


def figures(agent, budget, k, solved):
    about = {"agent": agent, "budget": budget, "decisions": k, "task": "sliding"}
    return {**about, "solve_rate": solved, "actions_per_episode": 100 * solved}


def test_a_row_per_change_in_its_order(tmp_path):
    members = family(tmp_path, "adaptive", "ablation-exact", "paper", "ablation-observations")
    table = CumulativeAblation(members)
    names = ("paper", "ablation-observations", "ablation-exact")
    paper, more, exact = (f"adaptive@{tmp_path / name}-s0" for name in names)
    assert table.agents() == (paper, more, exact, "adaptive")
    rows = [
        figures(agent, budget, k, share / k)
        for budget, k in (("loose", 15), ("tight", 10))
        for agent, share in (("adaptive", 9), (exact, 6), (paper, 3), (more, 1.5), ("fixed-8", 7))
    ]
    (grid,) = table.render(FamilyResults(rows, members)).grids
    assert [(row[0], row[1], row[-2]) for row in grid.rows] == [
        ("loose, K = 15", "paper", "20.0"),
        ("loose, K = 15", "ablation-observations", "10.0"),
        ("loose, K = 15", "ablation-exact", "40.0"),
        ("loose, K = 15", "adaptive", "60.0"),
        ("tight, K = 10", "paper", "30.0"),
        ("tight, K = 10", "ablation-observations", "15.0"),
        ("tight, K = 10", "ablation-exact", "60.0"),
        ("tight, K = 10", "adaptive", "90.0"),
    ]
    assert table.missing() == []


def test_nobody_plays_for_it_without_a_change(tmp_path):
    table = CumulativeAblation(family(tmp_path, "adaptive", "paper"))
    assert table.agents() == ()
    assert table.render(FamilyResults([figures("adaptive", "loose", 15, 0.5)], table.members)).grids == ()
    assert "recommit reproduce --preset cumulative-ablation" in table.missing()[0]
