"""Settings that are known to go wrong are refused before DeepSpeed sees them."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from recommit.train.config import EngineConfig, OptimConfig
from recommit.train.engine.deepspeed_config import settings


def made(**engine):
    return settings(EngineConfig(kind="deepspeed", **engine), OptimConfig(batch=64), 4, 2)


def test_parts_and_ranks_make_a_batch():
    found = made(stage=3, bf16=True)
    assert found["train_micro_batch_size_per_gpu"] * found["gradient_accumulation_steps"] * 2 == 64
    assert found["zero_optimization"]["stage"] == 3
    assert found["bf16"]["enabled"]


def test_offload_keeps_our_optimiser():
    found = made(stage=3, offload=True)
    assert found["zero_optimization"]["offload_param"] == {"device": "cpu"}
    assert found["zero_force_ds_cpu_optimizer"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stage": 0, "bf16": True}, r"engine\.stage: expected 1, 2 or 3 with engine\.bf16, got 0"),
        ({"stage": 0, "offload": True}, r"engine\.offload: expected stage 1, 2 or 3, got 0"),
    ],
)
def test_traps_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_the_plain_engine_has_no_such_options():
    with pytest.raises(ValueError, match=r"engine\.kind: expected deepspeed with"):
        EngineConfig(bf16=True)
    with pytest.raises(ValueError, match=r"engine\.stage: expected 0, 1, 2 or 3, got 4"):
        EngineConfig(stage=4)
