"""When is a choice of depths worth most? Fixed depths, rules, a depth head and the best depths for one policy's plans,
with plans that come d actions late and actions that slip on marked cells, by exact values on commitment graphs.

    python -m bench.pages.delays sliding-2x3 --starts 119 --csv docs/results/delays-2x3.csv
    python -m bench.pages.delays RUN --length 8 16 --csv docs/results/delays-sliding.csv

The plans are those of a graph of every state, whose starts are dealt out to the three splits, or of a run's policy.
For each delay and probability of a slip: the fixed depth, and the rule with its threshold, are chosen on validation
levels, and the head is trained on other levels and checked on these; values are those of test levels. The value of an
episode is 1 if it is solved, minus the prices of its actions and observations. Every third diagonal is marked.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.data import held_out
from recommit.graph import files
from recommit.graph.build import PIECE, PolicyGraph
from recommit.graph.delays import delayed, marks_ahead
from recommit.graph.graph import ALL_DEPTHS
from recommit.graph.values import optimal_values, policy_values
from recommit.horizon import Confidence, Disagreement, EntropyJump, FirstEvent, Plans, Repetition, Rule
from recommit.policy.checkpoint import local_folder
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices
from recommit.puzzles.slip import Slip, diagonals
from recommit.runs.directory import recipe_of
from recommit.stats import bootstrap
from recommit.storage.terminal_text import grid
from recommit.train.head import METHODS
from recommit.train.heads.fitting import Extent, fit
from recommit.train.heads.problem import HeadProblem, head_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph

    Columns = NDArray[np.int64]

SPLITS = ("train", "validation", "test")
FEATURES = "z+confidence"


@dataclass(frozen=True)
class Study:
    """One policy's plans, and the levels of each split."""

    plans: CommitmentGraph
    starts: dict[str, NDArray[np.uint8]]
    budget: int
    prices: Prices
    updates: int
    thresholds: int

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Study:
        run, count, length = str(arguments.plans), arguments.starts, tuple(arguments.length)
        prices = Prices(arguments.price_action, arguments.price_observation)
        settings = arguments.budget, prices, arguments.updates, arguments.thresholds
        if not length:
            plans = files.read(run)
            dealt = {split: plans.states[plans.starts[i :: len(SPLITS)]][:count] for i, split in enumerate(SPLITS)}
            return cls(plans, dealt, *settings)
        spec = recipe_of(run, "")
        policy = CommitPolicy.from_pretrained(local_folder(run), device=torch.device("cpu")).eval()
        keep: dict[str, Any] = {"piece": PIECE, "depth_major": True, "keep_probs": True, "features": True}
        starts = {split: np.ascontiguousarray(held_out.starts(spec, split, count, length).states) for split in SPLITS}
        return cls(PolicyGraph(policy, spec.puzzle(), ALL_DEPTHS, **keep), starts, *settings)

    def graph(self, delay: int, probability: float, *splits: str) -> CommitmentGraph:
        """From the levels of some splits, with what a head reads besides: the marks on the way, and the queue."""
        slip = Slip(diagonals(self.plans.puzzle.shape), probability)
        plain = self.updates and not delay and not probability  # heads learn on walks where every state is there
        starts = np.concatenate([self.starts[split] for split in splits])
        graph = delayed(self.plans, starts, delay=delay, slip=slip, budget=0 if plain else self.budget)
        queue = np.zeros((len(graph), 0), np.uint8) if graph.pending is None else graph.pending
        z = np.zeros((len(graph), 0)) if graph.features is None else graph.features
        seen = [z, marks_ahead(graph, slip), np.eye(4)[queue].reshape(len(graph), -1), self.agrees(graph)]
        features = np.concatenate([np.asarray(each, np.float32) for each in seen], axis=1)
        return replace(graph, features=features)

    @staticmethod
    def agrees(graph: CommitmentGraph) -> NDArray[np.bool_]:
        """[N, 1] does a plan begin with what is queued?"""
        if graph.pending is None:
            return np.ones((len(graph), 1), np.bool_)
        same: NDArray[np.bool_] = (graph.pending == graph.plans[:, : graph.delay]).all(axis=1, keepdims=True)
        return same

    def values(self, graph: CommitmentGraph, columns: Columns) -> NDArray[np.float64]:
        """[starts] of one column per node."""
        return policy_values(graph, self.budget, columns, self.prices)[self.budget, graph.starts]

    def rules(self, graph: CommitmentGraph, chosen_on: CommitmentGraph, slip: Slip) -> Iterator[tuple[str, Columns]]:
        """Every rule under every threshold, the same ones on both graphs."""
        even = np.where(graph.planned[:, None, None], graph.probs, np.float32(0.25))
        plans = Plans(graph.plans, even, events=marks_ahead(graph, slip))
        there = Plans(chosen_on.plans[chosen_on.rows], chosen_on.probs[chosen_on.rows])
        as_columns = lambda depths: np.maximum(depths.astype(np.int64) - graph.depths[0], 0)
        swept = {f"confidence-{kind}": Confidence(0.5, kind=kind) for kind in ("product", "least", "entropy")}
        for name, rule in {**swept, "disagreement": Disagreement()}.items():
            levels = np.unique(rule.thresholds(there, self.thresholds))
            for level, depths in zip(levels, rule.sweep(plans, levels), strict=True):
                yield f"{name} {level:.3g}", as_columns(depths)
        plain: dict[str, Rule] = {"entropy-jump": EntropyJump(), "repetition": Repetition(), "mark": FirstEvent()}
        yield from ((name, as_columns(rule.choose(plans))) for name, rule in plain.items())
        if graph.delay:
            agrees = self.agrees(graph)[:, 0]
            for column, depth in enumerate(graph.depths[1:], start=1):
                yield f"queue {depth}", np.where(agrees, column, 0)

    def head(self, both: CommitmentGraph, graph: CommitmentGraph) -> Columns:
        """What a head says on a graph that learned on the first half of the starts of another, checked on the rest."""
        problem = HeadProblem.of(both, both.depths, (self.budget,), self.prices, FEATURES)
        learn, held = (problem.over(starts=part.astype(np.int64)) for part in np.split(both.starts, 2))
        fitted = fit(learn, held, METHODS["exact"], 0, Extent(self.updates))
        probs = np.where(graph.planned[:, None, None], graph.probs, np.float32(0.25))
        raw = head_inputs(FEATURES, probs, graph.features)
        return fitted.columns(fitted.raw(((raw - fitted.mean) / fitted.deviation).astype(np.float32)))

    def row(self, delay: int, probability: float) -> dict[str, Any]:
        """Everything under one delay and probability."""
        begun, slip = time.process_time(), Slip(diagonals(self.plans.puzzle.shape), probability)
        learned = ("train", "validation") if self.updates else ("validation",)
        both, test = (self.graph(delay, probability, *splits) for splits in (learned, ("test",)))
        last = slice(-len(self.starts["validation"]), None)
        validation = replace(both, starts=both.starts[last], groups=both.groups[last])
        fixed = [np.full(len(validation), column) for column in range(len(both.depths))]
        depth = int(np.argmax([self.values(validation, columns).mean() for columns in fixed]))
        every = [
            (self.values(validation, columns).mean(), name)
            for name, columns in self.rules(validation, validation, slip)
        ]
        rule = max(every)[1]
        columns = {
            "fixed": np.full(len(test), depth),
            "rule": dict(self.rules(test, validation, slip))[rule],
            **({"head": self.head(both, test)} if self.updates else {}),
        }
        value = {name: self.values(test, chosen) for name, chosen in columns.items()}
        value["optimal"] = optimal_values(test, self.budget, [self.prices], last=True)[test.starts, 0]
        gain = {name: bootstrap(value[name] - value["fixed"], test.groups) for name in value if name != "fixed"}
        return {
            "delay": delay, "slip": probability, "best fixed": both.depths[depth], "rule": rule,
            **{f"value of {name}": f"{100 * each.mean():.1f}" for name, each in value.items()},
            **{f"{name} over fixed": f"{100 * each.mean:+.1f} ({100 * each.low:+.1f} to {100 * each.high:+.1f})"
               for name, each in gain.items()},
            "nodes": len(test), "CPU seconds": f"{time.process_time() - begun:.0f}",
        }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """In Markdown, for the page."""
    head, lines = ["slip", "delay", "best fixed", "best rule", "best depths", "room", "95 %"], []
    head += ["head", "head over fixed", "95 %"] if "value of head" in rows[0] else []
    for row in rows:
        fixed, rule = f"{row['value of fixed']} (depth {row['best fixed']})", f"{row['value of rule']} ({row['rule']})"
        lines.append(
            [str(row["slip"]), str(row["delay"]), fixed, rule, row["value of optimal"], *_interval(row, "optimal")]
        )
        if "value of head" in row:
            lines[-1] += [row["value of head"], *_interval(row, "head")]
    return grid(head, lines)


