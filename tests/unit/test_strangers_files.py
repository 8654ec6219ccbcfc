"""What a file from a stranger may bring about: time and disk within limits, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq
from safetensors.torch import load_file, save_file

from recommit.cli import main
from recommit.data import DataSpec, Difficulty, build, parquet
from recommit.data.dataset import open_folder
from recommit.policy.backbones.backbone import INDEX, load_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.runs.directory import best_policy
from recommit.storage import errors, recipe_text, verified
from recommit.storage.files import Files
from recommit.train import config


@pytest.mark.parametrize("name", ["abs", "up", "link", "link above"])
def test_a_run_lies_in_its_folder(name, tmp_path):
    """Somebody's own folder would be read, and copied into the run that begins with it."""
    mine, run, place = tmp_path / "mine", tmp_path / "run", "checkpoints/step-00000001/policy"
    (mine / "policy").mkdir(parents=True)
    (mine / "policy" / "id_rsa").write_text("mine")
    (run / "checkpoints").mkdir(parents=True)
    named = {"abs": str(mine / "policy"), "up": "../mine/policy"}.get(name, place)
    if name.startswith("link"):
        step = run / "checkpoints" / "step-00000001"
        step.symlink_to(mine) if name == "link above" else step.mkdir()
    if name == "link":
        (run / place).symlink_to(mine / "policy")
    (run / "best.json").write_text(json.dumps({"policy": named}))
    with pytest.raises(errors.WrongFolder, match=r"run: expected a name in it, got .* which leads elsewhere"):
        best_policy(run)
    words = ["--recipe", "laptop-sliding", "--init", str(run), "--out", f"{tmp_path}/new", "--quiet"]
    recipe = {"task": "sliding", "size": [2, 2], "difficulties": [{"length": [1, 3]}], "count": 1}
    (run / "config.json").write_text(json.dumps({"data": {"recipe": recipe}}))
    assert main(["train", "grpo", *words]) == 2
    assert not list((tmp_path / "new").rglob("id_rsa"))


@pytest.mark.parametrize("read", [verified.values, verified.rows, verified.lines])
def test_a_text_of_holes_is_refused(read, tmp_path):
    """A terabyte that takes no room on a disk, nor in an archive; and the list of checksums likewise."""
    (tmp_path / "best.json").touch()
    os.truncate(tmp_path / "best.json", 1 << 40)
    with pytest.raises(
        errors.Damaged, match=r"best\.json: cannot be read: expected at most 1,073,741,824 bytes, got 1"
    ):
        read(tmp_path, "best.json")
    (tmp_path / "best.json").write_text("{}")
    (tmp_path / verified.DIGESTS).touch()
    os.truncate(tmp_path / verified.DIGESTS, 1 << 40)
    with pytest.raises(errors.Damaged, match=r"DIGESTS: cannot be read: expected at most 1,073,741,824 bytes"):
        read(tmp_path, "best.json")


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "data/../../secret"])
def test_checksums_are_of_files_of_the_folder(name, tmp_path):
    folder, digest = tmp_path / "step-00000001", "0" * 64
    folder.mkdir()
    (tmp_path / "secret").write_text("mine")
    verified.write_digests(Files(), folder, {name: digest})
    with pytest.raises(errors.Damaged, match="DIGESTS: expected names of files of the folder, got"):
        verified.verify(folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("published") / "tiny", "tiny", shard=60_000)


def changed(folder, place, **values):
    """A copy of a backbone, its configuration with other values by path."""
    shutil.copytree(folder, place)
    about = json.loads((place / "config.json").read_text())
    for path, value in values.items():
        *outer, last = path.split("__")
        inner = about
        for key in outer:
            inner = inner[key]
        inner[last] = value
    (place / "config.json").write_text(json.dumps(about))
    return place


def quantised(folder, place):
    return changed(folder, place, quantization_config={"quant_method": "fp8"})


def adapted(folder, place):
    changed(folder, place)
    (place / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "evil/repository"}')
    return place


def elsewhere(folder, place):
    changed(folder, place)
    index = json.loads((place / INDEX).read_text())
    index["weight_map"] = {key: f"../{name}" for key, name in index["weight_map"].items()}
    (place / INDEX).write_text(json.dumps(index))
    return place


def pickled(folder, place):
    changed(folder, place)
    weights = {}
    for path in [*place.glob("*.safetensors"), place / INDEX]:
        weights |= load_file(path) if path.suffix == ".safetensors" else {}
        path.unlink()
    torch.save(weights, place / "pytorch_model.bin")
    save_file({"x": torch.zeros(1 << 20)}, place / "more.safetensors")
    return place


def deep(folder, place):
    return changed(folder, place, vision_config__depth=100_000)


def wide(folder, place):
    return changed(folder, place, text_config__vocab_size=10**9)


MORE = {
    quantised: "expected weights that are not quantised",
    adapted: "expected a whole model, got one with adapter_config.json",
    elsewhere: r"expected files of .* in its model.safetensors.index.json, got '\.\./",
    pickled: "expected model.safetensors or model.safetensors.index.json, got neither",
    deep: r"expected depth of 1\.\.1024, got 100000",
    wide: r"expected 32,[\d,]+ numbers, as config.json says, got [\d,]+ bytes",
}


