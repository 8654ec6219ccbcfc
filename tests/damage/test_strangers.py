"""What a file from a stranger may bring about: time and disk within limits, and nothing else."""

from __future__ import annotations

import functools
import json
import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq
from tests.refusals import refused

from recommit.cli import main
from recommit.data import DataSpec, Difficulty, build, parquet
from recommit.data.dataset import open_folder
from recommit.policy import checkpoint
from recommit.runs.directory import best_policy
from recommit.storage import errors, recipe_text, verified
from recommit.storage.files import Files
from recommit.train import config


@pytest.mark.parametrize("name", ["link", "link above"])
def test_a_run_lies_in_its_folder(name, tmp_path):
    """The user's own folder would be read, and copied into the run that begins with it."""
    mine, run, place = tmp_path / "mine", tmp_path / "run", "checkpoints/step-00000001/policy"
    (mine / "policy").mkdir(parents=True)
    (mine / "policy" / "id_rsa").write_text("mine")
    (run / "checkpoints").mkdir(parents=True)
    step = run / "checkpoints" / "step-00000001"
    step.symlink_to(mine) if name == "link above" else step.mkdir()
    if name == "link":
        (run / place).symlink_to(mine / "policy")
    (run / "best.json").write_text(json.dumps({"policy": place}))
    refused([(lambda: best_policy(run), "run: expected a name in it, got ")], errors.WrongFolder)
    words = ["--recipe", "laptop-sliding", "--init", str(run), "--out", f"{tmp_path}/new", "--quiet"]
    recipe = {"task": "sliding", "size": [2, 2], "difficulties": [{"length": [1, 3]}], "count": 1}
    (run / "config.json").write_text(json.dumps({"data": {"recipe": recipe}}))
    assert main(["train", "grpo", *words]) == 2
    assert not list((tmp_path / "new").rglob("id_rsa"))


def test_what_is_too_large_or_leads_elsewhere_is_refused_unread(tmp_path, monkeypatch):
    """A terabyte of holes takes no room on a disk, nor in an archive."""
    giant, listed, outside = tmp_path / "giant", tmp_path / "listed", tmp_path / "step-00000001"
    for folder in (giant, listed, outside):
        folder.mkdir()
    for path in (giant / "best.json", listed / verified.DIGESTS, tmp_path / "r.yaml"):
        path.touch()
        os.truncate(path, 1 << 40)
    (listed / "best.json").write_text("{}")
    monkeypatch.setattr(recipe_text, "read", pytest.fail)
    most = "cannot be read: expected at most 1,073,741,824 bytes, got 1"
    for read in (verified.values, verified.rows, verified.lines):
        rows = [(giant, most), (listed, f"DIGESTS: {most}")]
        refused([(functools.partial(read, folder, "best.json"), words) for folder, words in rows], errors.Damaged)
    for name in ("../secret", "/etc/hostname", "data/../../secret"):
        verified.write_digests(Files(), outside, {name: "0" * 64})
        words = "DIGESTS: expected names of files of the folder, got"
        refused([(lambda: verified.verify(outside), words)], errors.Damaged)
    many = json.dumps({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(20_000)}).encode()
    (tmp_path / "many").write_bytes(len(many).to_bytes(8, "little") + many)
    most = "expected at most 1,073,741,824 bytes, got 1,099,511,627,776"
    weights = [("r.yaml", most), ("many", "damaged (header of 1,")]
    refused([(lambda name=name: checkpoint.read_weights(tmp_path / name), words) for name, words in weights])
    refused([(lambda: verified.content(tmp_path, "r.yaml"), most)], errors.Damaged)
    verified.write_digests(Files(), giant, {"best.json": "0" * 64})
    refused([(lambda: verified.verify(giant), f"best.json: cannot be read: {most}")], errors.Damaged)
    words = "recipe: expected at most 1,048,576 bytes, got 1,099,511,627,776"
    refused([(lambda: config.load(tmp_path / "r.yaml"), words)])


def tables():
    """Columns of a small table that becomes large, and of types whose texts would be kept many times."""
    many = 1 << 16
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 99, pa.int32()), pa.array(["x" * 1000]))
    growing = [
        pa.array([0] * many),
        pa.array([[0] * many]),
        pa.array(["x" * many + str(i % 2) for i in range(64)]),
        pa.array([None] * 99, pa.list_(pa.uint8(), 100_000)),  # how long lists are is said once, absent ones too
    ]
    foreign = [
        pa.ListArray.from_arrays(pa.array(range(100), pa.int32()), words),
        pa.StructArray.from_arrays([words], ["b"]),
        words.cast(pa.large_string()),
        pa.array([b"x" * 1000] * 99, pa.binary(1000)),
    ]
    return growing, foreign


def test_tables_are_measured(tmp_path, monkeypatch):
    """Equal values take no room in a file."""
    path, (growing, foreign) = tmp_path / "t.parquet", tables()

    def parsed(column):
        pq.write_table(pa.table({"a": column}), path, compression="zstd", use_dictionary=column.type != pa.string())
        return parquet.parsed(path, path.read_bytes())

    assert all(parsed(column).num_rows == len(column) for column in growing)
    words = "expected columns of numbers, lists of numbers, or texts, got a: "
    refused([(lambda column=column: parsed(column), words) for column in foreign], errors.Damaged)
    build(DataSpec("sliding", (2, 2), (Difficulty((1, 3)),), count=2), tmp_path / "data")
    assert len(open_folder(tmp_path / "data").columns()) > 2
    monkeypatch.setattr(parquet, "MOST_UNSAID", 1 << 10)
    words = "expected at most 100 times its size, got"
    refused([(lambda column=column: parsed(column), words) for column in growing], errors.Damaged)
    monkeypatch.setattr(parquet, "MOST_UNSAID", 0)
    monkeypatch.setattr(parquet, "MOST_GROWTH", 0)
    words = "expected at most 0 times its size, got"
    refused([(lambda: open_folder(tmp_path / "data").columns(), words)], errors.Damaged)
