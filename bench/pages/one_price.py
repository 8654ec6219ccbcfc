"""One head for every price beside heads that learned one price alone -> docs/assets/heads-prices.json.

recommit graph build FAMILY/adaptive-s0 --split validation --starts 512 --length 8 20 --features --out validation-s0
recommit graph build FAMILY/adaptive-s0 --split train --starts 4096 --length 8 20 --features --out train-s0
python -m bench.pages.one_price laptop/sliding --graphs baselines --out heads   # then python -m bench.pages.tables

The folder is one puzzle of a reproduction with world models and conditioned heads. Graphs are ``validation-sSEED`` and
``train-sSEED``. A head for one price reads what the head for all reads. One that is there already is not taught again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from bench.pages.causes import chooser, inputs_of

from recommit.graph import files
from recommit.graph.episodes import play
from recommit.graph.score import GraphScorer
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

OUT = Path(__file__).resolve().parents[2] / "docs" / "assets" / "heads-prices.json"
#: What an action and an observation cost.
PRICES = (*(Prices(0.01, 0.01 * ratio) for ratio in (0.125, 0.5, 1.0, 2.0, 4.0)), Prices())
ALL, ONE = "conditioned head", "one head per price"


def taught(world_model: Path, graph: Path, prices: Prices, seed: int, out: Path, z: bool) -> Path:
    """The head that learns these prices alone."""
    if not (out / "config.json").exists():
        words = [
            *(["--features", "z+conditioned"] if z else []),
            "--one-price",
            "--price-action",
            str(prices.action),
            "--price-observation",
            str(prices.observation),
        ]
        call = ["recommit", "train", "head", str(graph), "--policy", str(world_model), *words, "--quiet"]
        subprocess.run([*call, "--seed", str(seed), "--out", str(out)], check=True)
    return out


def heads(folder: Path, graphs: Path, out: Path, seed: int) -> Iterator[tuple[str, Prices, Path]]:
    """Name, price and folder of every head of a seed."""
    family = folder / "family"
    z = CommitPolicy.from_pretrained(family / f"conditioned-s{seed}").config.head.features == "z+conditioned"
    for prices in PRICES:
        yield ALL, prices, family / f"conditioned-s{seed}"
        own = out / f"one-{prices.action:g}-{prices.observation:g}-s{seed}"
        yield ONE, prices, taught(family / f"world-model-s{seed}", graphs / f"train-s{seed}", prices, seed, own, z)


def rows(folder: Path, graphs: Path, out: Path, seed: int) -> list[dict[str, Any]]:
    """What every head of a seed comes to on validation starts, with every number of observations."""
    graph = files.read(graphs / f"validation-s{seed}")
    budgets = graph.usual_budgets
    court = GraphScorer(graph, tuple(Setting(k, prices) for k in budgets for prices in PRICES))
    result, inputs = [], None
    for name, prices, place in heads(folder, graphs, out, seed):
        policy = CommitPolicy.from_pretrained(place).eval()
        inputs = inputs or inputs_of(policy, graph)  # all heads of a seed go by the same world model
        for budget in budgets:
            setting = Setting(budget, prices)
            played = play(graph, graph.starts, budget, chooser(policy, graph, budget, prices, inputs))
            solved, actions, looks = (float(column.mean()) for column in played.outcome())
            value, most = prices.returns(solved, actions, looks), float(court.oracle(setting).mean())
            least = float(court.fixed(setting, court.best_fixed(setting)).mean())
            about = {"head": name, "seed": seed, "K": budget, "action": prices.action, "look": prices.observation}
            figures = {"solved": solved, "actions": actions, "looks": looks, "value": value}
            result.append({**about, **figures, "gain": (value - least) / (most - least)})
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="one puzzle of a reproduction: laptop/sliding")
    parser.add_argument("--graphs", type=Path, required=True, help="the folder of validation-s0, train-s0, ...")
    parser.add_argument("--out", type=Path, required=True, help="of heads for one price")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    words = parser.parse_args()
    torch.set_num_threads(1)
    every = [row for seed in words.seeds for row in rows(words.folder, words.graphs, words.out, seed)]
    value = {"task": "prices", "split": "validation starts, sliding 3x3", "seeds": words.seeds, "rows": every}
    OUT.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
