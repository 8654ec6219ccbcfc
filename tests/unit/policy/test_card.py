"""The model card says what the policy is, in the form that hubs read."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")
yaml = pytest.importorskip("yaml")

import recommit
from recommit.policy import card
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.storage.files import file_sha256

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)


def test_an_adapter_names_its_base():
    policy = {"depths": [1, 2], "tasks": ["sliding"], "lora": {"rank": 16, "alpha": 32, "dropout": 0.05}, "trained": []}
    text = card.card({"policy": policy, "backbone": {"source": "Qwen/Qwen2.5-VL-7B-Instruct"}}, "me/policy", {})
    found = yaml.safe_load(text.split("---\n")[1])
    assert found["base_model"] == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert found["base_model_relation"] == "adapter"
    assert 'from_pretrained("me/policy")' in text


@pytest.mark.parametrize("trained", ["sliding-3x3", "sliding-2x3", "sokoban-7x7", "sokoban-6x8", "ice-8x8", "ice"])
def test_the_example_plays_what_the_policy_was_trained_on(trained):
    policy = {"depths": [1], "tasks": ["sliding", "sokoban", "ice"], "lora": None, "trained": [trained, "sliding-5x5"]}
    text = card.card({"policy": policy, "backbone": {"source": "backbone"}}, "me/policy", {})
    (line,) = re.findall(r"^task = (.*)$", text, re.MULTILINE)
    task = eval(line, {"recommit": recommit})
    states = task.generate(1, seed=0).states
    assert f"{task.task}-{states.shape[1]}x{states.shape[2]}".startswith(trained)
    assert f"Trained on: {trained}, sliding-5x5." in text


@pytest.mark.parametrize("lora", [None, LoraConfig(rank=2)])
def test_a_folder_stands_in_for_the_hub(lora, tiny, tmp_path):
    policy = recommit.CommitPolicy.from_backbone(tiny, PolicyConfig(lora=lora, decoder=DECODER))
    place = policy.push_to_hub("me/policy", hub=tmp_path)
    assert place == str(tmp_path / "models" / "me" / "policy")
    again = recommit.CommitPolicy.from_pretrained(place, backbone=tiny)
    assert again.config == policy.config
    text = (tmp_path / "models" / "me" / "policy" / "README.md").read_text()
    assert file_sha256(tmp_path / "models" / "me" / "policy" / "heads.safetensors") in text
