"""The paper's tables from a family of runs that takes seconds, and what is not there is said to be missing."""

from __future__ import annotations

import json
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from recommit.cli import main
from recommit.evaluate import reported
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.family import FamilyResults, Members
from recommit.evaluate.tables import main_results, paper_tables
from recommit.report import plotting
from recommit.train.config import parse
from recommit.train.grpo import trainer as grpo
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def trained(run, plan, data, tmp_path_factory):
    out = tmp_path_factory.mktemp("family")
    start = plan
    plan = parse(
        GrpoConfig,
        {
            "advantage": {"estimator": "exact", "group_size": 2},
            "objective": {"kl": 0.0},
            "rollout": {"instances": 4, "budget": 3},
            "optim": {"steps": 3, "batch": 32, "warmup": 0},
            "validation": {"instances": 4, "every": 1, "budget": 3},
            "run": {"log_every": 1, "threads": 1, "tensorboard": False, "keep": 2},
        },
    )
    plans = {name: replace(plan, variant=name) for name in ("adaptive", "fixed-4")}
    short = replace(plans["adaptive"], rollout=replace(plans["adaptive"].rollout, budget=4))
    plans |= {"adaptive-k4": short}
    for name, seed in [*((name, 0) for name in plans), ("adaptive", 1)]:
        seeded = replace(plans[name], run=replace(plans[name].run, seed=seed))
        assert grpo.train(seeded, run, out / f"{name}-s{seed}", quiet=True) == 0
    alone = replace(start, targets=replace(start.targets, depths=(2,)))
    assert sft.train(alone, data, out / "single-2-init", quiet=True) == 0
    assert (
        grpo.train(replace(plans["fixed-4"], variant="fixed-2"), out / "single-2-init", out / "single-2-s0", quiet=True)
        == 0
    )
    return out


def evaluate(family, out, *more):
    call = ["evaluate", str(family), "--paper", "--out", str(out), "--instances", "10", "--validation", "6", "--quiet"]
    return main([*call, *more])


@pytest.fixture(scope="module")
def everything(trained, tmp_path_factory):
    """All tables of a family that has a run of every kind."""
    out = tmp_path_factory.mktemp("paper") / "out"
    assert evaluate(trained, out) == 0
    members = Members(trained, 0)
    return out, FamilyResults(json.loads((out / "summary.json").read_text()), members)


def text_of(name, results):
    """One table of a family's results, as a person reads it."""
    table = paper_tables.TABLES[name]
    return table.markdown(table.render(results))


