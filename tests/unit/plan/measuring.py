"""Real steps on a processor, measured from outside: torch's own counter of operations, and what its allocator reports."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

import recommit.data
from recommit.plan import CARDS, Machine, plan
from recommit.train import ranks
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import Grpo
from recommit.train.grpo_config import GrpoConfig
from recommit.train.rundir import RunDirectory
from recommit.train.sft import Sft
from recommit.train.start import policy as start

HERE = Machine(CARDS["cpu"], 1)
QUIET = {"validation": {"instances": 0}, "run": {"threads": 1, "tensorboard": False}}
DECODER = {"width": 32, "layers": 1, "heads": 2, "ffn": 64}
#: A preset's backbone with small heads: as it is, and with an adapter.
WHOLE = {"backbone": "random:small", "policy": {"lora": None, "decoder": DECODER}}
ADAPTED = {"backbone": "random:tiny", "policy": {"lora": {"rank": 4}, "decoder": DECODER}}


@dataclass(frozen=True)
class Measured:
    flops: int
    #: Most bytes of tensors at once in a step, weights and moments included.
    peak: int


def sft(model, **more):
    optim = {"steps": 2, "batch": 8, **more.pop("optim", {})}
    return parse(SftConfig, {"model": model, "optim": optim, **QUIET, **more})


def grpo(**more):
    values = {
        "credit": {"group": "state", "size": 3, "reward": "total"},
        "objective": {"kl": 0.05},
        "rollout": {"instances": 8, "budget": 1},
    }
    optim = {"steps": 2, "batch": 8, "vision_lr": 0.0, **more.pop("optim", {})}
    return parse(GrpoConfig, {**QUIET, **values, **more, "optim": optim})


def apart(said, real):
    """How far a plan is from what was measured, at the worst, as a share; the plan may be above where it is a bound."""
    return max(abs(said.phases[0].flops / real.flops - 1), abs(said.memory.peak / real.peak - 1))


def planned(config, model=None):
    return plan(config, model or config.model, recommit.Sliding(2, 3), HERE)


MARK = "the step that counts"


def trained(config, data, folder, model=None):
    """Two steps of a run: the operations of the first, and the bytes of the second."""
    gc.collect()  # what goes later would count as less
    watch = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
    with RunDirectory(folder) as run, watch:
        trainer = _trainer(config, data, run, model)
        with _counter() as flops:
            trainer._step()
        gc.collect()  # the counter's hooks keep what was computed again
        with record_function(MARK):
            trainer._step()
    return Measured(flops.get_total_flops(), _peak(watch))


def _trainer(config, data, run, model):
    dataset, team = recommit.data.open(data, "train"), ranks.alone("cpu")
    if isinstance(config, SftConfig):
        return Sft(config, dataset, run, team, quiet=True)
    policy = start(model, run.folder, 0, team)
    if config.head is not None:
        policy.replace_head(config.head)
    return Grpo(config, policy, dataset.recipe, run, team, quiet=True)


def _peak(memory):
    """Most bytes since the mark, of those that were allocated since the profiler began."""
    events = memory.profiler.kineto_results.events()
    begin = next(event.start_ns() for event in events if event.name() == MARK)
    now = peak = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        now += event.nbytes()
        peak = max(peak, now) if event.start_ns() >= begin else now
    return peak


def _counter():
    def attention(query, key, value, *_rest, **_named):
        return sdpa_flop_count(query, key, value)

    def backward(grad, query, key, value, *_rest, **_named):
        return sdpa_backward_flop_count(grad, query, key, value)

    aten = torch.ops.aten
    mapping = {
        aten._scaled_dot_product_flash_attention_for_cpu: attention,
        aten._scaled_dot_product_flash_attention_for_cpu_backward: backward,
    }
    return FlopCounterMode(display=False, custom_mapping=mapping)
