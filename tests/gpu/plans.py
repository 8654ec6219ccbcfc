"""Configurations of runs that take milliseconds per step, with LoRA and both tasks as the large ones have."""

from __future__ import annotations

from typing import Any

import torch
from tests.unit.train.runs import TINY, plan_of

from recommit.train.config import SftConfig, parse

SHAPE, DECODER = TINY["model"]["shape"], TINY["model"]["policy"]["decoder"]
RUN = TINY["run"]


def warm_start(device: torch.device, *, dtype: str = "float32", **optim: Any) -> SftConfig:
    """Six steps of 16 states."""
    policy = {"prompts": ["bare-v1", "bare-v1"], "decoder": DECODER}
    return parse(
        SftConfig,
        {
            "model": {"backbone": "random:small", "shape": SHAPE, "dtype": dtype, "policy": policy},
            "optim": {"steps": 6, "batch": 16, "warmup": 2, "lr": 1e-3, "decoder_lr": 1e-3, **optim},
            "validation": {"instances": 8, "every": 6, "budget": 3},
            "run": {**RUN, "device": device.type},
        },
    )


def reinforcement(device: torch.device, *, group: str = "state", **optim: Any) -> Any:
    """Four steps of six instances; the decisions of each in moves of eight states."""
    return plan_of(advantage={"estimator": group}, optim=optim, validation={"every": 4}, run={"device": device.type})
