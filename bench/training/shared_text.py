"""What it saves to compute the text before the picture once: forward and backward passes through decoder layers of the
shapes of Qwen2.5-VL-7B with LoRA, on the same states, with the published prompt (picture first), with the prompt that
has its text first in whole sequences, and with that text packed.

    python bench/training/shared_text.py --layers 3 --states 8 --out shared-text.json
    python bench/training/shared_text.py --apart

``--apart`` prints instead how far z and gradients in bfloat16 are from those of whole sequences, and how far these are
from float32.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from measured_step import counter

import recommit
from recommit.estimate.meta_model import PublishedTokenizer
from recommit.policy.backbones import transformer
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES, config, make_tokenizer
from recommit.policy.config import LoraConfig
from recommit.policy.lora import add_lora
from recommit.policy.prompt import load_prompt

TASKS = {"sliding 3x3": ("sliding", 3, 3), "Sokoban 7x7": ("sokoban", 5, 5)}
#: Name -> prompt, and from how many tokens on a text is packed.
WAYS = {
    "picture first": ("v1", 10**9),
    "text first, whole": ("v2", 10**9),
    "text first, packed": ("v2", transformer.SHARED),
}


def backbone(layers: int, dtype: torch.dtype) -> QwenBackbone:
    """Random weights; the tokens are as many as the published tokenizer makes."""
    from transformers import Qwen2_5_VLModel

    torch.manual_seed(0)
    about = config(replace(BACKBONES["7b"], layers=layers, vision_layers=1, full_attention=(0,)), make_tokenizer())
    made = QwenBackbone(
        Qwen2_5_VLModel(about).to(dtype), PublishedTokenizer(QwenBackbone.markers, about.image_token_id)
    )
    add_lora(made, LoraConfig(dropout=0.0))
    return made


def measure(model: QwenBackbone, task: tuple[str, int, int], way: str, states: int, repeats: int) -> dict[str, Any]:
    """Tokens per state, operations, and the median of CPU seconds of one pass forward and backward."""
    name, rows, cols = task
    version, transformer.SHARED = WAYS[way]
    geometry = model.tokenize_prompt(load_prompt(f"{name}-{version}"), rows, cols)
    features = torch.randn(states, rows * cols, model.width).to(next(model.parameters()).dtype)

    def step() -> None:
        model.zero_grad()
        model.z(features, geometry).square().mean().backward()

    with counter() as flops:
        step()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    return {"tokens": len(geometry.tokens), "gflop_per_state": flops.get_total_flops() / states / 1e9,
            "cpu_seconds": statistics.median(times)}  # fmt: skip


def z_and_gradients(model: QwenBackbone, task: tuple[str, int, int], way: str, states: int) -> list[torch.Tensor]:
    """Of one pass; gradients of every adapter, one after the other."""
    name, rows, cols = task
    version, transformer.SHARED = WAYS[way]
    draw = torch.Generator().manual_seed(1)
    features = torch.randn(states, rows * cols, model.width, generator=draw).to(torch.bfloat16).to(model.base.dtype)
    model.zero_grad()
    z = model.z(features, model.tokenize_prompt(load_prompt(f"{name}-{version}"), rows, cols))
    (z.float() @ torch.randn(model.width, generator=draw)).sum().backward()
    return [z.detach().float(), torch.cat([p.grad.flatten() for p in model.model.parameters() if p.grad is not None])]


def apart(layers: int, states: int) -> None:
    """Lengths of differences against the length of what they are differences from."""
    model = backbone(layers, torch.bfloat16)
    with torch.no_grad():
        for name, parameter in model.model.named_parameters():
            if "lora_" in name:  # as after a warm start: fresh ones are zero
                parameter.add_(0.01 * torch.randn(parameter.shape))
    both = ("text first, whole", "text first, packed")
    rounded = {task: [z_and_gradients(model, shape, way, states) for way in both] for task, shape in TASKS.items()}
    model.float()
    for task, (whole, packed) in rounded.items():
        exact = z_and_gradients(model, TASKS[task], both[0], states)
        for what, a, b, c in zip(("z", "gradients"), packed, whole, exact, strict=True):
            far = [float((x - y).norm() / y.norm()) for x, y in ((a, b), (b, c), (a, c))]
            print(
                f"{task}, {what}: packed is {far[0]:.2%} from whole sequences in bfloat16; from float32 these are "
                f"{far[1]:.2%}, packed is {far[2]:.2%}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--states", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    if options.apart:
        apart(options.layers, options.states)
        return
    model = backbone(options.layers, getattr(torch, options.dtype))
    found = {
        f"{task}, {way}": measure(model, shape, way, options.states, options.repeats)
        for task, shape in TASKS.items()
        for way in WAYS
    }
    for name, row in found.items():
        first = found[f"{name.split(',')[0]}, picture first"]
        ratios = [first[key] / row[key] for key in ("gflop_per_state", "cpu_seconds")]
        print(
            f"{name:32s} {row['tokens']:3d} tokens {row['gflop_per_state']:8.2f} GFLOP per state "
            f"({ratios[0]:.2f} x fewer), {row['cpu_seconds']:6.2f} CPU-s ({ratios[1]:.2f} x faster)"
        )
    if options.out:
        options.out.write_text(
            json.dumps({"recommit": recommit.__version__, **vars(options), "out": None, "found": found})
        )


if __name__ == "__main__":
    main()
