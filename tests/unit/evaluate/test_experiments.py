"""The paper's tables from a family of runs that takes seconds, and what is not there is said to be missing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch")

from recommit.cli import main
from recommit.evaluate import experiments, paper
from recommit.evaluate.experiments import Found
from recommit.train import family
from recommit.train.config import parse
from recommit.train.grpo_config import GrpoConfig


@pytest.fixture(scope="module")
def trained(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("family")
    plan = parse(
        GrpoConfig,
        {
            "credit": {"group": "exact", "reward": "solved", "scale": "batch", "size": 2},
            "objective": {"kl": 0.0},
            "rollout": {"instances": 4, "budget": 3},
            "optim": {"steps": 1, "batch": 32, "warmup": 0},
            "validation": {"instances": 4, "every": 1, "budget": 3},
            "run": {"log_every": 1, "threads": 1, "tensorboard": False},
        },
    )
    plans = {name: replace(plan, variant=name) for name in ("adaptive", "fixed-4", "random", "depth-only")}
    assert family.train(plans, run, out, (0,), quiet=True) == 0
    return out


def test_all_tables_come_from_one_command(trained, tmp_path, capsys):
    out = tmp_path / "paper"
    call = ["evaluate", str(trained), "--paper", "--out", str(out), "--instances", "10", "--validation", "6", "--quiet"]
    assert main(call) == 0
    text = capsys.readouterr().out
    assert all(f"## {name}\n" in text for name in experiments.TABLES)
    assert "nan" not in text
    summary = json.loads((out / "summary.json").read_text())
    found = Found(summary, trained, 0)
    assert {r["agent"][6] for r in found.fixed("SFT", "loose")} == set("12345678")
    assert {r["agent"].partition("@")[0] for r in found.fixed("RL", "loose")} == {"fixed-4", "fixed-4-sampled"}
    assert len(found.fixed("clamped", "tight")) == 8
    assert all("validation_solve_rate" in r for r in found.fixed("SFT", "tight"))
    main_table = experiments.main_table(found)
    assert "| loose: adaptive" in main_table
    assert "56.3" in main_table
    solved = 100 * found.row("adaptive", "loose")["solve_rate"]
    assert f"{solved - 56.3:+.1f}" in main_table


def test_what_is_missing_is_said_to_be(tmp_path, capsys):
    assert main(["evaluate", str(tmp_path), "--paper", "--out", str(tmp_path / "e")]) == 2
    assert "run: expected a family with adaptive-s0" in capsys.readouterr().err
    rows = [{"agent": "adaptive", "budget": b, "task": "sliding", "solve_rate": 0.5, "actions_per_episode": 20.0, "decisions": 15}
            for b in ("loose", "tight")]  # fmt: skip
    found = Found(rows, tmp_path, 0)
    assert "not run" in experiments.main_table(found)
    assert experiments.recovered(rows[0], None, rows[0]) == "n/a"
    assert "n/a" in experiments.oracle(found)
    assert experiments.entropy(found).count("| -") >= 3 or "-" in experiments.entropy(found)


def test_the_best_fixed_depth_is_chosen_where_it_is_said_to_be(tmp_path):
    def row(depth, test, validation):
        return {"agent": f"fixed-{depth}@{tmp_path / 'adaptive-s0' / 'init'}", "budget": "loose", "task": "sliding",
                "solve_rate": test, "validation_solve_rate": validation}  # fmt: skip

    found = Found([row(1, 0.1, 0.1), row(2, 0.5, 0.2), row(4, 0.4, 0.6), row(8, 0.5, 0.6)], tmp_path, 0)
    assert found.best_fixed("SFT", "loose", "test")["agent"].startswith("fixed-2@"), "a tie goes to the smaller depth"
    assert found.best_fixed("SFT", "loose", "validation")["agent"].startswith("fixed-4@")
    assert found.best_fixed("RL", "loose", "test") is None


def test_the_papers_numbers_agree_with_each_other():
    """Gaps that the paper prints follow from its cells."""
    loose, tight = paper.MAIN["sliding", "loose"], paper.MAIN["sliding", "tight"]
    assert tight["adaptive"].solved - tight["RL best fixed"].solved == pytest.approx(3.1)
    assert 1 - loose["adaptive"].actions / loose["RL best fixed"].actions == pytest.approx(0.245, abs=1e-3)
    gap = (loose["adaptive"].solved - loose["RL best fixed"].solved) / (
        paper.ORACLE["sliding"].solved - loose["RL best fixed"].solved
    )
    assert gap == pytest.approx(0.73, abs=0.005)
    for task in ("sliding", "sokoban"):
        assert paper.ABLATION[task]["adaptive"] == paper.MAIN[task, "loose"]["adaptive"].solved
        assert paper.SEEDS[task][42][0] == paper.ABLATION[task]["adaptive"]
