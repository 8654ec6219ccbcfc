"""Where the regret of heads with a world model falls, on the graph of their plans -> docs/assets/heads-remaining.json.

recommit graph build FAMILY/adaptive-s0 --split validation --starts 512 --length 8 20 --out validation
python bench/pages/causes.py validation FAMILY/world-model-s0 FAMILY/conditioned-s0  # then python -m bench.pages.tables
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.graph import files
from recommit.graph.episodes import by_state
from recommit.graph.regret import attribute
from recommit.graph.score import GraphScorer
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices, Setting
from recommit.train.heads.conditioned import ConditionedInputs
from recommit.train.heads.problem import HeadProblem

if TYPE_CHECKING:
    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import CommitmentGraph

OUT = Path(__file__).resolve().parents[2] / "docs" / "assets" / "heads-remaining.json"


def inputs_of(policy: CommitPolicy, graph: CommitmentGraph) -> ConditionedInputs:
    """What a policy's head reads at the nodes of its plans' graph; the same for all heads that read the same."""
    problem = HeadProblem.of(graph, policy.config.depths, (1,), Prices())
    z = policy.config.head.features == "z+conditioned"
    return ConditionedInputs(policy, graph.puzzle, problem, "z+conditioned" if z else "conditioned")


def chooser(
    policy: CommitPolicy,
    graph: CommitmentGraph,
    budget: int,
    prices: Prices | None = None,
    inputs: ConditionedInputs | None = None,
) -> Chooser:
    """What a policy's head chooses at the nodes of its plans' graph, by the observations left, for its own prices or
    for others."""
    problem = HeadProblem.of(graph, policy.config.depths, (budget,), Prices())
    inputs, depths = inputs or inputs_of(policy, graph), np.array(policy.config.depths)
    columns, prices = np.zeros((budget, len(graph)), np.int64), prices or policy.config.prices
    for remaining in range(1, budget + 1):
        with torch.no_grad():
            read = inputs(slice(None), remaining, prices)
            if policy.config.head.features == "world-model":
                read = inputs.expected
            columns[remaining - 1, problem.rows] = depths[policy.depth_head(read).argmax(dim=1).numpy()] - 1
    return by_state(columns, budget)


def row(graph: CommitmentGraph, folder: Path, budget: int) -> dict[str, Any]:
    """What a policy comes to on the graph, without prices, and where its regret falls."""
    setting = Setting(budget, Prices())
    scorer = GraphScorer(graph, (setting,))
    policy = CommitPolicy.from_pretrained(folder).eval()
    every = attribute(scorer.best(setting), graph.starts, chooser(policy, graph, budget))
    solved, actions, looks = (float(column.mean()) for column in every.outcome())
    least = float(scorer.fixed(setting, scorer.best_fixed(setting)).mean())
    most = float(scorer.oracle(setting).mean())
    figures = {"solved": solved, "actions": actions, "looks": looks, "gain": (solved - least) / (most - least)}
    name = "world model" if policy.config.head.features == "world-model" else "world model, conditioned head"
    return {"K": budget, "rule": name, **figures, "regret": float(every.total().mean()), "causes": every.shares()}


def main() -> int:
    graph = files.read(Path(sys.argv[1]))
    rows = [row(graph, Path(folder), budget) for budget in graph.usual_budgets for folder in sys.argv[2:]]
    value = {"task": "remaining", "split": f"{len(graph.starts)} validation starts", "rows": rows}
    OUT.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
