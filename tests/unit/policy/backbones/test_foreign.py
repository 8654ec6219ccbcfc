"""A stranger's backbone: nothing in its folder is a program here, asks a person for leave to run one, or is a pickle;
and what transformers says of it is a sentence of ours."""

from __future__ import annotations

import json
import shutil

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from safetensors.torch import load_file

from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.transformer import NOTHING_FOREIGN
from recommit.policy.prompt import load_prompt

PROGRAM = "from pathlib import Path\nPath(__file__).with_name('RUN').touch()\nclass Evil: ...\n"
ENTRY = ["evil.Evil", "evil.Evil"]
ATTENTION = "attn_implementation"


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


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


#: Loaded as if they were not there.
IGNORED = {
    "kernels": change("config.json", attn_implementation="kernels-community/flash-attn"),
    "kernels of a part": change("config.json", "text_config", attn_implementation="kernels-community/flash-attn"),
    "a model's program": program("config.json", auto_map={"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}),
    "a tokenizer's program": program(
        "tokenizer_config.json", tokenizer_class="Evil", auto_map={"AutoTokenizer": ENTRY}
    ),
}
READS = "backbone: expected a model that transformers reads in "
REFUSED = {
    "pickled": (pickled, READS),
    "an adapter": (lambda folder: (folder / "adapter_config.json").write_text("{}"), "got one with an adapter beside"),
    "an unknown model's program": (
        program("config.json", model_type="evil", auto_map={"AutoConfig": "evil.Evil"}),
        "expected a model type of qwen2_5_vl, qwen3_vl, internvl, got evil",
    ),
    "no model type": (change("config.json", model_type=[]), "expected a model type of "),
    "layers": (
        change("config.json", "text_config", num_hidden_layers=10**6),
        "num_hidden_layers of 1..1024, got 1000000",
    ),
    "layers of pictures": (change("config.json", "vision_config", depth=10**6), "depth of 1..1024, got 1000000"),
    "other shapes": (change("config.json", "text_config", vocab_size=1 << 33), READS),
    "no heads": (change("config.json", "text_config", num_attention_heads=0), READS),
    "no function": (change("config.json", "text_config", hidden_act="exec"), READS),
    "a text without length": (change("tokenizer_config.json", model_max_length="x"), READS),
    "half a tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{"), READS),
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_runs_elsewhere_does_not_run(name, foreign):
    IGNORED[name](foreign)
    loaded = load_backbone(foreign)
    assert loaded.base.config._attn_implementation == NOTHING_FOREIGN[ATTENTION]
    assert loaded.base.config.text_config._attn_implementation == NOTHING_FOREIGN[ATTENTION]
    assert not (foreign / "RUN").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_model_of_ours_is_a_sentence(name, foreign):
    make, sentence = REFUSED[name]
    make(foreign)
    with pytest.raises(ValueError, match=r"^backbone: expected ") as caught:
        load_backbone(foreign)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 600
    assert not (foreign / "RUN").exists()


def test_a_prompt_is_one_of_the_package(tmp_path):
    (tmp_path / "mine.txt").write_text(load_prompt("bare-v1").text)
    with pytest.raises(ValueError, match="prompts: expected one of "):
        load_prompt(str(tmp_path / "mine"))
