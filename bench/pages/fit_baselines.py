"""Heads of every method on the frozen plans of a reproduction's seeds, scored beside the heads with a world model.

python -m bench.pages.fit_baselines laptop/sliding --out baselines  # -> docs/assets/baselines-TASK.json; then tables.py

Graphs and heads that lie in the output folder already are not made again; ``--only exact-2-s0`` makes these heads alone
and scores nothing, so that several processes may share the work. Every fit has the same CPU seconds, and its best of
three tries (``recommit.train.head.METHODS``); checks and tries are chosen on held-out starts of
the training split, scores are of validation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from bench.pages.causes import chooser, inputs_of

from recommit.graph import files, score
from recommit.graph.episodes import play
from recommit.graph.score import GraphScorer
from recommit.horizon import rule_registry
from recommit.horizon.rule_registry import NamedRule
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices, Setting
from recommit.results import intervals
from recommit.train.head import METHODS
from recommit.train.heads import fitted, fitting
from recommit.train.heads.problem import HeadProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.graph.graph import CommitmentGraph

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
ACTION = 0.01
#: What an observation costs, in actions; ``MIDDLE`` is the one where every method is fitted.
RATIOS, MIDDLE = (2.0, 0.5, 1.0, 4.0), 2.0
#: Name -> method and what the head reads; the first are fitted at every price.
EVERYWHERE = {name: (name, "z+confidence") for name in ("exact", "ppo", "q", "hazard", "verifier")}
ONCE = {
    "paper": ("paper", "z+confidence"),
    "paper-z": ("paper", "z"),
    "exact-z": ("exact", "z"),
    "episode": ("episode", "z+confidence"),
    "branch": ("branch", "z+confidence"),
}
#: Rules without training.
PLAIN = ("head", "confidence-product", "confidence-least", "confidence-entropy", "entropy-jump", "reversal")
#: What is held against all others, the first that was taught.
AHEAD = {"conditioned": "world model, conditioned head", "world-model": "world model"}


@dataclass(frozen=True)
class Campaign:
    """A reproduction's folder, and where graphs and heads of its seeds go."""

    folder: Path
    out: Path
    seconds: float
    starts: int
    validation: int
    length: tuple[int, ...]
    augmentations: int
    #: Seeds that have every price; the others have ``MIDDLE`` alone.
    price_seeds: tuple[int, ...]

    @property
    def warm(self) -> bool:
        """Whose plans: warm starts where these are seen from several sides, else adaptive's."""
        return self.augmentations > 1

    def graph(self, seed: int, split: str) -> CommitmentGraph:
        """The graph of a seed's plans, made if it is not there."""
        out = self.out / f"{split}-s{seed}"
        many = self.starts if split == "train" else self.validation
        if not (out / files.MANIFEST).exists():
            run = self.folder / f"family/adaptive-s{seed}"
            if self.warm:
                run = next(path for name in (f"sft-s{seed}", "sft") if (path := self.folder / name).is_dir())
            words = [
                "--split",
                split,
                "--starts",
                str(many),
                "--features",
                "--augmentations",
                str(self.augmentations),
                "--quiet",
            ]
            words += ["--length", *map(str, self.length)] if self.length else []
            subprocess.run(["recommit", "graph", "build", str(run), *words, "--out", str(out)], check=True)
        graph = files.read(out)
        has = len(graph.starts), graph.source.get("augmentations", 1)
        if has != (wanted := (many, self.augmentations)):
            raise SystemExit(f"{out}: expected {wanted} starts and augmentations, got {has}; remove it")
        return graph

    def ratios(self, seed: int) -> tuple[float, ...]:
        """What an observation costs, in actions."""
        return RATIOS if seed in self.price_seeds else (MIDDLE,)

    def heads(self, seed: int) -> Iterator[tuple[str, str, str, Prices]]:
        """Name, method, what it reads and prices of every fit of a seed."""
        for ratio in self.ratios(seed):
            names = {**EVERYWHERE, **(ONCE if ratio == MIDDLE else {})}
            for name, (method, features) in names.items():
                yield f"{name}-{ratio:g}-s{seed}", method, features, Prices(ACTION, ACTION * ratio)

    def fit(self, seed: int, only: list[str]) -> None:
        """Those heads of a seed that are not there."""
        graph: CommitmentGraph | None = None
        problems: dict[str, HeadProblem] = {}
        for name, method, features, prices in self.heads(seed):
            out = self.out / name
            if (out / fitted.ABOUT).exists() or (only and name not in only):
                continue
            graph = graph or self.graph(seed, "train")
            if features not in problems:
                problems[features] = HeadProblem.of(graph, graph.head_depths, graph.usual_budgets, prices, features)
            learn, held = problems[features].over(prices=prices).split(0.25, seed)
            extent = fitting.Extent(0, self.seconds)
            fitted.write(fitting.best_of(learn, held, METHODS[method], seed, extent, print), out)
            print(name, flush=True)

    def scores(self, seed: int) -> list[dict[str, Any]]:
        """A row per setting and head, rule or constant: what it comes to, and how far the head ahead is from it."""
        graph = self.graph(seed, "validation")
        prices = [Prices(ACTION, ACTION * ratio) for ratio in self.ratios(seed)]
        settings = tuple(Setting(k, each) for k in graph.usual_budgets for each in prices)
        scorer, other = GraphScorer(graph, settings), GraphScorer(self.graph(seed, "train"), settings)
        entries = [rule_registry.named(f"fixed-{depth}") for depth in (1, 2, 4, 8)]
        entries += [rule_registry.named(name) for name in PLAIN if not (name == "head" and self.warm)]
        chosen = {one.name: score.best_thresholds(other, one)[0] if one.swept else {} for one in entries}
        policies = [
            (words, CommitPolicy.from_pretrained(self.folder / "family" / f"{part}-s{seed}").eval())
            for part, words in AHEAD.items()
            if (self.folder / "family" / f"{part}-s{seed}").is_dir()
        ]
        if not policies:
            raise SystemExit(f"{self.folder}: expected one of {', '.join(AHEAD)} of seed {seed} in family, got none")
        read = [(words, policy, inputs_of(policy, graph)) for words, policy in policies]
        rows = []
        for setting in settings:
            played = {
                words: chooser(policy, graph, setting.budget, setting.prices, inputs) for words, policy, inputs in read
            }
            for one in entries:
                rule = one.at(chosen[one.name][setting]) if one.swept else one
                played[one.name] = scorer.rules.chooser(rule)
            for name, rule in self._fitted(seed, setting):
                played[name] = scorer.rules.chooser(rule)
            rows += _rows(scorer, other, setting, played, seed)
        return rows

    def _fitted(self, seed: int, setting: Setting) -> Iterator[tuple[str, NamedRule]]:
        for name, _, _, prices in self.heads(seed):
            if prices == setting.prices and (self.out / name / fitted.ABOUT).exists():
                short = name.rsplit("-", 2)[0]
                yield short, fitted.rule(fitted.read(self.out / name), short)

    def fits(self, seeds: list[int]) -> dict[str, Any]:
        """What was tried for every head."""
        columns = ("tries", "updates", "value", "seconds")
        records = {
            name: json.loads((self.out / name / fitted.ABOUT).read_text())["record"]
            for seed in seeds
            for name, *_ in self.heads(seed)
            if (self.out / name / fitted.ABOUT).exists()
        }
        return {name: {key: record[key] for key in columns} for name, record in records.items()}


