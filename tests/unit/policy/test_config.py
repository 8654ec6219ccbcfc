from __future__ import annotations

from tests.refusals import refused

from recommit.policy.config import DecoderConfig, HeadConfig, LoraConfig, PolicyConfig, WorldModelConfig

WRONG = [
    (PolicyConfig, {"depths": (4, 2)}, "depths: expected ascending numbers"),
    (PolicyConfig, {"depths": (0, 1)}, "depths: expected numbers 1..16, got (0, 1)"),
    (PolicyConfig, {"cell": -1}, "cell: expected 0..112, got -1"),
    (PolicyConfig, {"augmentations": 3}, "augmentations: expected one of 1, 2, 4, 8, got 3"),
    (PolicyConfig, {"tasks": ("a",)}, "prompts: expected one per task (1), got 2"),
    (PolicyConfig, {"head": HeadConfig("world-model")}, "world_model: expected one for head.features world-model"),
    (
        PolicyConfig,
        {"head": HeadConfig("confidence"), "decoder": DecoderConfig(depth_conditioning="embedding")},
        "head",
    ),
    (DecoderConfig, {"z": "suffix"}, "decoder.z: expected prefix or cross, got suffix"),
    (DecoderConfig, {"width": 30, "heads": 4}, "decoder.width: expected a multiple of heads (4), got 30"),
    (DecoderConfig, {"layers": 10_000_000}, "decoder.layers: expected 1..256, got 10000000"),
    (HeadConfig, {"features": "y"}, "head.features: expected "),
    *((HeadConfig, {"init": wrong}, f"got {wrong}") for wrong in ("normal", "normal:-1", "normal:x", "uniform")),
    (LoraConfig, {"dropout": 1.0}, "lora.dropout: expected 0 <= dropout < 1, got 1.0"),
    (WorldModelConfig, {"task": "ice", "rows": 5, "cols": 5, "kinds": 9, "lost": 3}, "lost: expected 46..2048, got 3"),
]


def test_configurations_check_themselves():
    refused([(lambda kind=kind, values=values: kind(**values), words) for kind, values, words in WRONG])
