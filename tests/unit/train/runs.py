"""Short reinforcement runs, and what tests ask of them."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file

import recommit
from recommit.data import DataSpec, Difficulty, build
from recommit.graph.build import PolicyGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.policy import CommitPolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import best_policy
from recommit.runs.distributed import Team
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import advantages, rollout
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft

SHAPE = {"width": 32, "layers": 2, "heads": 2, "kv_heads": 2, "ffn": 64}
SHAPE |= {"vision_width": 16, "vision_heads": 1, "vision_ffn": 32}
#: A short supervised run of a model that takes milliseconds per step.
TINY = {
    "model": {
        "backbone": "random:small",
        "shape": SHAPE,
        "policy": {
            "lora": None,
            "prompts": ["bare-v1", "bare-v1"],
            "decoder": {"width": 32, "layers": 1, "heads": 2, "ffn": 64},
        },
    },
    "optim": {"steps": 8, "batch": 16, "warmup": 2, "lr": 1e-3, "decoder_lr": 1e-3},
    "validation": {"instances": 8, "every": 4, "budget": 5},
    "run": {"save_every": 4, "log_every": 1, "threads": 1, "tensorboard": False},
}


def small_boards(folder):
    """A small data set of 2x3 boards."""
    build(DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=60, ties="random"), folder)
    return folder


def small_levels(folder):
    """A small data set of 6x6 Sokoban levels."""
    build(DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), count=40, ties="random"), folder)
    return folder


def warm_start(data, out, *, steps=40, lora=None, show_budget=False, **decoder):
    """A run whose policy plays a little; ``decoder`` changes its decoder."""
    policy = TINY["model"]["policy"]
    model = {**TINY["model"], "policy": {**policy, "lora": lora, "decoder": {**policy["decoder"], **decoder}}}
    model["policy"]["show_budget"] = show_budget
    plan = parse(SftConfig, {**TINY, "model": model})
    longer = replace(plan, optim=replace(plan.optim, steps=steps, batch=32, lr=3e-3, decoder_lr=3e-3))
    once = replace(
        longer, run=replace(longer.run, save_every=steps), validation=replace(longer.validation, every=steps)
    )
    assert sft.train(once, data, out, quiet=True) == 0
    return out


#: Changes to ``plan_of``: the last two of four steps are the depth head's alone.
FINISHED = {
    "head": {"features": "z+confidence", "hidden": 6},
    "phases": [{"steps": 2}, {"steps": 2, "head_only": True, "head_updates": 2, "depth_head_lr": 0.01, "starts": 18}],
    "advantage": {"estimator": "exact"},
}


def plan_of(**changes):
    """Four steps; ``changes`` by section. Updates of the depth head alone go with a KL of the actions alone."""
    values = {
        "advantage": {"group_size": 3},
        "objective": {"clip": 0.2, "kl": 0.05, "kl_depth": "head_updates" not in str(changes.get("phases"))},
        "rollout": {"instances": 6, "budget": 3},
        "optim": {"steps": 4, "batch": 8, "lr": 1e-3, "decoder_lr": 1e-3, "depth_head_lr": 1e-2, "warmup": 0},
        "validation": {"instances": 6, "every": 2, "budget": 3},
        "run": {"save_every": 2, "log_every": 1, "threads": 1, "tensorboard": False},
    }
    for name, change in changes.items():
        values[name] = {**values.get(name, {}), **change} if isinstance(change, dict) else change
    if values.get("phases") and "steps" not in changes.get("optim", {}):
        values["optim"]["steps"] = sum(phase["steps"] for phase in values["phases"])
    return parse(GrpoConfig, values)


def lines(folder):
    """What a run wrote of its steps."""
    read = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in read if "loss" in line]


def weights(folder):
    """Of a saved policy, by name."""
    found = {}
    for name in ("heads.safetensors", "backbone/model.safetensors"):
        found |= load_file(folder / name)
    return found


def moved(one, other):
    """Names of the weights that differ between two saved policies."""
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    return {name for name in a if not torch.equal(a[name], b[name])}


def same(one, other, steps=4):
    """Two runs ended in the same bits."""
    for name in ("engine-00000.safetensors", "policy/heads.safetensors", "policy/backbone/model.safetensors"):
        a, b = (load_file(folder / "checkpoints" / f"step-{steps:08}" / name) for folder in (one, other))
        assert a.keys() == b.keys()
        assert all(torch.equal(a[key], b[key]) for key in a), name
    for name in ("metrics.jsonl", "best.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def interrupt_and_go_on(trainer, train, stop):
    """``train()`` with Ctrl-C in step ``stop`` of a class of trainers, and again, whatever the new process did."""
    step = trainer._step

    def interrupted(self):
        measured = step(self)
        if self.state.step == stop:
            signal.raise_signal(signal.SIGINT)
        return measured

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "_step", interrupted)
        assert train() == 130
    torch.manual_seed(4321)
    assert train() == 0


def batch_of(actor, config, starts):
    """What the first step would learn from on one rank."""
    if config.advantage.estimator != "exact":
        sampled = rollout.sample(actor, config, starts, 0, Team())
        return advantages.of_samples(actor, config, sampled, 0, Team())[0]
    depths = (actor.variant.depth,) if actor.variant.depth else actor.policy.config.depths
    graph = PolicyGraph(actor.policy, actor.task, depths)
    roots = rollout.explore(actor, config, graph, starts)
    evaluation = PolicyEvaluation(graph, roots, config.rollout.budget, config.prices_at(0))
    return advantages.of_graph(actor, config, evaluation, roots, 0, Team())[0]


def actor(init, name="adaptive", **options):
    """Proposes by the best policy of a run."""
    policy = CommitPolicy.from_pretrained(best_policy(init)).eval()
    return Actor(policy, recommit.Sliding(2, 3), variant(name), seed=5, **options)
