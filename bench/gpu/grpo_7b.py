"""A step of reinforcement at the shapes of Qwen2.5-VL-7B with random weights, on one GPU: decisions, updates, memory.

    python bench/gpu/grpo_7b.py --out bench/results            # one H200: a few minutes
    python bench/gpu/grpo_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Candidates of every state that lock-step episodes come by, as the paper samples them, or exact values over the graph of
looks (``--estimator``), and one epoch over them. The yardstick of the first, in the same run with the same weights, is
the rollout that one would write first: every candidate has a picture by PIL, the transformers image processor and a
pass of its own, and is executed and judged one at a time. Both must see the same depth logits to within bfloat16 before
anything is timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from sft_7b import Clock, arguments, build, naive_inputs, write

import recommit
from recommit.graph.build import PolicyGraph
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.distributed import Team
from recommit.train.config import OptimConfig
from recommit.train.engine.base import Engine
from recommit.train.grpo import loss as objective
from recommit.train.grpo.collect import ExactCollector, SampledCollector
from recommit.train.grpo.config import AdvantageConfig, GrpoConfig, RolloutConfig
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.optim import parameter_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.policy.policy import CommitPolicy
    from recommit.train.grpo.batch import GrpoBatch

T = TypeVar("T")


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


def collector(
    policy: CommitPolicy, task: Any, config: GrpoConfig, model: Model, engine: Engine
) -> ExactCollector | SampledCollector:
    """What plays, as ``recommit train grpo`` plays."""
    actor = Actor(policy, task, variant("adaptive"), seed=0, run_pass=model.run_pass)
    prices = config.prices_at(0)
    if config.advantage.estimator != "exact":
        return SampledCollector(actor, config.advantage, prices, config.rollout)
    graph = partial(PolicyGraph, policy, task, run_pass=model.run_pass, keep_inputs=True)
    mover = DepthHeadOptimizer(policy, engine, config.advantage, config.objective, 0.0, HEAD_MOVES)
    return ExactCollector(actor, config.advantage, prices, (), config.rollout, graph, mover)


def update(policy: CommitPolicy, task: Any, batch: GrpoBatch, config: GrpoConfig, engine: Engine, model: Model) -> int:
    """One epoch; how many times the weights were moved."""
    moves = -(-len(batch) // config.optim.batch)
    for move in range(moves):
        part = batch.where(slice(move * config.optim.batch, (move + 1) * config.optim.batch))
        divisor = objective.total_weight(part)
        with model():
            loss, _ = objective.grpo_loss(policy, task, part, config.objective, divisor, fresh=move == 0)
            engine.backward(loss)
            engine.step(0.0)
    return moves


@torch.no_grad()
def naive_decisions(policy: CommitPolicy, task: Any, states: Any, candidates: int, clock: Clock) -> int:
    """One decision at every state, every candidate on its own."""
    from transformers import Qwen2VLImageProcessor

    processor = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=1 << 24)
    index = policy.task_index(task)
    for state in states:
        look = naive_inputs(policy, task, np.repeat(state[None], candidates, axis=0), processor, clock)
        z = clock.run("model", look)
        probs = policy.depth_head(policy.head_inputs(z, index)).float().softmax(-1)
        depth = torch.multinomial(probs, 1)[:, 0].cpu().numpy()
        noise = torch.rand(candidates, 8, 4, device=z.device).clamp(1e-6, 1 - 1e-6)
        actions, _ = clock.run(
            "model", lambda z=z, noise=noise: policy.decoder.plans(z, index, depths=None, noise=noise)
        )
        for plan, column in zip(actions.cpu().numpy().astype(np.uint8), depth, strict=True):
            length = np.array([policy.config.depths[column]], np.int32)
            after = task.execute(state[None], plan.reshape(1, 8), length)
            task.distance(after.states)
    return len(states)


def check(policy: CommitPolicy, task: Any, states: Any, device: str) -> None:
    """Ours and the naive way see the same."""
    from transformers import Qwen2VLImageProcessor

    processor = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=1 << 24)
    index = policy.task_index(task)
    with torch.no_grad():
        ours = policy.depth_head(policy.head_inputs(policy.encode(task, states), index)).float()
        z = naive_inputs(policy, task, states, processor, Clock(device))()
        naive = policy.depth_head(policy.head_inputs(z, index)).float()
    apart = float((ours - naive).abs().max() / ours.abs().max().clamp(min=1e-6))
    assert apart < 5e-2, f"not the same depth logits: {apart:.3g} apart"


#: Moves of the depth head per round of exact advantages.
HEAD_MOVES = 20
ESTIMATORS = ("state", "exact")


def measure(policy: CommitPolicy, task: Any, options: argparse.Namespace, estimator: Any) -> dict[str, Any]:
    """Rounds of playing and learning; the first one warms up."""
    config = GrpoConfig(
        advantage=AdvantageConfig(estimator=estimator, group_size=options.candidates),
        rollout=RolloutConfig(instances=options.instances, budget=options.budget, states=options.states),
        optim=replace(GrpoConfig().optim, batch=options.batch),
    )
    engine = Engine(parameter_groups(policy, OptimConfig()), OptimConfig(), Team())
    rounds = []
    if options.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    for number in range(options.rounds):
        starts = task.generate(options.instances, seed=number + 2, length=(8, 32)).states
        model, clock = Model(options.device), Clock(options.device)
        play = collector(policy, task, config, model, engine)
        begin = time.perf_counter()
        with model.drawing_apart(policy):
            batch, _ = clock.run("rollout", lambda p=play, s=starts, n=number: p(s, n))
            moves = clock.run("update", lambda b=batch, m=model: update(policy, task, b, config, engine, m))
        wall = time.perf_counter() - begin
        rounds.append(
            {
                "decisions": len(batch),
                "rollout_s": clock.median("rollout"),
                "update_s": clock.median("update"),
                "moves": moves,
                "outside_model": 1 - model.seconds / wall,
            }
        )
    last = sorted(rounds[1:] or rounds, key=lambda r: r["rollout_s"] + r["update_s"])[len(rounds[1:] or rounds) // 2]
    memory = torch.cuda.max_memory_allocated() / 2**30 if options.device == "cuda" else 0.0
    rates = {
        "decisions_per_s": last["decisions"] / last["rollout_s"],
        "updates_per_s": last["moves"] / last["update_s"],
    }
    return {**last, **rates, "peak_gib": memory}


def beside_naive(
    policy: CommitPolicy, task: Any, few: Any, options: argparse.Namespace, ours: float
) -> dict[str, float]:
    """The yardstick, and how many times it."""
    clock = Clock(options.device)
    for _ in range(2):
        clock.run("all", lambda: naive_decisions(policy, task, few, options.candidates, clock))
    rate = len(few) / clock.median("all")
    print(f"naive: {rate:,.2f} decisions/s; ours {ours / rate:.1f} times that")
    return {"naive_decisions_per_s": rate, "ratio": ours / rate}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--estimator", nargs="+", default=["state", "exact"], choices=ESTIMATORS)
    parser.add_argument("--states", type=int, default=256, help="states that a step of exact advantages learns from")
    parser.add_argument("--instances", type=int, default=64, help="episodes side by side")
    parser.add_argument("--budget", type=int, default=6)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32, help="states per move of the weights")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    task = recommit.Sokoban(options.size, boxes=2)
    policy = build(options.preset, options.device)
    policy.train_only(task, depth_head=True)
    policy.eval().backbone.recompute = True  # as in the paper's recipes
    few = task.generate(8, seed=1, length=(8, 32)).states
    check(policy, task, few, options.device)
    figures: dict[str, Any] = {"preset": options.preset}
    for estimator in options.estimator:
        row = figures[estimator] = measure(policy, task, options, estimator)
        print(
            f"{options.preset}, {estimator} advantages: {row['decisions_per_s']:,.1f} decisions/s of "
            f"{options.candidates} candidates, "
            f"{row['updates_per_s']:.2f} updates/s of {options.batch} states, {100 * row['outside_model']:.1f} % of "
            "a step "
            f"outside the model, peak {row['peak_gib']:.1f} GiB"
        )
    if "state" in figures:
        figures["state"] |= beside_naive(policy, task, few, options, figures["state"]["decisions_per_s"])
    if options.out:
        write(figures, options.out, "grpo", options.device)


if __name__ == "__main__":
    main()
