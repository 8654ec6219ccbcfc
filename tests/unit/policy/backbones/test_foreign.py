"""A stranger's backbone: nothing in its folder is a program here, asks a person for leave to run one, or is a pickle;
and what transformers says of it is a sentence of ours."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from recommit.policy.backbones.backbone import load_backbone

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


#: Loaded as if they were not there.
IGNORED = {
    "a model's program": program("config.json", auto_map={"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}),
    "a tokenizer's program": program(
        "tokenizer_config.json", tokenizer_class="Evil", auto_map={"AutoTokenizer": ENTRY}
    ),
}
READS = "backbone: expected a model that transformers reads in "
REFUSED = {
    "an unknown model's program": (
        program("config.json", model_type="evil", auto_map={"AutoConfig": "evil.Evil"}),
        "expected a model type of qwen2_5_vl, qwen3_vl, internvl, recommit_conv, got evil",
    ),
    "no model type": (change("config.json", model_type=[]), "expected a model type of "),
    "layers": (
        change("config.json", "text_config", num_hidden_layers=10**6),
        "num_hidden_layers of 1..1024, got 1000000",
    ),
    "other shapes": (change("config.json", "text_config", vocab_size=1 << 33), READS),
    "no heads": (change("config.json", "text_config", num_attention_heads=0), READS),
    "no function": (change("config.json", "text_config", hidden_act="exec"), READS),
    "a text without length": (change("tokenizer_config.json", model_max_length="x"), READS),
    "half a tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{"), READS),
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_runs_elsewhere_does_not_run(name, foreign):
    IGNORED[name](foreign)
    load_backbone(foreign)
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