def _rows(
    scorer: GraphScorer, other: GraphScorer, setting: Setting, played: dict[str, Callable[..., Any]], seed: int
) -> list[dict[str, Any]]:
    """Every player's row; the first is held against the others, start by start."""
    ceiling = scorer.oracle(setting)
    depth = other.best_fixed(setting)
    constant = scorer.fixed(setting, depth)
    rows, first = [], None
    for name, choose in played.items():
        every = play(scorer.graph, scorer.graph.starts, setting.budget, choose)
        value = setting.prices.returns(*every.outcome())
        first = value if first is None else first
        solved, actions, looks = (float(column.mean()) for column in every.outcome())
        gain = float((value - constant).mean() / (ceiling - constant).mean())
        rows.append(
            {
                "seed": seed,
                "K": setting.budget,
                "ratio": setting.prices.observation / setting.prices.action,
                "rule": name,
                "solved": solved,
                "actions": actions,
                "looks": looks,
                "value": float(value.mean()),
                "gain": gain,
                "ends": [depth, float(constant.mean()), float(ceiling.mean())],
                "ahead": intervals.mean(first - value, scorer.graph.groups).values(),
            }
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="one puzzle of a reproduction: laptop/sliding")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--cpu-seconds", type=float, default=10.0, help="of every fit")
    parser.add_argument("--starts", type=int, default=4096, help="of the training split, a quarter of them held out")
    parser.add_argument("--validation", type=int, default=512, help="starts that are scored")
    parser.add_argument("--length", type=int, nargs="*", default=[], help="of both; as in the data if not said")
    parser.add_argument("--augmentations", type=int, default=1, help="with several, the plans are those of warm starts")
    parser.add_argument("--price-seeds", type=int, nargs="*", default=[0], help="those with every price")
    parser.add_argument("--only", nargs="+", default=[], help="fit these heads, and score nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    campaign = Campaign(
        arguments.folder,
        arguments.out,
        arguments.cpu_seconds,
        arguments.starts,
        arguments.validation,
        tuple(arguments.length),
        arguments.augmentations,
        tuple(arguments.price_seeds),
    )
    for seed in arguments.seeds:
        campaign.fit(seed, arguments.only)
    if arguments.only:
        return 0
    rows = [row for seed in arguments.seeds for row in campaign.scores(seed)]
    task = campaign.graph(arguments.seeds[0], "validation").task
    about = {"task": task, "seeds": arguments.seeds, "cpu_seconds": arguments.cpu_seconds}
    about |= {"starts": arguments.starts, "validation": arguments.validation, "augmentations": arguments.augmentations}
    value = {**about, "rows": rows, "fits": campaign.fits(arguments.seeds)}
    (ASSETS / f"baselines-{task.partition('-')[0]}.json").write_text(json.dumps(value, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
