"""How many states a warm start learns from and a policy decides on, in CPU time of one core.

    python bench/training/states.py [--rounds 3] [--batch 128] [--json results.json]

The yardstick, in the same run with the same weights: the stock transformers model, one pass per (state, depth) sample,
with pixels from pictures. Both losses must be the same number before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F

import recommit
from recommit.data.labels import label
from recommit.data.rows import expand
from recommit.runs.distributed import Team
from recommit.train import initial_policy, targets
from recommit.train.config import TargetConfig, load
from recommit.train.engine.base import Engine
from recommit.train.optim import parameter_groups

TASKS = {"sliding 3x3": recommit.Sliding(3), "sokoban 6x6, 1 box": recommit.Sokoban(6, 1)}
CONFIG = TargetConfig(kind="hard", paths="dataset", weighting="action")


def cpu(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def stock_loss(policy, task, rows):
    """Every sample as a prompt of its own, through transformers' own forward."""
    expanded = expand(rows)
    backbone, model = policy.backbone, policy.backbone.base
    states = rows.states[expanded.row]
    crop = policy.vision.crops(task)
    pixels, grid = task.patches(states, crop=crop)
    tokens = policy.prompts_cache.of(task, states.shape[1:]).tokens.repeat(len(states), 1)
    z = model(
        input_ids=tokens,
        pixel_values=torch.from_numpy(pixels),
        image_grid_thw=torch.from_numpy(grid),
        mm_token_type_ids=(tokens == backbone.config.image_token_id).int(),
        use_cache=False,
    ).last_hidden_state[:, -1]
    depth = torch.from_numpy(expanded.depth).long()
    committed = torch.arange(8) < depth[:, None]
    actions = torch.from_numpy(expanded.actions).long() * committed
    logits = policy.decoder(z, actions[:, :7], policy.task_index(task))
    each = F.cross_entropy(logits.flatten(0, 1), actions.flatten(), reduction="none").view(-1, 8)
    return (each * committed).sum() / committed.sum()


def our_loss(policy, task, rows):
    """As ``recommit train sft`` does it, targets included."""
    batch = targets.make(task, rows, CONFIG, seed=0, first=0)
    return targets.sft_loss(policy, task, batch, CONFIG, targets.total_weight(batch, CONFIG))[0]


def step(engine, loss):
    engine.backward(loss())
    engine.step(0.0)  # the weights stay, so that every round computes the same


def measure(task, batch, rounds, folder):
    plan = load("laptop-sliding")
    policy = initial_policy.new_policy(plan.model, folder, 0, Team())
    policy.train_only(task, depth_head=False)
    rows = label(task, task.generate(batch, seed=1, length=(8, 20)).states, ties="random")
    ours, stock = our_loss(policy, task, rows).item(), stock_loss(policy, task, rows).item()
    assert abs(ours - stock) < 1e-4 * stock, f"not the same loss: {ours} and {stock}"
    engine = Engine(parameter_groups(policy, plan.optim), plan.optim, Team())
    looks = task.generate(1024, seed=2, length=(8, 20)).states
    rounds_of: dict[str, list[float]] = {"ours": [], "stock": [], "act": []}
    for _ in range(rounds):
        rounds_of["ours"].append(cpu(lambda: step(engine, lambda: our_loss(policy, task, rows))))
        rounds_of["stock"].append(cpu(lambda: step(engine, lambda: stock_loss(policy, task, rows))))
        rounds_of["act"].append(cpu(lambda: policy.act(task, looks)))
    best = {name: min(seconds) for name, seconds in rounds_of.items()}
    return {
        "sft_states_per_second": batch / best["ours"],
        "stock_states_per_second": batch / best["stock"],
        "ratio": best["stock"] / best["ours"],
        "decisions_per_second": len(looks) / best["act"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: measure(task, options.batch, options.rounds, Path(folder)) for name, task in TASKS.items()}
    for name, row in figures.items():
        print(
            f"{name:<20} SFT {row['sft_states_per_second']:7,.0f} states/s, stock "
            f"{row['stock_states_per_second']:6,.0f} "
            f"({row['ratio']:.1f}x); {row['decisions_per_second']:7,.0f} decisions/s"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
