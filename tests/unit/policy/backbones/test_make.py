"""What a server of models reads beside a backbone."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="policies need the policy extra")
pytest.importorskip("transformers", reason="policies need the policy extra")

from recommit.policy.backbones.make import make_backbone

MESSAGES = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "look"}]},
]


@pytest.mark.parametrize("preset", ["tiny", "tiny-qwen3-vl"])
def test_a_backbone_can_be_talked_to(preset, tmp_path):
    from transformers import AutoTokenizer, GenerationConfig

    tokenizer = AutoTokenizer.from_pretrained(make_backbone(tmp_path / preset, preset))
    said = tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True)
    assert said == (
        "<|im_start|>system\nrules<|im_end|>\n"
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>look<|im_end|>\n<|im_start|>assistant\n"
    )
    drawn = GenerationConfig.from_pretrained(tmp_path / preset)
    assert drawn.do_sample, "else a server ignores the temperature"
    assert tokenizer.convert_ids_to_tokens(drawn.eos_token_id) == "<|im_end|>"
