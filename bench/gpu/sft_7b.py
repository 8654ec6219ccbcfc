"""Warm start at the shapes of Qwen2.5-VL-7B with random weights, on one GPU: rates, share of the peak, memory.

    python bench/gpu/sft_7b.py --out OUT            # one H200: a few minutes
    python bench/gpu/sft_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Both puzzles of the preset ``paper``, first by the prompts whose text all states share, then by the published ones. LoRA
on the frozen language model, frozen pictures, bfloat16, every picture a new one: as in the recipes. The floor is
multiplications of the matrices that every token passes, twice for forward, twice for the gradient of the activations
(frozen weights need none).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch

import recommit
from recommit.data.labels import label
from recommit.estimate.meta_model import PublishedTokenizer
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES, Shape, config, make_tokenizer
from recommit.policy.backbones.transformer import SHARED
from recommit.policy.config import PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.policy.vision import PromptCache
from recommit.runs.distributed import Team
from recommit.train.config import OptimConfig, TargetConfig
from recommit.train.engine.base import Engine
from recommit.train.optim import parameter_groups
from recommit.train.sft import loss, targets

T = TypeVar("T")
TARGETS = TargetConfig(kind="hard", paths="dataset")
#: Dense bfloat16, measured on the H200 this is meant for.
PEAK = 790e12
#: Those of sliding and of Sokoban: with the text before the picture, which is computed once per pass, and as published.
PROMPTS = {"shared text": ("sliding-v2", "sokoban-v2"), "picture first": ("sliding-v1", "sokoban-v1")}


def puzzles(size: int) -> dict[str, Any]:
    """Those of the preset ``paper``, by name."""
    return {"sliding": recommit.Sliding(3), "sokoban": recommit.Sokoban(size, boxes=2)}


def backbone_of(shape: Shape, device: str) -> QwenBackbone:
    """Random weights, made where they will run; prompts have as many tokens as by the published tokenizer."""
    from transformers import Qwen2_5_VLModel

    torch.manual_seed(0)
    about = config(shape, make_tokenizer())
    with torch.device(device):
        torch.set_default_dtype(torch.bfloat16)
        model = Qwen2_5_VLModel(about)
        torch.set_default_dtype(torch.float32)
    return QwenBackbone(model, PublishedTokenizer(QwenBackbone.markers, about.image_token_id))


def build(preset: str, device: str) -> CommitPolicy:
    """A policy on such a backbone, with numbers in its adapters and its depth head, as after some training."""
    backbone = backbone_of(BACKBONES[preset], device)
    with torch.device(device):
        policy = CommitPolicy(backbone, PolicyConfig())
    for name, parameter in policy.named_parameters():
        if "lora_B" in name or name == "depth_head.weight":
            torch.nn.init.normal_(parameter, std=0.01)
    return policy.to(device)


def ask(policy: CommitPolicy, prompt: str) -> None:
    """Read these ``PROMPTS`` from now on."""
    policy._configure(prompts=PROMPTS[prompt])
    policy.prompts_cache = PromptCache(policy.backbone, policy.vision, policy.config)


def tokens_of(policy: CommitPolicy, task: Any) -> tuple[int, int]:
    """Tokens of text that all states share, and of each state's own."""
    read = policy.prompts_cache.of(task, task.shape)
    shared = read.image_start if read.image_start >= SHARED else 0
    return shared, len(read.tokens) - shared


def arguments(text: str | None) -> argparse.ArgumentParser:
    """What every script here can be told."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="7b", choices=sorted(n for n, s in BACKBONES.items() if s.window))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--size", type=int, default=7, help="Sokoban grid; the outer wall is cropped")
    parser.add_argument("--out", type=Path)
    return parser


class Figures:
    """Rows as they are found; written after each: the time may be over before the last."""

    def __init__(self, what: str, options: argparse.Namespace) -> None:
        self.what, self.options, self.rows = what, options, dict[str, Any]()

    def add(self, name: str, row: dict[str, Any]) -> None:
        say(name, row)
        self.rows[name] = row
        if out := self.options.out:
            out.mkdir(parents=True, exist_ok=True)
            found = {"preset": self.options.preset, "rows": self.rows}
            (out / f"{self.what}.json").write_text(json.dumps(found, indent=2) + "\n")


def say(name: str, row: Any) -> None:
    """Print figures, with four digits."""
    print(f"{name}: {json.loads(json.dumps(row), parse_float=lambda text: float(f'{float(text):.4g}'))}", flush=True)


def fresh_memory(device: str) -> None:
    """The peak begins anew."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_gib(device: str) -> float:
    return torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0


