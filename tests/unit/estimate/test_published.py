"""Published backbones without their files."""

from __future__ import annotations

import pytest

from recommit.estimate.meta_model import PUBLISHED, PublishedTokenizer, preset_of
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.random_init import BACKBONES


def test_a_backbone_has_the_shapes_of_its_preset():
    assert preset_of("Qwen/Qwen2.5-VL-7B-Instruct") == "random:7b"
    assert preset_of("random:small") == "random:small"
    assert {name.removeprefix("random:") for name in PUBLISHED.values()} <= set(BACKBONES)


def test_a_prompt_that_nobody_counted_is_refused():
    tokenizer = PublishedTokenizer(QwenBackbone.markers, 7)
    with pytest.raises(ValueError, match=r"prompts: expected one of bare-v1, .* got another"):
        tokenizer("another {image}")
