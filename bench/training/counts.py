"""Kernels, tokens and bytes of a step of the preset ``paper`` on one of eight ranks, at an earlier commit and now.

    git worktree add ../before 9c467fb9 && ln -s $PWD/python/recommit/_core*.so ../before/python/recommit/
    python -m bench.training.counts ../before        # fills the table of docs/a100.md

Each commit's own code is counted, by today's counter. What is sent is that of an update of a tiny policy among eight
ranks without a network, by the recipe's engine.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.nn import functional as F
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: Pictures are encoded in groups of so many.
ROOT, RANKS, GROUP = Path(__file__).resolve().parents[2], 8, 8
SLIDING, SOKOBAN = {"sliding-3x3": 32, "sliding-4x4": 32}, {"sokoban-7x7": 64}
#: Recipe, stage, what differs, and states of each puzzle in an update of all ranks.
STEPS: dict[str, tuple[str, str, tuple[str, ...], dict[str, int]]] = {
    "warm start, 4 + 4 + 8 states": ("paper-joint", "sft", (), SLIDING | SOKOBAN),
    "RL sliding, 5 updates of 4 + 4": ("paper-sliding", "grpo", ("rollout.instances=32",), SLIDING),
    "RL Sokoban, 6 updates of 8": ("paper-sokoban", "grpo", (), SOKOBAN),
}
HEAD = "of one step and rank | kernels before | now | compiled | tokens before | now | MB per update before | now"
HEAD += " | by plain ranks | GiB before | now | run, low (m:ss) | high"


class Sent(TorchDispatchMode):
    """Numbers of the largest tensor of each collective operation."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            self.numbers += max(each.numel() for each in tree_leaves(args) if isinstance(each, torch.Tensor))
        return func(*args, **(kwargs or {}))


def sent(engine: Any, parts: int) -> float:
    """By an update of so many micro-batches, in multiples of the gradient."""
    from bench.training.precision import TASK, policy_of

    from recommit.policy.backbones.random_init import BACKBONES, make_backbone
    from recommit.runs import distributed
    from recommit.train.config import OptimConfig
    from recommit.train.trainer import make_engine

    team = (distributed.join if engine.kind == "deepspeed" else distributed.meet)("cpu")
    with tempfile.TemporaryDirectory() as folder:
        policy = policy_of(make_backbone(Path(folder) / "b", BACKBONES["tiny"]), team.device, rounded=False)
    states, actions = TASK.generate(1, seed=1).states, torch.zeros(1, 8, dtype=torch.long)
    own = make_engine(policy, OptimConfig(batch=RANKS * parts), engine, team, parts)
    with Sent() as count:
        for _ in range(parts):
            own.backward(own.run(lambda: sum(each.float().square().mean() for each in policy(TASK, states, actions))))
        own.step(1.0)
    return count.numbers / sum(p.numel() for p in policy.parameters() if p.requires_grad)


def now(recipe: str, stage: Any, changes: tuple[str, ...], shares: dict[str, int]) -> dict[str, Any]:
    """By an estimate of puzzles that learn together."""
    from recommit.estimate import EstimateOptions

    options = EstimateOptions(recipe, stage, tuple(shares), changes, gpus=RANKS)
    (found,), (config,) = options.estimates(), options.stages()
    step, gradient = found.phases[0], 4 * sum(found.trained.values())
    engines = {"sent": config.engine, "plain": replace(config.engine, kind="plain")}
    row = {name: gradient * sent(each, len(step.passes["learn"])) for name, each in engines.items()}
    row |= {"kernels": sum(step.kernels.values()), "compiled": sum(step.launches.values())}
    return row | {"tokens": step.tokens, "peak": found.memory.peak, "seconds": found.seconds}


