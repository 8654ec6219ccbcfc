"""Warm start at the shapes of Qwen2.5-VL-7B with random weights, on one GPU: rates, share of the peak, memory.

    python bench/gpu/sft_7b.py --out bench/results            # one H200: a few minutes
    python bench/gpu/sft_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Both puzzles of the preset ``paper``, first by the prompts whose text all states share, then by the published ones. LoRA
on the frozen language model, frozen pictures, bfloat16, every picture a new one: as in the recipes. The yardstick, in
the same run with the same weights: PIL pictures, the transformers image processor, one whole sequence per (state,
depth) sample. Both must give the same loss to within bfloat16 before anything is timed. The floor is written down
first: multiplications of the matrices that every token passes, twice for forward, twice for the gradient of the
activations (frozen weights need none).
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

import recommit
from recommit.data.labels import label
from recommit.data.rows import expand
from recommit.estimate.meta_model import PublishedTokenizer
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES, Shape, config, make_tokenizer
from recommit.policy.backbones.transformer import SHARED
from recommit.policy.config import PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.policy.vision import PromptCache
from recommit.runs.distributed import Team
from recommit.train import targets
from recommit.train.config import OptimConfig, TargetConfig
from recommit.train.engine.base import Engine
from recommit.train.optim import parameter_groups

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


class Clock:
    """Seconds of each stage, the device waited for."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.stages: dict[str, Any] = {}

    def run(self, stage: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = work()
        if self.device == "cuda":
            torch.cuda.synchronize()
        self.stages.setdefault(stage, []).append(time.perf_counter() - begin)
        return result

    def median(self, stage: str) -> float:
        return statistics.median(self.stages[stage][1:] or self.stages[stage])  # the first one warms up


class Model:
    """Seconds inside the model, the device waited for; drawing its pictures is not the model's."""

    def __init__(self, device: str) -> None:
        self.device, self.seconds = device, 0.0

    @contextmanager
    def drawing_apart(self, policy: CommitPolicy) -> Iterator[None]:
        """Meanwhile the time that pictures take is taken off."""
        backbone: Any = policy.backbone
        draw = backbone.pixels

        def timed(*arguments: Any, **options: Any) -> torch.Tensor:
            begin = time.perf_counter()
            result: torch.Tensor = draw(*arguments, **options)
            self.seconds -= time.perf_counter() - begin
            return result

        backbone.pixels = timed
        yield
        del backbone.pixels

    @contextmanager
    def __call__(self) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        if self.device == "cuda":
            torch.cuda.synchronize()
        self.seconds += time.perf_counter() - begin

    def run_pass(self, work: Callable[[], T]) -> T:
        """``work``, its time counted."""
        with self():
            return work()


def our_step(
    policy: CommitPolicy, task: Any, rows: Any, engine: Engine, clock: Clock, model: Model, number: int
) -> float:
    """One step as ``recommit train sft`` takes it, with pictures that it has not seen before."""
    policy.vision.forget()
    batch = clock.run("targets", lambda: targets.make(task, rows, TARGETS, seed=0, first=number))
    total = targets.total_weight(batch, TARGETS)
    with model():
        loss = clock.run("forward", lambda: targets.sft_loss(policy, task, batch, TARGETS, total)[0])
        clock.run("backward", lambda: engine.backward(loss))
        clock.run("optimiser", lambda: engine.step(0.0))
    return float(loss.detach())


def naive_inputs(
    policy: CommitPolicy, task: Any, states: Any, processor: Any, clock: Clock
) -> Callable[[], torch.Tensor]:
    """PIL pictures through the transformers processor; what comes back looks at them: z of every state."""
    frames = task.render(states, crop=policy.vision.crops(task))
    backbone: Any = policy.backbone
    pictures = clock.run("pictures", lambda: [Image.fromarray(np.asarray(frame)) for frame in frames])
    inputs = clock.run("processor", lambda: processor(images=pictures, return_tensors="pt"))
    device = policy.depth_head.weight.device
    geometry = policy.prompts_cache.of(task, states.shape[1:])
    tokens = geometry.tokens.repeat(len(states), 1)

    def look() -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16):  # adapters are float32, as in any mixed precision
            z = backbone.base(
                input_ids=tokens,
                pixel_values=inputs["pixel_values"].to(device),
                image_grid_thw=inputs["image_grid_thw"].to(device),
                position_ids=geometry.positions.expand(-1, len(states), -1),
                use_cache=False,
            ).last_hidden_state[:, -1]
        return z.to(policy.depth_head.weight.dtype)

    return look


def naive_loss(policy: CommitPolicy, task: Any, rows: Any, clock: Clock, chunk: int) -> float:
    """Every sample a picture and a pass of its own; gradients included."""
    from transformers import Qwen2VLImageProcessor

    expanded, device = expand(rows), policy.depth_head.weight.device
    processor = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=1 << 24)
    committed = torch.arange(8) < torch.from_numpy(expanded.depth).long()[:, None]
    total, whole = 0.0, int(committed.sum())
    for begin in range(0, len(expanded.row), chunk):
        part = slice(begin, begin + chunk)
        look = naive_inputs(policy, task, rows.states[expanded.row[part]], processor, clock)

        def forward(look: Callable[[], torch.Tensor] = look, part: slice = part) -> torch.Tensor:
            actions = (torch.from_numpy(expanded.actions[part]).long() * committed[part]).to(device)
            logits = policy.decoder(look(), actions[:, :7], policy.task_index(task))
            each = F.cross_entropy(logits.float().flatten(0, 1), actions.flatten(), reduction="none").view(-1, 8)
            return (each * committed[part].to(device)).sum() / whole

        loss = clock.run("forward", forward)
        clock.run("backward", loss.backward)
        total += float(loss.detach())
    for parameter in policy.parameters():
        parameter.grad = None
    return total


