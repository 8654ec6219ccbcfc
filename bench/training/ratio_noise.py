"""Does the clip act on rounding? One step of GRPO at learning rate 0, in several batches: every ratio should be 1.

    python bench/training/ratio_noise.py [--width 1024] [--prompt v2]

prints the largest |ratio - 1|, and the share of ratios that the paper's clip of 0.05 cuts off, on a backbone in
bfloat16 and in float32: with old log probabilities as they were sampled, by the kernels of the learning passes and by
other ones (on a GPU kernels depend on the size of a pass; on a CPU another attention stands for that); and with those
that the learning passes compute.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from recommit.train.grpo.puzzle import PuzzleLearner
from torch.nn.attention import SDPBackend, sdpa_kernel

from recommit.data import DataSpec, Difficulty, build
from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import LoraConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.train.config import load
from recommit.train.grpo import trainer
from recommit.train.grpo.batch import GrpoBatch
from recommit.train.grpo.config import GrpoConfig

STILL = ("optim.lr=0", "optim.decoder_lr=0", "optim.depth_head_lr=0", "optim.steps=1", "engine.kind=plain")
QUIET = ("validation.instances=0", "run.tensorboard=false", "run.device=cpu", "run.log_every=1")


def policy_of(folder: Path, dtype: torch.dtype, options: argparse.Namespace) -> Path:
    """Adapters and heads with numbers in them, as after a warm start, on a backbone of random weights."""
    shape = replace(BACKBONES["tiny"], width=options.width, layers=options.layers, heads=8, kv_heads=2,
                    ffn=11 * options.width // 4)  # fmt: skip
    backbone = make_backbone(folder / "backbone", shape)
    config = PolicyConfig(lora=LoraConfig(), prompts=(f"sliding-{options.prompt}", f"sokoban-{options.prompt}"))
    policy = CommitPolicy.from_backbone(backbone, config, dtype=dtype)
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in policy.parameters():
            if parameter.requires_grad:
                parameter.add_(options.noise * torch.randn(parameter.shape, generator=noise))
    return policy.save_pretrained(folder / "policy")


def step(policy: Path, data: Path, out: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What a run says of its only step."""
    sizes = [
        f"optim.batch={options.batch}",
        f"optim.micro_batch={options.micro_batch}",
        f"rollout.instances={options.instances}",
    ]
    config = load("paper-sliding", [*STILL, *QUIET, *sizes], GrpoConfig, "grpo")
    assert trainer.train(config, policy, out, data=data, quiet=True) == 0
    line: dict[str, Any] = json.loads((out / "metrics.jsonl").read_text())
    return line


def by_other_kernels(self: PuzzleLearner, step: int) -> Any:
    """Sample with attention as plain products, which rounds otherwise."""
    with sdpa_kernel(SDPBackend.MATH):
        return COLLECT(self, step)


def as_sampled(_self: PuzzleLearner, batch: GrpoBatch, _portions: Any) -> GrpoBatch:
    """Old log probabilities as they were before."""
    return batch


COLLECT, RECOMPUTE = PuzzleLearner.collect, PuzzleLearner.recompute_old
#: Row -> how commitments are sampled, and where old log probabilities come from.
WAYS: dict[str, tuple[Any, Any]] = {
    "sampled, same kernels": (COLLECT, as_sampled),
    "sampled, other kernels": (by_other_kernels, as_sampled),
    "of the learning passes": (by_other_kernels, RECOMPUTE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--prompt", default="v1")
    parser.add_argument("--noise", type=float, default=0.05, help="what is added to adapters and heads")
    parser.add_argument("--instances", type=int, default=4)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--micro-batch", type=int, default=1)
    options = parser.parse_args()
    print("| backbone | old log probabilities | largest \\|ratio - 1\\| | clipped | entropy of actions |")
    print("|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        build(DataSpec("sliding", (3, 3), (Difficulty((8, 20)),), count=60, seed=0), place / "data")
        for dtype in (torch.bfloat16, torch.float32):
            kind = str(dtype).removeprefix("torch.")
            policy = policy_of(place / kind, dtype, options)
            for number, (way, (collect, old)) in enumerate(WAYS.items()):
                with mock.patch.multiple(PuzzleLearner, collect=collect, recompute_old=old):
                    line = step(policy, place / "data", place / f"{kind}-{number}", options)
                print(
                    f"| {kind} | {way} | {line['max_ratio_deviation']:.1g} | {100 * line['clipped']:.2f} % | "
                    f"{line['entropy_actions']:.2f} |", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
