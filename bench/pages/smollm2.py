"""Do trained weights help where a board is text: ``python -m bench.pages.smollm2 RUNS [--hours 3]``.

Trains and plays what docs/pretrained.md says and docs/assets/tables/smollm2.csv does not have yet, on one thread,
within some CPU-hours; every finished run adds its rows. RUNS may be lost: rows stay, and the run under way begins anew.
It needs what docs/examples/smollm2.py needs. Without RUNS it writes the table of the page from the rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from bench.pages import blocks
from bench.pages.verdict import packed, unpacked

from recommit.cli import main as recommit
from recommit.data import held_out
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, play
from recommit.horizon.sweep.programs import load
from recommit.policy.policy import CommitPolicy
from recommit.reproduce import preset
from recommit.results.table import Grid, Results, best, number, spread
from recommit.runs.directory import best_policy

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS, TABLE = DOCS / "assets" / "tables" / "smollm2.csv", DOCS / "results" / "smollm2.csv"
MAKE, CLASS = (f"{DOCS}/examples/{name}" for name in ("smollm2.py:make", "text_backbone.py:Llama"))
DATA = (
    "--task sliding --size 3 --length 8 24 --count 10000 --validation 512 --test 1024 --ties random --disjoint regions"
)
INSTANCES, VALIDATION, BUDGET, DEPTHS, BATCH = 1024, 256, 15, (1, 2, 4, 8), 32
#: States of a pilot, with seed 0 alone, which chooses the trunk's learning rate, and of a run.
PILOT, WHOLE, SEEDS = 1920, 10240, (0, 1)
RATES = {"lora": (3e-4, 1e-3, 3e-3), "whole": (1e-4, 3e-4, 1e-3)}
ARMS = (("pretrained", "lora"), ("random", "lora"), ("random", "whole"))
COLUMNS = ("trunk", "trained", "rate", "states", "seed", "loss", "optimal", "cpu_seconds", "agent", "outcomes")
Rows = list[dict[str, Any]]


class Run(NamedTuple):
    """One policy."""

    trunk: str
    trained: str
    rate: float
    states: int
    seed: int

    def rows(self, runs: Path) -> Rows:
        """Train, or go on, and play. Only what was not interrupted has a time."""
        seed, steps = None if self.trunk == "pretrained" else self.seed, self.states // BATCH
        place, out = runs / f"{self.trunk}-{seed}", runs / "-".join(map(str, self))
        if not place.is_dir():
            shutil.rmtree(new := runs / "making", ignore_errors=True)
            load("make", MAKE)(new, seed).rename(place)
        begun = None if out.exists() else time.process_time()
        lora = "{rank: 16, alpha: 32, dropout: 0.0}" if self.trained == "lora" else "null"
        optim = f"steps: {steps}, batch: {BATCH}, lr: {self.rate}, decoder_lr: 1.5e-3, warmup: {steps // 16}"
        given = f"--backbone {place} --backbone-class {CLASS} --threads 1 --seed {self.seed} --out {out} --set".split()
        changes = [f"model.policy.lora={lora}", f"optim={{{optim}}}", "run.tensorboard=false", "run.keep=1"]
        changes += [
            f"validation={{instances: {VALIDATION}, every: {steps}, budget: 1}}",
            "run.save_every=80",
            "run.log_every=20",
        ]
        if recommit(["train", "sft", "--recipe", "laptop-sliding", "--data", f"{runs}/data", *given, *changes]):
            raise RuntimeError(f"{out}: not trained")
        lines = map(json.loads, (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
        found = [line["validation"] for line in lines if "validation" in line][-1]
        ends = {"": ""} if self.states == PILOT else played(best_policy(out), place)
        seconds = "" if begun is None else round(time.process_time() - begun, 1)
        own = {**self._asdict(), "loss": found["loss"], "optimal": found["optimal"], "cpu_seconds": seconds}
        return [{**own, "agent": agent, "outcomes": each} for agent, each in ends.items()]


def played(saved: Path, place: Path) -> dict[str, str]:
    """How the test boards end at every fixed depth; and ``first``: is the first action at the start optimal?"""
    spec = preset.line(f"data build {DATA} --out data", Path()).options.spec()
    policy = CommitPolicy.from_pretrained(saved, backbone=place, backbone_class=load("class", CLASS)).eval()
    task, states = spec.puzzle(), held_out.starts(spec, "test", INSTANCES, ()).states
    graph, every = PolicyGraph(policy, task, DEPTHS), np.arange(len(states))
    nodes = graph.nodes(states)
    ends = {str(depth): packed(*play(graph, nodes, BUDGET, always(graph, depth)).outcome()) for depth in DEPTHS}
    right = task.optimal_actions(states)[every, graph.plans[nodes].reshape(len(every), -1)[:, 0]]
    return {"first": packed(right, 0 * every, 0 * every), **ends}


def read() -> Rows:
    return list(csv.DictReader(ROWS.read_text(encoding="utf-8").splitlines()))


def wanted(rows: Rows) -> list[Run]:
    """What the rows lack: pilots, and after them the runs, at the rate of the least loss in validation."""
    have = {tuple(row[name] for name in Run._fields): row for row in rows}
    is_there, runs = lambda run: tuple(map(str, run)) in have, list[Run]()
    for arm in ARMS:
        pilots = [Run(*arm, rate, PILOT, 0) for rate in RATES[arm[1]]]
        losses = {run.rate: -float(have[tuple(map(str, run))]["loss"]) for run in pilots if is_there(run)}
        runs += [*pilots, *(Run(*arm, best(losses) or 0.0, WHOLE, seed) for seed in SEEDS)]
    return sorted((run for run in runs if not is_there(run)), key=lambda run: (run.states, run.seed))


def table(rows: Rows) -> str:
    """Every run, with intervals over its boards, and the pretrained trunk minus it, paired by board."""
    rows = [{**row, "arm": f"{row['trunk']} {row['trained']}"} for row in rows if row["states"] == str(WHOLE)]
    parts, lines, boards = [], [], np.arange(INSTANCES)
    for row in rows:
        agent, budget, seed = (np.full(INSTANCES, each) for each in (row["arm"] + row["seed"], row["agent"], 0))
        ends = dict(zip(("solved", "actions"), unpacked(row["outcomes"]), strict=False))
        parts.append(Results(agent, budget, seed, boards, boards, ends))
    found: Any = Results.joined(parts) if parts else None
    for row in (row for row in rows if row["agent"] == "first"):
        own, other = (arm + row["seed"] for arm in (row["arm"], " ".join(ARMS[0])))
        cells = [row[name] for name in ("arm", "rate", "seed", "optimal", "loss")]
        for what in ("first", *map(str, DEPTHS)):
            actions = "" if what == "first" else f" at {number(found.mean(own, what, 'actions').mean)}"
            apart = None if own == other else found.difference(other, own, what, "solved")
            cells += [spread(found.mean(own, what, "solved"), 1, 100) + actions, spread(apart, 1, 100, sign=True)]
        lines.append(cells)
    head = ["first action optimal", *(f"solved at depth {depth}" for depth in DEPTHS)]
    head = [f"{name}{other}" for name in head for other in ("", ", pretrained minus it")]
    return Grid.of(("arm", "rate", "seed", "optimal in validation", "loss", *head), lines).csv()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="where runs are trained; none: write the table of the page")
    parser.add_argument("--hours", type=float, default=3.0, help="CPU-hours after which no further run begins")
    arguments = parser.parse_args()
    if arguments.runs is None:
        blocks.write({TABLE: table(read())}, check=False)
        return
    torch.set_num_threads(1)
    runs = arguments.runs.absolute()
    if not (runs / "data").is_dir() and recommit(["data", "build", *DATA.split(), "--out", f"{runs}/data"]):
        raise RuntimeError(f"{runs}: no data")
    while (missing := wanted(read())) and time.process_time() < 3600 * arguments.hours:
        rows = missing[0].rows(runs)
        with ROWS.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(rows)
        shutil.rmtree(runs / "-".join(map(str, missing[0])))
        print(f"{missing[0]}: {len(missing) - 1} to do, {time.process_time() / 3600:.2f} CPU-hours", flush=True)


if __name__ == "__main__":
    main()
