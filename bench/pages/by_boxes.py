"""Rules and heads on a Sokoban policy's commitment graph by the number of boxes and the length of the levels.

    recommit graph build RUN --split validation --starts 512 --budget 6 --out validation
    recommit graph build RUN --split test --starts 1024 --budget 6 --out test
    python -m bench.pages.by_boxes validation test --budget 6 --csv docs/assets/tables/by-boxes.csv

Thresholds and the best fixed depth are chosen on all levels of the first graph, and played on those of the second. The
value of an episode is 1 if it is solved, minus the price of its actions, which is 0 here: in a graph with a budget
episodes that are lost are not followed to their end. Regret is given by cause, as shares.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import files, rule_registry
from recommit.graph.score import GraphScorer, score
from recommit.prices import Prices, Setting
from recommit.stats import share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph

RULES = ("head", "fixed-1", "fixed-2", "fixed-4", "fixed-8", "confidence-product", "confidence-least")


def parts(graph: CommitmentGraph, cut: int) -> dict[str, NDArray[np.bool_]]:
    """Which starts: all, by boxes, and by boxes and length."""
    states, length = graph.states[graph.starts], graph.distance[graph.starts]
    boxes = np.isin(states, (3, 4)).sum(axis=(1, 2))
    result = {"all": np.ones(len(boxes), bool)}
    for many in np.unique(boxes).tolist():
        word = f"{many} {'box' if many == 1 else 'boxes'}"
        result[word] = boxes == many
        result[f"{word}, up to {cut} actions"] = (boxes == many) & (length <= cut)
        result[f"{word}, more"] = (boxes == many) & (length > cut)
    return {name: which for name, which in result.items() if which.any()}


def rows(validation: CommitmentGraph, graph: CommitmentGraph, setting: Setting, cut: int) -> list[dict[str, Any]]:
    """Every rule on every part."""
    chosen_on, result = GraphScorer(validation, (setting,)), []
    entries = [rule_registry.named(name) for name in RULES]
    for name, which in parts(graph, cut).items():
        scorer = GraphScorer(replace(graph, starts=graph.starts[which], groups=graph.groups[which]), (setting,))
        oracle = scorer.oracle(setting).mean()
        for row in score(scorer, entries, chosen_on):
            if row.shared:
                continue
            low, high = share(scorer.played(row.entry(rule_registry.named(row.rule)), setting).outcome()[0])
            gain = "" if row.gain is None else f"{row.gain:.2f} ({row.gain_low:.2f} to {row.gain_high:.2f})"
            result.append(
                {
                    "levels": name, "count": int(which.sum()), "rule": row.rule,
                    "solved": f"{100 * row.solved:.1f}", "low": f"{100 * low:.1f}", "high": f"{100 * high:.1f}",
                    "actions": f"{row.actions:.1f}", "observations": f"{row.observations:.2f}",
                    "value": f"{100 * row.value:.1f}", "oracle value": f"{100 * oracle:.1f}", "gain share": gain,
                    "best fixed": chosen_on.best_fixed(setting),
                    **{f"regret: {cause}": f"{100 * part:.0f}" for cause, part in row.causes.items()},
                }
            )  # fmt: skip
            print(json.dumps(result[-1]), flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("validation", type=Path)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--budget", type=int, required=True, help="observations")
    parser.add_argument("--price-action", type=float, default=0.0, help="for graphs without a budget alone")
    parser.add_argument("--cut", type=int, default=17, help="the longest short level")
    parser.add_argument("--csv", type=Path, help="where the table is written, too")
    arguments = parser.parse_args()
    setting = Setting(arguments.budget, Prices(arguments.price_action, 0.0))
    every = rows(files.read(arguments.validation), files.read(arguments.graph), setting, arguments.cut)
    if arguments.csv:
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in every for key in row)), lineterminator="\n")
            writer.writeheader()
            writer.writerows(every)


if __name__ == "__main__":
    main()
