"""What does not fit is said with the settings that make it fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.estimate.measuring import sft

import recommit
from recommit.estimate import GIB, EvaluationStage, Machine, estimate, machine, text

TASK = recommit.Sliding(2, 3)


def limited(config, peak, card="cpu"):
    """The estimate on a machine with so many bytes."""
    on = machine(card, memory=peak / GIB)
    return estimate(config, config.model, TASK, on)


@pytest.fixture(scope="module")
def config():
    return sft({"backbone": "random:tiny", "policy": {"lora": {"rank": 4}}}, optim={"batch": 64})


@pytest.fixture(scope="module")
def free(config):
    return estimate(config, config.model, TASK, machine("cpu"))


def test_what_fits_needs_nothing(free):
    assert free.fits
    assert free.fits_with == ()
    assert "it fits" in text(free)


def test_smaller_passes_come_first(config, free):
    said = limited(config, free.memory.peak - free.memory.activations // 3)
    assert not said.fits
    assert said.fits_with == ("optim.micro_batch=32",)
    assert "IT DOES NOT FIT; it does with --set optim.micro_batch=32" in text(said)
    smaller = replace(config, optim=replace(config.optim, micro_batch=32))
    assert limited(smaller, said.limit).fits


def test_then_activations_are_computed_again(config):
    one = estimate(replace(config, optim=replace(config.optim, micro_batch=1)), config.model, TASK, machine("cpu"))
    said = limited(config, one.memory.peak - (1 << 16))
    assert said.fits_with is not None
    assert "engine.checkpointing=true" in said.fits_with


def test_what_nothing_helps_is_said(config):
    said = limited(config, 1 << 20)
    assert said.fits_with is None
    assert "no setting was found" in text(said)


@pytest.mark.nightly
def test_more_is_split_on_a_gpu(config):
    on = machine("a100", 4)
    whole = estimate(config, config.model, TASK, on)
    kept = whole.memory.resident
    said = estimate(config, config.model, TASK, replace(on, memory=(sum(kept.values()) - kept["optimizer"] // 2) / GIB))
    assert said.fits_with is None or any("engine." in change for change in said.fits_with)


def test_an_evaluation_has_no_settings(config):
    said = estimate(EvaluationStage(8, 4, 3, 2), config.model, TASK, machine("cpu", memory=0.001))
    assert (said.fits, said.fits_with) == (False, None)
    assert said.model.trained == {}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"card": "abacus"}, "card: expected one of a100, .* got abacus"),
        ({"card": "a100", "gpus": 0}, "gpus: expected at least 1, got 0"),
        ({"card": "a100", "share": 1.5}, "share: expected 0 < share <= 1, got 1.5"),
    ],
)
def test_a_machine_that_is_none_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        machine(**wrong)


def test_a_time_has_a_source():
    rate = machine("h200", share=0.5).rate("bfloat16")
    assert rate.seconds(rate.peak) == 2.0
    assert "measured" in rate.source
    assert machine("cpu").rate("float32").seconds(1.0) is None
    assert machine("cpu", peak=2.0).rate("float32").peak == 2e12
    assert isinstance(machine("a100", 8), Machine)
