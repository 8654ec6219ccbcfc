"""Which small network is worth a laptop's time? Each is warm-started from nothing for as many seconds of processor time
as the others, on the same data, at its own learning rate, and asked on the same validation instances.

    python bench/training/backbones.py --seconds 100 --out lab [--puzzles sokoban] [--nets "conv 32 x 8"] [--csv FILE]

A short run says how long a step takes, then steps are chosen so that the rate
decays to zero at the end of the time. Solved: in percent, likeliest actions, at each depth under the loose budget of
the paper, and with 120 actions of one observation each (closed loop).
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import recommit
import recommit.data
from recommit.data import held_out
from recommit.data.spec import DataSpec
from recommit.runs.directory import best_policy
from recommit.train import config
from recommit.train.sft.trainer import train

#: Boxes and lengths as the paper has them; a test of 512 instances.
DATA: dict[str, dict[str, Any]] = {
    "sokoban": {
        "task": "sokoban", "size": 7, "generator": "reverse", "disjoint": "layouts", "count": 20000,
        "difficulties": [{"length": each, "boxes": boxes} for boxes in (1, 2, 3) for each in ([8, 17], [17, 32])],
    },
    "sliding": {"task": "sliding", "size": 3, "generator": "walk", "disjoint": "regions", "count": 10000,
                "difficulties": [{"length": [8, 24]}]},
}  # fmt: skip
CONV = [
    "model.backbone=conv:small", "model.shape.reach=4", "optim.batch=128", "optim.lr=1.5e-3", "optim.decoder_lr=1.5e-3",
]  # fmt: skip
DENSE = [*CONV, "targets.dense=2"]
#: Name -> changes to the recipe of the transformer. What is said of dense targets and reach is Sokoban's.
NETS: dict[str, list[str]] = {
    "transformer": [
        "model.backbone=random:small", "model.shape={}", "targets.dense=0", "optim.lr=1e-3", "optim.decoder_lr=1e-3",
    ],
    "conv 32 x 8": [*CONV, "targets.dense=0"],
    "conv 32 x 8, dense 1": [*CONV, "targets.dense=1"],
    "conv 32 x 8, dense 2": DENSE,
    "conv 32 x 8, dense 4": [*CONV, "targets.dense=4"],
    "conv 32 x 8, dense 2, z of its place alone": [*DENSE, "model.shape.reach=0"],
    "conv 32 x 8, dense 2, z of reach 2": [*DENSE, "model.shape.reach=2"],
    "conv 24 x 6, dense 2": [*DENSE, "model.shape.width=24", "model.shape.blocks=6"],
    "conv 48 x 6, dense 2": [*DENSE, "model.shape.width=48", "model.shape.blocks=6"],
    "conv 64 x 12, dense 2": [*DENSE, "model.backbone=conv:base"],
    "conv 32 x 8, dense 2, own states": [*DENSE, "targets.dagger=0.5"],
}  # fmt: skip
#: Those that differ where nothing is dense.
SLIDING = ("transformer", "conv 32 x 8", "conv 32 x 8, dense 2, z of its place alone", "conv 24 x 6, dense 2",
           "conv 64 x 12, dense 2")  # fmt: skip
CALIBRATION, INSTANCES = 40, 512


def plan(puzzle: str, changes: list[str], steps: int) -> config.SftConfig:
    """The laptop's recipe, changed, without validation on the way."""
    own = [f"optim.steps={steps}", "run.threads=1", "run.tensorboard=false", "validation.instances=0"]
    made: config.SftConfig = config.load(f"laptop-{puzzle}", [*changes, *own])
    return made


def seconds_of(call: Any) -> float:
    """Of processor time."""
    began = time.process_time()
    call()
    return time.process_time() - began


def solved(policy: recommit.CommitPolicy, task: recommit.Puzzle, starts: Any, depth: int, budget: int) -> Any:
    """Which instances are solved by plans of one depth."""
    now, done = starts.copy(), task.is_solved(starts)
    for _ in range(budget):
        who = np.flatnonzero(~done)
        if not len(who):
            break
        states = np.ascontiguousarray(now[who])
        plans = policy.act(task, states, depth=depth)[1]
        outcome = task.execute(states, plans, np.full(len(who), depth, np.int32), threads=1)
        now[who], done[who] = outcome.states, outcome.solved
    return done


def measure(name: str, puzzle: str, data: Path, out: Path, seconds: float) -> dict[str, Any]:
    """Train one network, and play it."""
    changes = [each for each in NETS[name] if puzzle == "sokoban" or "dense" not in each]
    name = name if puzzle == "sokoban" else name.replace(", dense 2", "")
    folder = "".join(c if c.isalnum() else "-" for c in f"{puzzle}-{name}")
    run = out / folder
    short = [out / f"{folder}-{number}" for number in range(3)]  # the first one pays for what is imported
    spent = [
        seconds_of(lambda each=each, steps=steps: train(plan(puzzle, changes, steps), data, each, quiet=True))
        for each, steps in zip(short, (1, 1, 1 + CALIBRATION), strict=True)
    ]
    made = plan(puzzle, changes, max(1, round(seconds * CALIBRATION / (spent[2] - spent[1]))))
    took = seconds_of(lambda: train(made, data, run, quiet=True))
    policy = recommit.CommitPolicy.from_pretrained(best_policy(run))
    spec = DataSpec.read(data / "recipe.json")
    task, starts = spec.puzzle(), held_out.starts(spec, "validation", INSTANCES, ())
    states, budget = np.ascontiguousarray(starts.states), 15 if puzzle == "sliding" else 6
    boxes = np.isin(states, (3, 4)).sum(axis=(1, 2))
    row: dict[str, Any] = {
        "puzzle": puzzle, "network": name, "parameters": sum(p.numel() for p in policy.parameters()),
        "CPU s": round(took), "states": made.optim.steps * made.optim.batch,
        "states per CPU s": round(made.optim.steps * made.optim.batch / took),
    }  # fmt: skip
    for depth in (1, 2, 4, 8):
        row[f"h={depth}"] = round(100 * solved(policy, task, states, depth, budget).mean(), 1)
    closed = solved(policy, task, states, 1, 120)
    row["closed loop"] = round(100 * closed.mean(), 1)
    if puzzle == "sokoban":
        row["by boxes"] = " / ".join(f"{100 * closed[boxes == many].mean():.0f}" for many in (1, 2, 3))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=100.0, help="of processor time, each")
    parser.add_argument("--out", type=Path, required=True, help="an empty folder")
    parser.add_argument("--puzzles", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--nets", nargs="+", choices=NETS, default=list(NETS))
    parser.add_argument("--csv", type=Path, help="where the table is written, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for puzzle in arguments.puzzles:
        spec = DataSpec.from_dict({**DATA[puzzle], "validation": INSTANCES, "ties": "random"})
        recommit.data.build(spec, data := arguments.out / f"data-{puzzle}")
        for name in arguments.nets:
            if puzzle == "sliding" and name not in SLIDING:
                continue
            rows.append(measure(name, puzzle, data, arguments.out, arguments.seconds))
            print(json.dumps(rows[-1]), flush=True)
    if arguments.csv:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
