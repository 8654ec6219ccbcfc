"""What a machine is, what does not fit on it, and published backbones without their files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.refusals import refused
from tests.unit.estimate.measuring import sft

import recommit
from recommit.estimate import GIB, Machine, estimate, text
from recommit.estimate.machine import HIGH, LOW
from recommit.estimate.meta_model import PUBLISHED, PublishedTokenizer
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES

TASK = recommit.Sliding(2, 3)


def test_what_does_not_fit_is_said():
    config = sft({"backbone": "random:tiny", "policy": {"lora": {"rank": 4}}}, optim={"batch": 64})
    free = estimate(config, config.model, [TASK], Machine("cpu"))
    assert free.fits
    assert "it fits" in text(free)
    tight = estimate(config, config.model, [TASK], Machine("cpu", memory=(free.memory.peak - 1) / GIB))
    assert not tight.fits
    assert "IT DOES NOT FIT" in text(tight)


def test_layers_that_are_computed_again_take_fewer_bytes_and_more_kernels():
    """On a GPU, whose normalisation is an operation of its own."""
    config = sft({"backbone": "random:tiny", "policy": {"lora": {"rank": 4}}}, optim={"batch": 64})
    recomputed = replace(config, engine=replace(config.engine, checkpointing=True))
    kept, again = (estimate(each, each.model, [TASK], Machine("a100")) for each in (config, recomputed))
    assert again.memory.activations < kept.memory.activations
    assert again.phases[0].kernels["learn"] > kept.phases[0].kernels["learn"]


def test_a_time_has_a_source():
    rate = Machine("h200").rate("bfloat16")
    assert "measured" in rate.source
    assert Machine("cpu").rate("float32").peak == 0.0
    assert Machine("cpu", peak=2.0).rate("float32").peak == 2e12
    config = sft({"backbone": "random:tiny", "policy": {"lora": {"rank": 4}}})
    timed = estimate(config, config.model, [TASK], Machine("cpu", peak=1.0))
    products = [phase.times * phase.flops / 1e12 for phase in timed.phases]
    launches = [phase.times * sum(phase.kernels.values()) for phase in timed.phases]
    assert timed.kernels == sum(launches)
    low = sum(max(one / LOW.share, many * LOW.launch) for one, many in zip(products, launches, strict=True))
    assert timed.seconds == pytest.approx((low, HIGH.start + sum(products) / HIGH.share + sum(launches) * HIGH.launch))


def test_published_backbones_have_presets_and_other_prompts_are_counted_by_characters():
    assert {name.removeprefix("random:") for name in PUBLISHED.values()} <= set(BACKBONES)
    tokenizer = PublishedTokenizer(QwenBackbone.markers, 7)
    before, token, behind = QwenBackbone.markers
    assert tokenizer(f"A board:{before}{token * 4}{behind}Go.")["input_ids"] == [0, 0, 0, *[7] * 4, 0, 0]
    one_gpu = (lambda: Machine(gpus=0), "gpus: expected at least 1, ")
    refused([(lambda: Machine("abacus"), "card: expected one of a100, "), one_gpu])