def before(recipe: str, stage: Any, changes: tuple[str, ...], shares: dict[str, int]) -> dict[str, Any]:
    """By code that plans one puzzle at a time, each with passes of its own. Of adapters, which are float32, autocast
    makes another type where each is used; tensors without contents have no autocast."""
    names = ("estimate", "estimate.costs", "estimate.memory", "estimate.meta_model", "estimate.schedule")
    estimate, costs, memory, model, schedule = (import_module(f"recommit.{name}") for name in names)
    watch = runpy.run_path(str(ROOT / "python" / "recommit" / "policy" / "flop_counter.py"))["Watch"]
    linear, count, peaks, features = F.linear, Counter[str](), [], 0
    for number, (name, share) in enumerate(shares.items()):
        task, size = name.split("-")
        own = (*changes, f"optim.batch={share}")
        options = estimate.EstimateOptions(recipe, stage, task, (int(size[0]),), own, gpus=RANKS)
        ((config, puzzle),) = options.stages()
        shadow = model.Shadow(config, options.model, puzzle)
        policy, more = shadow.policy, len(shares) > 1  # gradients of other puzzles are there
        plan = schedule.schedule(config, RANKS, len(policy.config.depths), options.model.dtype)
        again = [replace(p, times=p.times + (more and p.kind == "learn")) for p in plan[0].passes]
        split = memory.Split(shadow, config, RANKS, cuda=True)
        found = costs._memory([replace(plan[0], passes=tuple(again)), *plan[1:]], shadow, split)
        features += found.resident["features"]
        peaks.append(found.peak - found.resident["features"])
        for parameter in (p for name, p in policy.named_parameters() if ".lora_" in name):
            parameter.data = parameter.data.float()
        shared, tokens = policy.prompts_cache.of(puzzle, puzzle.shape, 1).image_start, sum(shadow.tokens)
        cast = mock.patch.object(F, "linear", lambda x, weight, bias=None: linear(x, weight.to(x.dtype), bias))
        for p in plan[0].passes:
            groups = -(-p.states // GROUP) if p.kind == "encode" else 0
            count["tokens"] += 0 if groups else p.times * (shared + p.states * (tokens - shared))
            with model._kernels(), cast, torch.set_grad_enabled(p.kind == "learn"):
                policy.vision.features(puzzle, shadow._state, frozen=True)
                work = getattr(shadow, f"_{p.kind}")(replace(p, states=GROUP) if groups else p)
                once = (lambda loss=work: loss().backward()) if p.kind == "learn" else work
                once()  # what is made once, and gradients to which those of a second puzzle are added
                if not number:
                    policy.zero_grad(set_to_none=True)
                with watch() as counted:
                    once()
            policy.zero_grad(set_to_none=True)
            count["kernels"] += p.times * (groups or 1) * counted.kernels
    gradient = 4 * sum(p.numel() for p in shadow.trained)
    peak = max(peaks) + min(features, memory.FEATURES)
    return {**count, "peak": peak, "sent": gradient * sent(config.engine, len(shares))}


def table(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> str:
    """Of every step; shares are those of the kernels before."""
    from recommit.results.table import Grid
    from recommit.runs.progress import clock

    lines = []
    for name, was, row in zip(STEPS, old, new, strict=True):
        shares = (f"{row[each]:,} ({row[each] / was['kernels']:.0%})" for each in ("kernels", "compiled"))
        sizes = [f"{each / 1e6:.0f}" for each in (was["sent"], row["sent"], row["plain"])]
        sizes += [f"{each['peak'] / 2**30:.2f}" for each in (was, row)]
        counts = (f"{was['kernels']:,}", *shares, f"{was['tokens']:,}", f"{row['tokens']:,}")
        lines.append([name, *counts, *sizes, *map(clock, row["seconds"])])
    return Grid.of(HEAD, lines).markdown()


def main(words: list[str]) -> int:
    if words[:1] == ["--count"]:
        os.environ |= {"RANK": "0", "WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0"}
        torch.distributed.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())
        print(json.dumps([{"now": now, "before": before}[words[1]](*step) for step in STEPS.values()]))
        return 0
    from bench.pages import blocks

    parser = blocks.parser(__doc__)
    parser.add_argument("before", type=Path, help="a checkout of the earlier commit, with a compiled core")
    options = parser.parse_args(words)
    found = []
    for which, place in (("before", options.before.resolve()), ("now", ROOT)):
        command, paths = [sys.executable, __file__, "--count", which], f"{place}:{place / 'python'}"
        said = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True)
        found.append(json.loads(said.stdout.splitlines()[-1]))
    page = ROOT / "docs" / "a100.md"
    text = blocks.filled(page.read_text(encoding="utf-8"), "counts", lambda _name: table(*found))
    return blocks.write({page: text}, options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
