"""Small recipes of both stages, their estimates, and real trainers to hold them against."""

from __future__ import annotations

import weakref
from unittest import mock

import torch
from bench.training.measured_step import measured

import recommit.data
from recommit.estimate import Machine, estimate
from recommit.policy.flop_counter import Watch
from recommit.runs import distributed
from recommit.runs.directory import RunDirectory
from recommit.train.config import SftConfig, parse
from recommit.train.grpo.config import GrpoConfig
from recommit.train.grpo.trainer import GrpoTrainer
from recommit.train.initial_policy import new_policy as start
from recommit.train.sft.trainer import SftTrainer

HERE = Machine("cpu")
QUIET = {"validation": {"instances": 0}, "run": {"threads": 1, "tensorboard": False}}
DECODER = {"width": 32, "layers": 1, "heads": 2, "ffn": 64}
#: A preset's backbone with small heads: as it is, and with an adapter.
WHOLE = {"backbone": "random:small", "policy": {"lora": None, "decoder": DECODER}}
ADAPTED = {"backbone": "random:tiny", "policy": {"lora": {"rank": 4}, "decoder": DECODER}}


def sft(model, **more):
    optim = {"steps": 2, "batch": 8, **more.pop("optim", {})}
    return parse(SftConfig, {"model": model, "optim": optim, **QUIET, **more})


def grpo(**more):
    values = {
        "advantage": {"estimator": "state", "group_size": 3},
        "objective": {"kl": 0.05},
        "rollout": {"instances": 8, "budget": 1},
    }
    optim = {"steps": 2, "batch": 8, **more.pop("optim", {})}
    return parse(GrpoConfig, {**QUIET, **values, **more, "optim": optim})


class OnHost(Watch):
    """On a processor pictures are numpy's, and are not copied to a device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not torch.ops.aten._to_copy.default or args[0].is_meta:
            return super().__torch_dispatch__(func, types, args, kwargs)
        storage = (result := func(*args, **(kwargs or {}))).untyped_storage()
        self._sizes[storage._cdata] = 0
        weakref.finalize(storage, self._drop, storage._cdata)
        return result


def estimated(config, model=None, sizes=((2, 3),)):
    with mock.patch("recommit.estimate.meta_model.Watch", OnHost):
        return estimate(config, model or config.model, [recommit.Sliding(*size) for size in sizes], HERE)


MEASURED = {}


def taken(config, data, folder, model=None):
    """Two real steps, made once."""
    key = str((config, model, data))
    if key not in MEASURED:
        with RunDirectory(folder) as run:
            MEASURED[key] = measured(lambda: trainer_of(config, data, run, model))
    return MEASURED[key]


def apart(said, real):
    """How far an estimate is from what was measured, at the worst, as a share."""
    return max(abs(ratio - 1) for ratio in real.apart(said))


def trainer_of(config, data, run, model):
    """What a command would make in the folder of a run."""
    folders = data if isinstance(data, list) else [data]
    datasets, team = [recommit.data.open(folder, "train") for folder in folders], distributed.meet("cpu")
    if isinstance(config, SftConfig):
        return SftTrainer(config, datasets, run, team, quiet=True)
    policy = start(model, run.folder, 0, team)
    if config.head is not None:
        policy.replace_head(config.head)
    return GrpoTrainer(config, [each.spec for each in datasets], policy, run, team, quiet=True)
