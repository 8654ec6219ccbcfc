"""Does what the optimiser does arrive in the policy? A tiny policy with LoRA on a bfloat16 backbone learns at the rates
of the paper's reinforcement, by every engine; then its weights, as they are saved, are held against the optimiser's.

    python bench/training/precision.py --steps 500

prints, for each engine and group of weights, the share of weights that changed and the cosine between the policy's move
and the optimiser's. ``--engines rounded`` trains in bfloat16 throughout, as DeepSpeed's bf16 mode does: what was wrong.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import recommit
from recommit.horizon.sweep.programs import load as load_class
from recommit.policy.backbones.backbone import given_backbone
from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.runs import distributed
from recommit.train import optim as optimiser
from recommit.train.config import EngineConfig, load
from recommit.train.grpo.config import GrpoConfig
from recommit.train.trainer import make_engine

TASK = recommit.Sliding(3)
ENGINES: dict[str, dict[str, Any]] = {
    "plain": {"kind": "plain"},
    **{f"ZeRO {stage}": {"kind": "deepspeed", "stage": stage} for stage in (0, 1, 2, 3)},
}
#: The planted defect, which recipes and policies refuse: training in bfloat16.
ROUNDED = "rounded"


def policy_of(folder: Path, device: torch.device, *, rounded: bool) -> CommitPolicy:
    """Adapters and heads with numbers in them, as after a warm start."""
    small = PolicyConfig(
        prompts=("bare-v1", "bare-v1"),
        lora=LoraConfig(dropout=0.0),
        decoder=DecoderConfig(width=32, layers=1, heads=4, ffn=64),
    )
    policy: CommitPolicy = CommitPolicy.from_backbone(folder, small, dtype=torch.bfloat16, device=device).eval()
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in policy.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=noise).to(parameter))
    policy.train_only(TASK, depth_head=True)
    if rounded:
        policy.to(torch.bfloat16)
    return policy


def moves(name: str, folder: Path, steps: int, team: distributed.Team) -> list[dict[str, Any]]:
    """Train by an engine for some steps and say of every group which share of its weights is not what it was, and the
    cosine between the policy's move and the optimiser's."""
    recipe: GrpoConfig = load("paper-sliding", (), GrpoConfig, "grpo")
    optim = replace(recipe.optim, steps=steps, batch=2)  # at a constant rate
    policy = policy_of(folder, team.device, rounded=name == ROUNDED)
    states = TASK.generate(64, seed=1, length=(4, 20)).states
    actions = (
        torch.from_numpy(TASK.optimal_actions(states).argmax(axis=1)).long()[:, None].expand(-1, 8).to(team.device)
    )
    groups = optimiser.parameter_groups(policy, optim)
    engine = make_engine(policy, optim, EngineConfig(**ENGINES.get(name, ENGINES["ZeRO 2"])), team, 1)
    start = [engine.full(group.parameters) for group in groups]

    def loss(rows: slice) -> torch.Tensor:
        depths, plans = policy(TASK, states[rows], actions[rows])
        wanted = torch.nn.functional.cross_entropy(plans.float().flatten(0, 1), actions[rows].flatten())
        return wanted - depths.float().log_softmax(-1)[:, 2].mean()

    for step in range(steps):
        begin = 2 * (step % 32)
        engine.backward(engine.run(partial(loss, slice(begin, begin + 2))))
        engine.step(1.0)
    found = []
    with engine.whole(policy):
        for group, before in zip(groups, start, strict=True):
            own = flat(p.detach().float() for p in group.parameters) - flat(before)
            true = flat(engine.full(group.parameters)) - flat(before)
            cosine = torch.nn.functional.cosine_similarity(own, true, dim=0)
            changed = float((own != 0).float().mean())
            found.append({"engine": name, "group": group.name, "changed": changed, "cosine": float(cosine)})
    engine.close()
    return found


def flat(tensors: Any) -> torch.Tensor:
    """One vector, in float64."""
    return torch.cat([t.flatten().double() for t in tensors])


@contextmanager
def rounding() -> Iterator[None]:
    """Train in bfloat16 by DeepSpeed's bf16 mode."""
    from recommit.train.engine import base, deepspeed

    rounded = lambda *of: {**base.deepspeed_settings(*of), "bf16": {"enabled": True}}
    with (
        mock.patch.object(optimiser, "TRAINED", (torch.bfloat16,)),
        mock.patch.object(deepspeed, "deepspeed_settings", rounded),
    ):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--backbone", type=Path, help="a folder in the place of tiny random weights")
    parser.add_argument("--backbone-class", metavar="FILE:NAME", help="what reads it")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--out", type=Path, help="folder for precision.json")
    options = parser.parse_args()
    if importlib.util.find_spec("deepspeed") is None:
        options.engines = ["plain"]
    team = distributed.join(options.device) if options.engines != ["plain"] else distributed.meet(options.device)
    own = load_class("backbone-class", options.backbone_class) if options.backbone_class else None
    with tempfile.TemporaryDirectory() as folder, given_backbone(None, own):
        backbone = options.backbone or make_backbone(Path(folder) / "backbone", BACKBONES["tiny"])
        print("| engine | weights | changed | cosine |\n|---|---|---:|---:|")
        found: list[dict[str, Any]] = []
        for name in options.engines:
            with rounding() if name == ROUNDED else nullcontext():
                moved = moves(name, backbone, options.steps, team)
            for move in moved:
                changed, cosine = f"{100 * move['changed']:.1f} %", f"{move['cosine']:.4f}"
                print(f"| {move['engine']} | {move['group']} | {changed} | {cosine} |", flush=True)
            found += moved
    least = {name: min(move[name] for move in found) for name in ("changed", "cosine")}
    print(f"least of all: {min(least.values()):.4f}")
    if options.out:
        written = {"engines": len(options.engines), **least, "moves": found}
        (options.out / "precision.json").write_text(json.dumps(written, indent=2) + "\n")
    distributed.end(0)


if __name__ == "__main__":
    main()
