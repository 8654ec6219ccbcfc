"""What a machine is, and what does not fit on it."""

from __future__ import annotations

import pytest
from tests.unit.estimate.measuring import sft

import recommit
from recommit.estimate import GIB, Machine, estimate, text
from recommit.estimate.machine import SHARE

TASK = recommit.Sliding(2, 3)


def test_what_does_not_fit_is_said():
    config = sft({"backbone": "random:tiny", "policy": {"lora": {"rank": 4}}}, optim={"batch": 64})
    free = estimate(config, config.model, TASK, Machine("cpu"))
    assert free.fits
    assert "it fits" in text(free)
    tight = estimate(config, config.model, TASK, Machine("cpu", memory=(free.memory.peak - 1) / GIB))
    assert not tight.fits
    assert "IT DOES NOT FIT" in text(tight)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"card": "abacus"}, "card: expected one of a100, .* got abacus"),
        ({"card": "a100", "gpus": 0}, "gpus: expected at least 1, got 0"),
        ({"card": "a100", "memory": -1.0}, "memory and peak: expected at least 0, got -1.0 and 0.0"),
    ],
)
def test_a_machine_that_is_none_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Machine(**wrong)


def test_a_time_has_a_source():
    rate = Machine("h200").rate("bfloat16")
    assert rate.seconds(rate.peak) == 1 / SHARE
    assert "measured" in rate.source
    assert Machine("cpu").rate("float32").seconds(1.0) is None
    assert Machine("cpu", peak=2.0).rate("float32").peak == 2e12
