"""How many kernels a pass of a policy of the form of Qwen2.5-VL-7B with LoRA starts, and how long a CPU takes to start
them. All 28 layers are there, but 32 numbers wide, so that next to nothing is computed. A GPU done sooner would wait.

    python bench/training/kernels.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import recommit
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES, config, make_tokenizer
from recommit.policy.config import PolicyConfig
from recommit.policy.policy import CommitPolicy

TASK = recommit.Sliding(3)


class Kernels(TorchDispatchMode):  # type: ignore[misc]
    """Counts operations that write anything: views do not."""

    count = 0

    def __torch_dispatch__(self, call: Any, _types: Any, arguments: Any = (), named: Any = None) -> Any:
        views = [each.alias_info is not None and not each.alias_info.is_write for each in call._schema.returns]
        self.count += not any(views) and "view" not in str(call)
        return call(*arguments, **(named or {}))


def policy_of(version: str) -> CommitPolicy:
    """Deep and thin, in bfloat16."""
    from transformers import Qwen2_5_VLModel

    thin = replace(BACKBONES["7b"], width=32, heads=2, kv_heads=2, ffn=64, vocabulary=272, vision_layers=1,
                   vision_width=16, vision_heads=1, vision_ffn=32, full_attention=(0,))  # fmt: skip
    tokenizer = make_tokenizer()
    model = Qwen2_5_VLModel(config(thin, tokenizer)).to(torch.bfloat16)
    asked = PolicyConfig(prompts=(f"sliding-{version}", f"sokoban-{version}"))
    return CommitPolicy(QwenBackbone(model, tokenizer), asked)


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Median of CPU time."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    states, actions = TASK.generate(1, seed=0, length=(8, 20)).states, torch.zeros(1, 8, dtype=torch.long)
    print("| prompt | pass | kernels | CPU time |\n|---|---|---:|---:|")
    for version in ("v1", "v2"):
        policy = policy_of(version)

        def learn(policy: CommitPolicy = policy) -> None:
            sum(logits.sum() for logits in policy(TASK, states, actions)).backward()

        def look(policy: CommitPolicy = policy) -> None:
            with torch.no_grad():
                policy(TASK, states, actions)

        for name, recompute, call in (
            ("an observation", False, look),
            ("learning, activations kept", False, learn),
            ("learning, activations computed again", True, learn),
        ):
            policy.backbone.recompute = recompute
            policy.train(call is learn)
            call()
            with Kernels() as kernels:
                call()
            took = seconds(call, options.repeats)
            print(f"| {version} | {name} | {kernels.count:,} | {1000 * took:.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
