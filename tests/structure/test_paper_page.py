"""docs/paper.md has a row for everything that the paper numbers, and every cell of it leads somewhere."""

from __future__ import annotations

import pytest
from tests.structure.paper_page import COLUMNS, PAGE, absent, faults, rows

pytest.importorskip("tyro")
pytest.importorskip("yaml")

#: The labels of the paper's source: what it numbers. Its sections are no rows.
NUMBERED = (
    "tab:zero_shot",
    "tab:ablation_summary",
    "tab:efficiency_main",
    "tab:seed_robustness",
    "tab:sft_settings",
    "tab:rl_settings",
    "tab:notation1",
    "tab:notation2",
    "fig:teaser",
    "fig:method_pipeline",
    "fig:oracle_main",
    "fig:state_h_uncertainty",
    "fig:emergence",
    "fig:efficiency_breakdown",
    "fig:entropy_dynamics",
    "fig:data_env",
    "fig:task_examples",
    "fig:single_commitment_grid",
    "fig:train_budget_robustness",
    "fig:efficiency_breakdown_full",
    "fig:prompt_example",
    "eq:problem",
    "eq:fixed_h_success",
    "eq:power_law",
    "eq:state_dependent_success",
    "eq:local_optimum",
    "eq:strict_dominance",
    "eq:proof_fixed_h_success",
    "eq:proof_loglik",
    "eq:proof_dell_dh",
    "eq:proof_foc",
    "eq:proof_F_eq_alpha",
    "eq:proof_h_star",
    "lem:phase_transition",
    "prop:adaptive_dominates",
)
#: Formulas that it sets apart without a label, by names of ours.
DISPLAYED = (
    "d(s)",
    "Delta_d",
    "R(tau)",
    "limits of F",
    "slope of F",
    "per-commitment inequality",
    "expected log P inequality",
    "q_sat",
    "-log P",
    "-log P, small q",
    "log P by decisions",
)
#: Rows of its two tables of hyper-parameters, and the values that stand in its text.
HYPERPARAMETERS = (
    "Backbone model",
    "LoRA rank",
    "LoRA alpha",
    "LoRA dropout",
    "Frozen modules",
    "Depth-head dimension",
    "Action-decoder hidden size",
    "Action-decoder layers",
    "Action-decoder attention heads",
    "Action-decoder FFN size",
    "Action-decoder maximum length",
    "Learning rate",
    "Optimiser",
    "RL algorithm",
    "GRPO group size",
    "Default K_train",
    "Commitment-depth set",
    "Dense reward weight",
    "GRPO clip",
    "KL coefficient",
    "Depth-head entropy coef.",
    "Action entropy coef.",
    "Backbone learning rate",
    "Head learning rate",
    "Optimizer",
    "K_loose",
    "K_tight",
)
RIGHT = (
    "| `tab:one`: a table | `docs/results.md` | `recommit train sft --recipe paper-sliding --data DATA --out RUN` "
    "| `tests/structure/test_paper_page.py::test_every_cell_leads_somewhere` | 1 | [nothing](decisions.md#decisions) |"
)


def test_every_cell_leads_somewhere():
    assert faults(PAGE.read_text(encoding="utf-8")) == []


def test_nothing_that_the_paper_numbers_is_left_out():
    text = PAGE.read_text(encoding="utf-8")
    assert absent(text, (*NUMBERED, *DISPLAYED, *HYPERPARAMETERS)) == []
    assert len(rows(text)) > 200


def test_the_planted_row_is_right():
    assert faults(RIGHT) == []


@pytest.mark.parametrize(
    ("cell", "planted", "fault"),
    [
        ("| 1 |", "| |", "ours: expected something"),
        ("| 1 |", "| - |", "ours: expected something"),
        ("| 1 |", "| 1 | 2 |", "expected 6 cells"),
        ("--data DATA", "--dta DATA", "--dta DATA --out RUN: exit status 2"),
        ("paper-sliding", "paper-slidng", "paper-slidng"),
        ("recommit train sft --recipe paper-sliding --data DATA --out RUN", "ls", "nobody knows how to check ls"),
        (
            "recommit train sft --recipe paper-sliding --data DATA --out RUN",
            "recommit evaluate FAMILY --paper --tables mian --out EVAL",
            "tables: expected names of main",
        ),
        (
            "`recommit train sft --recipe paper-sliding --data DATA --out RUN`",
            "by hand",
            "expected commands in backticks",
        ),
        ("docs/results.md", "docs/reslts.md", "there is no docs/reslts.md"),
        ("docs/results.md", "docs/results.md::Reslts", "docs/results.md has no Reslts"),
        ("`docs/results.md`", "somewhere", "expected a file or a page"),
        (
            "test_every_cell_leads_somewhere",
            "test_every_cell",
            "there is no tests/structure/test_paper_page.py::test_every_cell",
        ),
        ("decisions.md#decisions", "decisons.md", "there is no such page"),
        ("decisions.md#decisions", "results.md#reslts", "there is no such heading"),
        ("decisions.md#decisions", "decisions.md", "decisions.md has no entry 'nothing'"),
    ],
)
def test_what_is_wrong_is_said(cell, planted, fault):
    assert cell in RIGHT
    said = faults(RIGHT.replace(cell, planted))
    assert any(fault in one for one in said), said


def test_what_is_left_out_is_said():
    assert absent(RIGHT, ("tab:one", "tab:two")) == ["tab:two"]
    assert absent(RIGHT.replace("`tab:one`", "tab:one"), ("tab:one",)) == ["tab:one"]


def test_heads_and_rules_are_no_rows():
    head = "| " + " | ".join(COLUMNS) + " |\n|---|---|---|---|---|---|\n"
    assert [number for number, _ in rows(head + RIGHT)] == [3]