@pytest.mark.parametrize("how", MORE, ids=lambda how: how.__name__)
def test_a_backbone_brings_weights_alone(how, published, tmp_path):
    with pytest.raises(ValueError, match=f"backbone: {MORE[how]}"):
        load_backbone(how(published, tmp_path / "theirs"))


@pytest.mark.parametrize("where", ["", "text_config__", "vision_config__"])
@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation", "_experts_implementation"])
def test_kernels_are_not_asked_for(where, name, published, tmp_path, monkeypatch):
    """A configuration may name compiled code on a hub, which transformers then loads."""
    from transformers import modeling_utils

    for each in (name for name in dir(modeling_utils) if "kernel" in name and "load" in name):
        monkeypatch.setattr(modeling_utils, each, lambda *_, **__: pytest.fail("a kernel was asked for"))
    load_backbone(changed(published, tmp_path / "theirs", **{f"{where}{name}": "evil/kernel"}))


@pytest.mark.parametrize("kind", ["MistralCommonBackend", "BertJapaneseTokenizer", "Nothing"])
def test_a_backbone_does_not_choose_the_class_of_its_tokenizer(kind, published, tmp_path):
    theirs = changed(published, tmp_path / "theirs")
    about = json.loads((theirs / "tokenizer_config.json").read_text())
    remote = {"AutoTokenizer": ["evil/repository--mod.C", "evil/repository--mod.C"]}
    (theirs / "tokenizer_config.json").write_text(json.dumps({**about, "tokenizer_class": kind, "auto_map": remote}))
    assert type(load_backbone(theirs).tokenizer).__name__ == "Qwen2Tokenizer"


def test_a_recipe_is_measured_before_it_is_read(tmp_path, monkeypatch):
    with (tmp_path / "r.yaml").open("wb") as file:
        file.truncate(1 << 40)  # of no room on the disk
    monkeypatch.setattr(recipe_text, "read", pytest.fail)
    with pytest.raises(ValueError, match="recipe: expected at most 1,048,576 bytes, got 1,099,511,627,776"):
        config.load(tmp_path / "r.yaml")


@pytest.mark.parametrize("kind", ["numbers", "lists", "texts"])
def test_a_small_table_that_becomes_large_is_refused(kind, tmp_path, monkeypatch):
    """Equal values take no room in a file."""
    many = 1 << 16
    column = {
        "numbers": pa.array([0] * many),
        "lists": pa.array([[0] * many]),
        "texts": pa.array(["x" * many + str(i % 2) for i in range(64)]),
    }[kind]
    pq.write_table(pa.table({"a": column}), tmp_path / "t.parquet", compression="zstd", use_dictionary=kind != "texts")
    data = (tmp_path / "t.parquet").read_bytes()
    assert parquet.parsed(tmp_path / "t.parquet", data).num_rows == len(column)
    monkeypatch.setattr(parquet, "MOST_UNSAID", 1 << 10)
    with pytest.raises(errors.Damaged, match="expected at most 100 times its size, got"):
        parquet.parsed(tmp_path / "t.parquet", data)


@pytest.mark.parametrize("kind", ["lists", "parts", "long texts", "bytes"])
def test_texts_that_would_be_kept_many_times_are_refused(kind, tmp_path):
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 99, pa.int32()), pa.array(["x" * 1000]))
    column = {
        "lists": pa.ListArray.from_arrays(pa.array(range(100), pa.int32()), words),
        "parts": pa.StructArray.from_arrays([words], ["b"]),
        "long texts": words.cast(pa.large_string()),
        "bytes": pa.array([b"x" * 1000] * 99, pa.binary(1000)),
    }[kind]
    pq.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(errors.Damaged, match="expected columns of numbers, lists of numbers, or texts, got a: "):
        parquet.parsed(tmp_path / "t.parquet", data)


def test_lists_that_are_absent_take_room_too(tmp_path, monkeypatch):
    """How long lists are is said once, and rows without one are as long."""
    monkeypatch.setattr(parquet, "MOST_UNSAID", 1 << 20)
    pq.write_table(pa.table({"a": pa.array([None] * 99, pa.list_(pa.uint8(), 100_000))}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(errors.Damaged, match=r"expected at most 100 times its size, got 9,9\d\d,\d+ bytes unpacked"):
        parquet.parsed(tmp_path / "t.parquet", data)


def test_a_shard_is_measured_too(tmp_path, monkeypatch):
    spec = DataSpec("sliding", (2, 2), (Difficulty((1, 3)),), count=2)
    build(spec, tmp_path / "data")
    assert len(open_folder(tmp_path / "data").columns()) > 2
    monkeypatch.setattr(parquet, "MOST_UNSAID", 0)
    monkeypatch.setattr(parquet, "MOST_GROWTH", 0)
    with pytest.raises(errors.Damaged, match="expected at most 0 times its size, got"):
        open_folder(tmp_path / "data").columns()


def test_a_page_takes_no_script_from_elsewhere(tmp_path, monkeypatch):
    """The puzzle that an evaluation names is a script of the package."""
    from recommit.report import document

    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.js").write_text("evil")
    own = document.rules("nothing")
    beside = Path(document.__file__).parent
    for task in (str(tmp_path / "evil"), os.path.relpath(tmp_path / "evil", beside), "../report"):
        assert document.rules(task) == own
    assert document.rules("sliding") != own