class Clock:
    """Seconds of each stage, and of all that is inside the model, the device waited for."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.stages: dict[str, list[float]] = {}
        self.in_model = 0.0

    @contextmanager
    def measured(self, note: Callable[[float], None]) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        if self.device == "cuda":
            torch.cuda.synchronize()
        note(time.perf_counter() - begin)

    def run(self, stage: str, work: Callable[[], T]) -> T:
        with self.measured(self.stages.setdefault(stage, []).append):
            return work()

    def median(self, stage: str) -> float:
        return statistics.median(self.stages[stage][1:] or self.stages[stage])  # the first one warms up

    def add(self, seconds: float) -> None:
        self.in_model += seconds

    def pass_of_model(self, work: Callable[[], T]) -> T:
        with self.measured(self.add):
            return work()

    @contextmanager
    def drawing_apart(self, policy: CommitPolicy) -> Iterator[None]:
        """Meanwhile the time that pictures take, which is not the model's, is taken off."""
        backbone: Any = policy.backbone
        draw = backbone.pixels

        def timed(*arguments: Any, **options: Any) -> torch.Tensor:
            begin = time.perf_counter()
            result: torch.Tensor = draw(*arguments, **options)
            self.add(begin - time.perf_counter())
            return result

        backbone.pixels = timed
        yield
        del backbone.pixels


def our_step(policy: CommitPolicy, task: Any, rows: Any, engine: Engine, clock: Clock, number: int) -> None:
    """One step as ``recommit train sft`` takes it, with pictures that it has not seen before."""
    policy.vision.forget()
    batch = clock.run("targets", lambda: targets.make(task, rows, TARGETS, seed=0, first=number))
    total = loss.total_weight(batch, TARGETS)
    with clock.measured(clock.add):
        value = clock.run("forward", lambda: loss.sft_loss(policy, task, batch, TARGETS, total)[0])
        clock.run("backward", lambda: engine.backward(value))
        clock.run("optimiser", lambda: engine.step(0.0))


def flops_of(policy: CommitPolicy, tokens: float) -> float:
    """The floor: forward and the gradient of activations through every matrix of the language model."""
    backbone: Any = policy.backbone
    layers = backbone.base.language_model.layers
    weights = sum(p.numel() for n, p in layers.named_parameters() if p.ndim == 2 and "lora" not in n)
    return 4.0 * weights * tokens


def measure(
    policy: CommitPolicy, task: Any, rows: Any, engine: Engine, options: argparse.Namespace
) -> dict[str, Any] | None:
    """Steps of one size; None if they do not fit."""
    clock, outside = Clock(options.device), []
    fresh_memory(options.device)
    try:
        with clock.drawing_apart(policy):
            for number in range(options.steps):
                before = clock.in_model
                clock.run("step", lambda n=number: our_step(policy, task, rows, engine, clock, n))
                outside.append(1 - (clock.in_model - before) / clock.stages["step"][-1])
    except torch.cuda.OutOfMemoryError:
        engine.optimizer.zero_grad(set_to_none=True)
        return None
    rate, (shared, own) = len(rows) / clock.median("step"), tokens_of(policy, task)
    return {
        "states_per_s": rate,
        "share_of_peak": rate * flops_of(policy, own + shared / len(rows)) / PEAK,
        "outside_model": statistics.median(outside[1:] or outside),
        "peak_gib": peak_gib(options.device),
        "seconds": {name: round(clock.median(name), 5) for name in clock.stages},
    }


def by_batch(
    policy: CommitPolicy, task: Any, rows: Any, engine: Engine, options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Steps of each size that fits, with activations computed again as in the paper's recipes, kept, and kept by passes
    that are compiled."""
    found: dict[str, dict[str, Any]] = {}
    compiler = "inductor" if options.device == "cuda" else "eager"
    ways = {"recomputed": (True, "none"), "kept": (False, "none"), "compiled": (False, compiler)}
    for name, (recompute, compiled) in ways.items():
        policy.backbone.recompute, policy.backbone.compiled, found[name] = recompute, compiled, {}
        for batch in options.batch:
            row = measure(policy, task, rows[:batch], engine, options)
            say(f"   {batch} states, activations {name}", row or "do not fit")
            if row is None:
                break
            found[name][str(batch)] = row
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[4, 8, 16, 128])
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    policy = build(options.preset, options.device).eval()  # without dropout
    figures = Figures("sft", options)
    for prompt in PROMPTS:
        ask(policy, prompt)
        for name, task in puzzles(options.size).items():
            policy.train_only(task, depth_head=False)
            engine = Engine(parameter_groups(policy, OptimConfig()), OptimConfig(), Team())
            rows = label(task, task.generate(max(options.batch), seed=1, length=(8, 20)).states, ties="random")
            tokens = dict(zip(("tokens_of_all", "tokens_of_state"), tokens_of(policy, task), strict=True))
            figures.add(f"{name}, {prompt}", tokens | by_batch(policy, task, rows, engine, options))


if __name__ == "__main__":
    main()
