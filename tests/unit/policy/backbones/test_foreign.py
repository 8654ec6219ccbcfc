"""A stranger's backbone: nothing in its folder is a program here, asks a person for leave to run one, or is a pickle;
and what transformers says of it is a sentence of ours."""

from __future__ import annotations

import json
import shutil

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from safetensors.torch import load_file, save_file
from tests.refusals import refused

from recommit.policy.backbones.backbone import INDEX, load_backbone

PROGRAM = "from pathlib import Path\nPath(__file__).with_name('RUN').touch()\nclass Evil: ...\n"
ENTRY = ["evil.Evil", "evil.Evil"]


@pytest.fixture
def foreign(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a person was asked"))
    folder = shutil.copytree(tiny, tmp_path / "backbone")
    (folder / "DIGESTS").unlink(missing_ok=True)
    return folder


def change(name, inner=None, **values):
    def made(folder):
        whole = json.loads((folder / name).read_text())
        (whole[inner] if inner else whole).update(values)
        (folder / name).write_text(json.dumps(whole))

    return made


def program(name, **values):
    def made(folder):
        change(name, **values)(folder)
        (folder / "evil.py").write_text(PROGRAM)

    return made


def second_configuration(folder):
    """transformers would read it instead, unchecked."""
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.4.0.0.json").write_text(json.dumps({**about, "quantization_config": {"quant_method": "awq"}}))
    change("config.json", configuration_files=["config.4.0.0.json"])(folder)


def weights_from_elsewhere(folder):
    """The index of a file outside, which is none that anything of ours checks."""
    names = load_file(folder / "model.safetensors")
    (folder / "other.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, "../outside.safetensors")})
    )
    save_file({name: torch.full_like(tensor, 7) for name, tensor in names.items()}, folder / "../outside.safetensors")
    change("config.json", transformers_weights="other.safetensors.index.json")(folder)


def file_of_no_model(folder):
    """A file that nothing reads, of a size that takes no room on the disk."""
    change("config.json", "text_config", vocab_size=1 << 33)(folder)
    with (folder / "more.safetensors").open("wb") as file:
        file.truncate(1 << 40)


def tokenizer_from_elsewhere(folder):
    shutil.copy(folder / "tokenizer.json", folder.parent / "tokenizer.4.0.0.json")
    change("tokenizer_config.json", fast_tokenizer_files=["../tokenizer.4.0.0.json"])(folder)


def adapted(folder):
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "evil/repository"}')


def shards_from_elsewhere(folder):
    names = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    (folder / INDEX).write_text(json.dumps({"weight_map": dict.fromkeys(names, "../model.safetensors")}))


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").rename(folder / "more.safetensors")


ROPE = {"rope_type": "linear", "factor": 1.0, "rope_theta": 100.0, "mrope_section": [2, 3, 3]}
#: Loaded as if they were not there.
IGNORED = {
    "a second configuration": second_configuration,
    "weights from elsewhere": weights_from_elsewhere,
    "words for labels": change("config.json", num_labels=1 << 20),
    "angles that no layer has": change("config.json", "text_config", head_dim=1 << 20),
    "a model's program": program("config.json", auto_map={"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}),
    "a tokenizer's program": program(
        "tokenizer_config.json", tokenizer_class="Evil", auto_map={"AutoTokenizer": ENTRY}
    ),
    "a tokenizer's class": change("tokenizer_config.json", tokenizer_class="BertJapaneseTokenizer"),
}
READS = "backbone: expected a model that transformers reads in "
REFUSED = {
    "an unknown model's program": (
        program("config.json", model_type="evil", auto_map={"AutoConfig": "evil.Evil"}),
        "backbones.md#your-own-backbone), got 'evil' in ",
    ),
    "quantised": (change("config.json", quantization_config={"quant_method": "fp8"}), "weights that are not quantised"),
    "depth": (change("config.json", "vision_config", depth=100_000), "expected depth of 1..1024, got 100000"),
    "words": (change("config.json", "text_config", vocab_size=10**9), " numbers, as config.json says, got "),
    "an adapter": (adapted, "expected a whole model, got one with adapter_config.json"),
    "shards from elsewhere": (shards_from_elsewhere, " in its model.safetensors.index.json, got '../"),
    "a pickle": (pickled, "expected model.safetensors or model.safetensors.index.json, got neither"),
    "no model type": (change("config.json", model_type=[]), "expected a model type of "),
    "layers": (change("config.json", "text_config", num_hidden_layers=10**6), "num_hidden_layers of 1..1024, got 10"),
    "other shapes": (change("config.json", "text_config", vocab_size=1 << 33), READS),
    "angles": (
        change("config.json", "text_config", rope_parameters={**ROPE, "partial_rotary_factor": 1e9}),
        "numbers, as config.json says, got ",
    ),
    "a file of no model": (file_of_no_model, "numbers, as config.json says, got "),
    "a tokenizer from elsewhere": (tokenizer_from_elsewhere, "expected no fast_tokenizer_files in "),
    "no heads": (change("config.json", "text_config", num_attention_heads=0), READS),
    "no function": (change("config.json", "text_config", hidden_act="exec"), READS),
    "a text without length": (change("tokenizer_config.json", model_max_length="x"), READS),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer that writes <|image_pad|> as "),
    "half a tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{"), READS),
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_runs_elsewhere_does_not_run(name, foreign):
    IGNORED[name](foreign)
    backbone = load_backbone(foreign)
    assert not (foreign / "RUN").exists()
    assert type(backbone.tokenizer).__name__ == "Qwen2Tokenizer"
    assert len(backbone.config.id2label) == 2
    assert backbone.base.language_model.rotary_emb.inv_freq.numel() < 64
    assert not (backbone.base.language_model.embed_tokens.weight == 7).any()


def test_what_is_no_model_of_ours_is_a_sentence(foreign):
    for name, (make, words) in REFUSED.items():
        make(theirs := shutil.copytree(foreign, foreign.parent / name))
        refused([(lambda theirs=theirs: load_backbone(theirs), words)], ValueError)
        assert not (theirs / "RUN").exists()


@pytest.mark.parametrize("where", [None, "text_config", "vision_config"])
def test_kernels_are_not_asked_for(where, foreign, monkeypatch):
    """A configuration may name compiled code on a hub, which transformers then loads."""
    from transformers import modeling_utils

    for each in (name for name in dir(modeling_utils) if "kernel" in name and "load" in name):
        monkeypatch.setattr(modeling_utils, each, lambda *_, **__: pytest.fail("a kernel was asked for"))
    names = ("attn_implementation", "_attn_implementation", "_experts_implementation")
    change("config.json", where, **dict.fromkeys(names, "evil/kernel"))(foreign)
    load_backbone(foreign)
