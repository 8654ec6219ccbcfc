"""Fixed depths, a rule and the head on a Sokoban policy's commitment graph, by boxes and length of the levels.

    recommit graph build sokoban-7x7 --split validation --starts 512 --budget 6 --out validation
    recommit graph build sokoban-7x7 --split test --starts 1024 --budget 6 --out test
    python -m bench.pages.by_boxes validation test --budget 6 --csv docs/results/by-boxes-world-model.csv

The best fixed depth and the rule's threshold are chosen on all levels of the first graph, and played on those of the
second, where an episode is worth 1 if it is solved and nothing has a price. Regret is in points, its causes are shares
of it in percent.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import files
from recommit.graph.score import GraphScorer, score
from recommit.horizon import rule_registry
from recommit.prices import Prices, Setting
from recommit.results.intervals import share
from recommit.results.table import Grid, figure, number, percent, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph

RULES = ("head", "confidence-product")
#: Causes of regret -> the table's words.
CAUSES = ("lost level", "too deep", "too shallow", "loop", "last observation")


def parts(graph: CommitmentGraph, cut: int) -> dict[str, NDArray[np.bool_]]:
    """Which starts: all, by boxes, and by boxes and length."""
    states, length = graph.states[graph.starts], graph.distance[graph.starts]
    boxes = np.isin(states, (3, 4)).sum(axis=(1, 2))
    result = {"all": np.ones(len(boxes), bool)}
    for many in np.unique(boxes).tolist():
        word = f"{many} {'box' if many == 1 else 'boxes'}"
        result[word] = boxes == many
        result[f"{word}, up to {cut} actions"] = (boxes == many) & (length <= cut)
        result[f"{word}, longer"] = (boxes == many) & (length > cut)
    return {name: which for name, which in result.items() if which.any()}


def rows(validation: CommitmentGraph, graph: CommitmentGraph, setting: Setting, cut: int) -> list[dict[str, Any]]:
    """Every part of the levels."""
    chosen_on, result = GraphScorer(validation, (setting,)), []
    entries = [rule_registry.named(name) for name in RULES]
    fixed = chosen_on.best_fixed(setting)
    for name, which in parts(graph, cut).items():
        scorer = GraphScorer(replace(graph, starts=graph.starts[which], groups=graph.groups[which]), (setting,))
        scored = {row.rule: row for row in score(scorer, entries, chosen_on) if not row.shared}
        head = scored["head"]
        solved = share(scorer.played(head.entry(entries[0]), setting).outcome()[0], scorer.graph.groups)
        causes = {cause: head.causes.get(cause, 0.0) for cause in CAUSES}
        oracle = scorer.oracle(setting).mean()
        result.append(
            {
                "levels": name,
                "count": int(which.sum()),
                f"fixed depth {fixed}": percent(scorer.fixed(setting, fixed).mean()),
                "confidence": percent(scored["confidence-product"].solved),
                "head (95 %)": spread(solved, 1, 100.0),
                "oracle depth": percent(oracle),
                "actions": number(head.actions),
                "observations": number(head.observations, 2),
                "gain share of the head": "" if head.gain is None else figure(vars(head), "gain", 2),
                "regret": percent(oracle - head.value),
                **{cause: f"{100 * part:.0f}" for cause, part in causes.items()},
            }
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("validation", type=Path)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--budget", type=int, required=True, help="observations")
    parser.add_argument("--cut", type=int, default=17, help="the longest short level")
    parser.add_argument("--csv", type=Path, required=True, help="where the table is written")
    arguments = parser.parse_args()
    setting = Setting(arguments.budget, Prices(0.0, 0.0))
    every = rows(files.read(arguments.validation), files.read(arguments.graph), setting, arguments.cut)
    grid = Grid.of(list(every[0]), [list(map(str, row.values())) for row in every])
    arguments.csv.write_text(grid.csv(), encoding="utf-8")
    print(grid.markdown())


if __name__ == "__main__":
    main()