def flops_of(policy: CommitPolicy, tokens: float) -> float:
    """The floor: forward and the gradient of activations through every matrix of the language model."""
    backbone: Any = policy.backbone
    layers = backbone.base.language_model.layers
    weights = sum(p.numel() for n, p in layers.named_parameters() if p.ndim == 2 and "lora" not in n)
    return 4.0 * weights * tokens


def write(figures: dict[str, Any], out: Path, what: str, device: str) -> None:
    """What was found, on which machine, with what."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=False, capture_output=True, text=True).stdout.strip()
    about = {"device": name, "torch": torch.__version__, "commit": commit, "date": str(date.today())}
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name.replace(' ', '-').lower()}-{what}-{date.today()}.json"
    path.write_text(json.dumps(figures | about, indent=2) + "\n")


def measure(
    policy: CommitPolicy, task: Any, rows: Any, engine: Engine, options: argparse.Namespace
) -> dict[str, Any] | None:
    """Steps of one size; None if they do not fit."""
    clock, model, outside = Clock(options.device), Model(options.device), []
    if options.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    try:
        with model.drawing_apart(policy):
            for number in range(options.steps):
                before = model.seconds
                clock.run("step", lambda n=number: our_step(policy, task, rows, engine, clock, model, n))
                outside.append(1 - (model.seconds - before) / clock.stages["step"][-1])
    except torch.cuda.OutOfMemoryError:
        engine.optimizer.zero_grad(set_to_none=True)
        return None
    rate, (shared, own) = len(rows) / clock.median("step"), tokens_of(policy, task)
    memory = torch.cuda.max_memory_allocated() / 2**30 if options.device == "cuda" else 0.0
    return {
        "states_per_s": rate,
        "share_of_peak": rate * flops_of(policy, own + shared / len(rows)) / PEAK,
        "outside_model": statistics.median(outside[1:] or outside),
        "peak_gib": memory,
        "seconds": {name: round(clock.median(name), 5) for name in clock.stages},
    }


def by_batch(
    policy: CommitPolicy, task: Any, rows: Any, engine: Engine, options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Steps of each size that fits, with activations computed again as in the paper's recipes, and kept."""
    found: dict[str, dict[str, Any]] = {}
    for name, recompute in (("recomputed", True), ("kept", False)):
        policy.backbone.recompute, found[name] = recompute, {}
        for batch in options.batch:
            row = measure(policy, task, rows[:batch], engine, options)
            if row is None:
                print(f"   {batch} states, activations {name}: do not fit")
                break
            found[name][str(batch)] = row
            print(
                f"   {batch} states, activations {name}: {row['states_per_s']:,.1f} states/s, "
                f"{100 * row['share_of_peak']:.1f} % of {PEAK / 1e12:.0f} TFLOP/s, peak {row['peak_gib']:.1f} GiB, "
                f"{100 * row['outside_model']:.1f} % outside the model, seconds {row['seconds']}",
                flush=True,
            )
    return found


def best(found: dict[str, Any]) -> dict[str, Any]:
    """The fastest size."""
    every = [row for name in ("kept", "recomputed") for row in found[name].values()]
    return max(every, key=lambda row: row["states_per_s"])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[16, 128, 512])
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    policy = build(options.preset, options.device).eval()  # without dropout: both sides compute the same loss
    figures: dict[str, Any] = {"preset": options.preset, "rows": {}}
    for prompt in PROMPTS:
        ask(policy, prompt)
        for name, task in puzzles(options.size).items():
            policy.train_only(task, depth_head=False)
            engine = Engine(parameter_groups(policy, OptimConfig()), OptimConfig(), Team())
            rows = label(task, task.generate(max(options.batch), seed=1, length=(8, 20)).states, ties="random")
            (shared, own), few, clock = tokens_of(policy, task), rows[: options.batch[0]], Clock(options.device)
            print(f"{name}, {prompt}: {own} tokens of a state, {shared} of all", flush=True)
            ours = our_step(policy, task, few, engine, clock, Model(options.device), 0)
            naive = naive_loss(policy, task, few, clock, 16)
            assert abs(ours - naive) < 2e-2 * abs(naive), f"not the same loss: {ours} and {naive}"
            tokens = {"tokens_of_state": own, "tokens_of_all": shared}
            figures["rows"][f"{name}, {prompt}"] = {**tokens, **by_batch(policy, task, rows, engine, options)}
            if options.out:  # after every row: the time may be over before the last
                write(figures, options.out, "sft", options.device)
    clock = Clock(options.device)
    for _ in range(2):
        clock.run("step", lambda: naive_loss(policy, task, few, clock, 16))
    rate, ours = len(few) / clock.median("step"), best(figures["rows"][f"{name}, shared text"])["states_per_s"]
    figures |= {"naive_states_per_s": rate, "ratio": ours / rate}
    figures["naive_seconds"] = {stage: sum(seconds) / 2 for stage, seconds in clock.stages.items()}
    print(f"naive: {rate:,.2f} states/s; ours with a shared text {ours / rate:.1f} times that")
    if options.out:
        write(figures, options.out, "sft", options.device)


if __name__ == "__main__":
    main()