def cells(text, row):
    """Of a table's row, by its first cell."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} "))
    return [cell.strip() for cell in line.strip("|").split("|")[1:]]


def test_all_tables_come_from_one_command(everything, trained):
    out, found = everything
    text = (out / "tables.md").read_text()
    assert all(f"## {table.title}\n" in text for table in paper_tables.TABLES.values())
    assert "nan" not in text
    stored = json.loads((out / "tables.json").read_text())["tables"]
    assert [table["name"] for table in stored] == list(paper_tables.TABLES)
    assert all(text_of(name, found) in text for name in paper_tables.TABLES)
    assert {r["agent"][6] for r in found.kind("SFT", "loose")} == set("12345678")
    assert [AgentName.parse(r["agent"]).base for r in found.kind("RL", "loose")] == ["fixed-4"], "greedy, as its rivals"
    drawn = f"fixed-4-sampled@{trained / 'fixed-4-s0'}"
    assert drawn in main_results.pareto.agents(found.members)
    assert found.row(drawn, "loose") is not None
    assert len(found.kind("clamped", "tight")) == 8
    assert all("validation_solve_rate" in r for r in found.kind("SFT", "tight"))
    main_table = text_of("main", found)
    assert "| loose: adaptive" in main_table
    solved = 100 * found.row("adaptive", "loose")["solve_rate"]
    assert cells(main_table, "loose: adaptive")[1:4] == ["56.3", f"{solved:.1f}", f"{solved - 56.3:+.1f}"]
    sampled = 100 * found.row("sampled", "loose")["solve_rate"]
    for table in (main_table, text_of("ablation", found)):
        row = "loose: adaptive, sampled" if table == main_table else "adaptive, sampled"
        assert f"{sampled:.1f}" in cells(table, row)
    assert len(cells(text_of("depths", found), "tight: h=4")) == 5


def test_value_and_gain_share_are_columns_of_the_main_table(everything):
    _, found = everything
    rows = [{name: v for name, v in row.items() if not name.startswith(("gain", "value"))} for row in found.rows]
    plain = text_of("main", FamilyResults(rows, found.members))
    assert "There are no gain shares: they need `oracle-dp`" in plain
    both = {"gain": 0.254, "gain_low": -0.051, "gain_high": 0.487, "value": 0.61237, "value_low": 0.5}
    (own,) = (row for row in rows if (row["agent"], row["budget"]) == ("adaptive", "loose"))
    own |= {**both, "value_high": 0.71}
    table = text_of("main", FamilyResults(rows, found.members))
    assert cells(table, "row") == [*cells(plain, "row"), "value, points", "gain share"]
    figures = ["61.2 (50.0 .. 71.0)", "0.25 (-0.05 .. 0.49)"]
    assert cells(table, "loose: adaptive") == [*cells(plain, "loose: adaptive"), *figures]
    assert cells(table, "tight: adaptive")[-2:] == ["-", "-"]


def test_its_figures_are_drawn(everything, tmp_path):
    with plotting.style():
        runpy.run_path(str(ROOT / "docs" / "figures" / "paper_small.py"))["plot"](everything[1], tmp_path / "small.svg")
    assert (tmp_path / "small.svg").stat().st_size


def test_every_cell_is_the_figure_of_its_agent(everything, trained):
    _, found = everything

    def rate(agent):
        return f"{100 * found.row(agent, 'loose')['solve_rate']:.1f}"

    grid = text_of("single", found)
    assert cells(grid, "SFT, trained at h=2") == [rate(f"fixed-{d}@{trained / 'single-2-init'}") for d in (1, 2, 4, 8)]
    assert cells(grid, "RL, trained at h=2") == [rate(f"fixed-{d}@{trained / 'single-2-s0'}") for d in (1, 2, 4, 8)]
    assert cells(grid, "SFT, trained at h=4") == ["-"] * 4
    top = max(float(rate(f"fixed-2@{trained / name}")) for name in ("single-2-init", "single-2-s0"))
    assert cells(grid, "best of those played as trained") == ["14.1", f"{top:.1f}", f"{top - 14.1:+.1f}"]
    budgets = text_of("budgets", found)
    assert cells(budgets, "4")[0] == "53.1"
    assert cells(budgets, "4")[1] == rate(f"adaptive@{trained / 'adaptive-k4-s0'}")
    assert cells(budgets, "3")[:2] == ["-", rate("adaptive")], "what adaptive-s0 itself was trained with"
    assert cells(budgets, "10")[1] == "-"
    seeds = text_of("seeds", found)
    own, other = (rate(a) for a in ("adaptive", f"adaptive@{trained / 'adaptive-s1'}"))
    assert (cells(seeds, "seed 0")[1], cells(seeds, "seed 1")[1]) == (own, other)
    assert cells(seeds, "mean")[:2] == ["54.8", f"{(float(own) + float(other)) / 2:.1f}"]
    assert cells(seeds, "seed 42")[:3] == ["56.3", "-", "-"]
    asked = main_results.pareto.agents(found.members)
    alone = FamilyResults([row for row in found.rows if row["agent"] in asked], found.members)
    assert len(alone.rows) < len(found.rows)
    assert text_of("pareto", alone) == text_of("pareto", found), "whatever else was played"
    emergence = text_of("emergence", found)
    stages = found.members.stages
    assert stages["late"].step == 3
    for name, at in stages.items():
        rates = ["-"] * 9 if at is None else [str(at.step), *(rate(a) for a in found.members.at_stage(name))]
        assert cells(emergence, name)[:9] == rates
    assert cells(emergence, "middle")[1] == rate(f"fixed-1@{stages['middle'].policy}")


def without_gain(row):
    return {name: value for name, value in row.items() if not name.startswith("gain")}


def test_only_what_the_named_tables_need_is_played(everything, trained, tmp_path, capsys):
    _, found = everything
    few = tmp_path / "few"
    assert evaluate(trained, few, "--tables", "state", "seeds") == 0
    summary = json.loads((few / "summary.json").read_text())
    assert {row["agent"] for row in summary} == {
        "adaptive",
        "sampled",
        "shuffled",
        f"adaptive@{trained / 'adaptive-s1'}",
        f"fixed-4@{trained / 'fixed-4-s0'}",
    }
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Depth by distance", "## Seeds"]
    # Others may follow in the same folder, and nothing depends on the order; gain needs constants and a ceiling beside.
    assert evaluate(trained, few, "--tables", "main") == 0
    again = json.loads((few / "summary.json").read_text())
    assert all(without_gain(row) == without_gain(found.row(row["agent"], row["budget"])) for row in again)
    assert evaluate(trained, few, "--tables", "mean") == 2
    assert "tables: expected names of main, sweep" in capsys.readouterr().err
    # An evaluation that is not compared with the paper's leaves no tables of one that was.
    assert (few / "tables.json").is_file()
    plain = ["evaluate", str(trained / "adaptive-s0"), "--agents", "adaptive", "--out", str(few), "--instances", "10"]
    assert main([*plain, "--validation", "6", "--quiet"]) == 0
    assert not (few / "tables.json").exists()


def test_cells_of_runs_that_are_not_there_hold_a_dash(trained, tmp_path, capsys):
    assert evaluate(tmp_path, tmp_path / "e") == 2
    assert "run: expected a family with adaptive-s0" in capsys.readouterr().err
    alone = tmp_path / "alone"
    shutil.copytree(trained / "adaptive-s0", alone / "adaptive-s0")
    (alone / "adaptive-s0" / "metrics.jsonl").unlink()
    rows = [
        {
            "agent": "adaptive",
            "budget": b,
            "task": "sliding",
            "solve_rate": 0.5,
            "actions_per_episode": 20.0,
            "decisions": 15,
            "depth_shares": {"2": 1.0},
            "depth_entropy": 0.1,
            "trajectory_entropy": 0.0,
        }
        for b in ("loose", "tight")
    ]
    found = FamilyResults(rows, Members(alone, 0))
    assert "no run" in text_of("main", found)
    assert main_results.recovered(rows[0], None, rows[0]) is None
    assert "n/a" in text_of("oracle", found)
    without = ("state", "difficulty", "efficiency", "depths")
    made = {name: text_of(name, found) for name in paper_tables.TABLES if name not in without}
    assert cells(made["entropy"], "entropy_depth") == ["-", "-", "-", "-", "-", "1.262", "-", "-"]


def test_the_papers_numbers_agree_with_each_other():
    """Gaps that the paper prints follow from its cells."""
    loose, tight = reported.MAIN["sliding", "loose"], reported.MAIN["sliding", "tight"]
    assert tight["adaptive"].solved - tight["RL best fixed"].solved == pytest.approx(3.1)
    assert 1 - loose["adaptive"].actions / loose["RL best fixed"].actions == pytest.approx(0.245, abs=1e-3)
    gap = (loose["adaptive"].solved - loose["RL best fixed"].solved) / (
        reported.ORACLE["sliding"].solved - loose["RL best fixed"].solved
    )
    assert gap == pytest.approx(0.73, abs=0.005)
    for task in ("sliding", "sokoban"):
        assert reported.ABLATION[task]["adaptive"] == reported.MAIN[task, "loose"]["adaptive"].solved
        assert reported.SEEDS[task][42][0] == reported.ABLATION[task]["adaptive"]
