"""Published backbones without their files."""

from __future__ import annotations

import pytest

from recommit.estimate.shadow import PUBLISHED, PublishedTokenizer, preset_of
from recommit.policy.backbones.internvl import InternBackbone
from recommit.policy.backbones.make import BACKBONES
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.prompt import load_prompt


def test_a_backbone_has_the_shapes_of_its_preset(tmp_path):
    assert preset_of("Qwen/Qwen2.5-VL-7B-Instruct") == "7b"
    assert preset_of("random:small") == "small"
    assert preset_of(str(tmp_path)) is None  # a folder says its shapes itself
    assert set(PUBLISHED.values()) <= set(BACKBONES)


def test_an_unknown_backbone_is_refused():
    with pytest.raises(ValueError, match=r"model.backbone: expected a local folder, random: .* got Qwen/Qwen9"):
        preset_of("Qwen/Qwen9")


@pytest.mark.parametrize("family", [QwenBackbone, InternBackbone])
@pytest.mark.parametrize(("prompt", "text"), [("sliding-v1", 53), ("sokoban-v1", 52), ("ice-v1", 56), ("bare-v1", 2)])
def test_a_prompt_has_as_many_tokens_as_the_published_vocabulary_makes_of_it(prompt, text, family):
    tokenizer = PublishedTokenizer(family.markers, 7)
    tokens = tokenizer(load_prompt(prompt).expand(9, family.markers), add_special_tokens=False)["input_ids"]
    assert len(tokens) == text + 9
    assert tokens.count(7) == 9


def test_a_prompt_that_nobody_counted_is_refused():
    tokenizer = PublishedTokenizer(QwenBackbone.markers, 7)
    with pytest.raises(ValueError, match=r"prompts: expected one of bare-v1, .* got another"):
        tokenizer("another {image}")