def _interval(row: dict[str, Any], name: str) -> list[str]:
    """The difference to the fixed depth, and its interval."""
    mean, interval = row[f"{name} over fixed"].strip(")").split(" (")
    return [mean, interval]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", type=Path, help="a graph of every state; with --length, a run")
    parser.add_argument("--delays", type=int, nargs="+", default=(0, 1, 2, 4))
    parser.add_argument("--slips", type=float, nargs="+", default=(0.0, 0.05, 0.1, 0.2))
    parser.add_argument("--budget", type=int, default=6, help="observations")
    parser.add_argument("--starts", type=int, default=100, help="levels of each split")
    parser.add_argument("--length", type=int, nargs=2, default=())
    parser.add_argument("--price-action", type=float, default=0.01)
    parser.add_argument("--price-observation", type=float, default=0.02)
    parser.add_argument("--updates", type=int, default=24, help="of the head; 0 for no head")
    parser.add_argument("--thresholds", type=int, default=12, help="of each rule of one number")
    parser.add_argument("--csv", type=Path, help="where the table is written, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    study, rows = Study.of(arguments), []
    for probability in arguments.slips:
        for delay in arguments.delays:
            rows.append(study.row(delay, probability))
            print(json.dumps(rows[-1]), flush=True)
            if arguments.csv:
                with arguments.csv.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
    print(table(rows))


if __name__ == "__main__":
    main()
