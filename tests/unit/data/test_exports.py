"""Exports, opened with the tools they are for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import recommit.data
from recommit.data import exports, rows, samples, show
from recommit.data.spec import DataSpec, Difficulty

PLAN = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), 30, validation=4, perturbed=1, shard=20)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "set"
    recommit.data.build(PLAN, folder)
    return recommit.data.open(folder)


def load_dataset(*arguments, **settings):
    """`datasets.load_dataset`, whose warnings about itself are no business of ours."""
    datasets = pytest.importorskip("datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return datasets.load_dataset(*arguments, **settings)


def test_a_stranger_opens_the_folder(data, tmp_path):
    """As a local repository (the card says where the splits are), and as plain Parquet."""
    content = data.columns()
    for loaded in (
        load_dataset(str(data.folder), split="train", cache_dir=str(tmp_path / "a")),
        load_dataset("parquet", data_dir=str(data.folder / "data"), split="train", cache_dir=str(tmp_path / "b")),
    ):
        assert loaded.num_rows == len(data)
        for i in range(0, len(data), 17):
            row = loaded[i]
            grid = np.frombuffer(row["state"], np.uint8).reshape(row["rows"], row["cols"])
            assert np.array_equal(grid, content.states[i])
            assert row["actions"] == content.actions[i].view(np.int8).tolist()
            assert row["distance"] == content.distance[i]
            assert row["dead"] == (content.distance[i] < 0)
            assert [a for a in range(4) if row["optimal"] >> a & 1] == np.flatnonzero(
                rows.masks(content.optimal[i : i + 1])[0]
            ).tolist()
            assert row["split"] == "train"
            assert row["id"] == data.ids(content[i : i + 1])[0]


def test_card(data):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    card = huggingface_hub.DatasetCard.load(data.folder / "README.md")
    assert card.data.license == "apache-2.0"
    assert [item["split"] for item in card.data.configs[0]["data_files"]] == ["train", "validation"]
    assert "snapshot_download" not in card.text, "it was not pushed to anywhere"


def test_parquet_with_images(data, tmp_path):
    exports.export(data, tmp_path / "out", "parquet", states_per_file=64)
    loaded = load_dataset(
        "parquet", data_files=str(tmp_path / "out" / "*.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    content = data.columns()
    content = content[~content.dead]
    expanded = samples.expand(content)
    assert loaded.num_rows == len(expanded)
    assert type(loaded.features["image"]).__name__ == "Image"
    pictures = data.puzzle.render(content.states)
    for i in range(0, len(expanded), 29):
        row, depth = loaded[i], int(expanded.depth[i])
        assert (row["depth"], row["actions"]) == (depth, expanded.actions[i, :depth].tolist())
        assert np.array_equal(np.asarray(row["image"].convert("RGB")), pictures[expanded.row[i]])


def test_the_code_of_the_card_makes_batches_of_the_folder_itself(data, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    card = (data.folder / "README.md").read_text(encoding="utf-8")
    (code,) = [each for each in re.findall(r"```python\n(.*?)```", card, re.DOTALL) if "DataLoader" in each]
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code.replace("FOLDER", str(data.folder)), names)  # noqa: S102  (our own card)
    content, first = data.columns(), 0
    for batch in names["batches"]:
        part = content[first : first + len(batch["distance"])]
        assert batch["actions"].dtype == torch.int64
        assert np.array_equal(batch["actions"].numpy(), part.actions.view(np.int8))
        assert np.array_equal(batch["distance"].numpy(), part.distance)
        first += len(part)
    assert first == len(content)
    assert min(content.count) < 8  # else nothing was padded


def test_a_data_set_is_a_sequence(data):
    content, ids = data.columns(), data.ids(data.columns())
    for i in (0, 7, len(data) - 1, -1):
        row = data[i]
        assert row["id"] == ids[i]
        assert np.array_equal(row["state"], content.states[i])
        assert row["actions"] == content.actions[i, : content.count[i]].tolist()
        assert row["distance"] == content.distance[i]
    for part in (slice(3, 40), slice(None, None, -1), slice(5, 5)):
        assert data[part].sha256() == content[part].sha256()
    assert sum(1 for _ in data) == len(data)
    with pytest.raises(IndexError):
        data[len(data)]


def test_what_is_pushed_loads_back_by_the_line_of_its_card(data, tmp_path):
    from recommit.cli import main

    call = ["data", "export", str(data.folder), "--push", "me/set"]
    assert main([*call, "--hub", str(tmp_path)]) == 0
    place = tmp_path / "datasets" / "me" / "set"
    text = (place / "README.md").read_text()
    assert 'recommit.data.open(huggingface_hub.snapshot_download("me/set", repo_type="dataset"))' in text
    assert data.manifest.content in text
    assert "license: apache-2.0" in text
    assert recommit.data.open(place).columns().sha256() == data.columns().sha256()


def test_chat(data, tmp_path):
    names = exports.export(data, tmp_path, "chat")
    lines = [json.loads(line) for name in names for line in (tmp_path / name).read_text("utf-8").splitlines()]
    assert len(lines) == sum(len(expanded) for _, expanded in data.expand())
    first = lines[0]
    assert [message["role"] for message in first["messages"]] == ["user", "assistant"]
    assert first["messages"][0]["content"].count("<image>") == len(first["images"]) == 1
    assert json.loads(first["messages"][1]["content"])["actions"][0] in recommit.ACTIONS
    loaded = load_dataset("json", data_files=[str(tmp_path / names[0])], split="train", cache_dir=str(tmp_path / "c"))
    assert loaded[0]["id"] == first["id"]


@pytest.mark.parametrize("form", exports.FORMS)
def test_exports_are_the_same_twice(data, tmp_path, form):
    one, other = (exports.export(data, tmp_path / name, form) for name in "ab")
    assert one == other
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in one)


@pytest.mark.parametrize("form", exports.FORMS)
def test_larger_files_leave_none_of_the_smaller_ones(data, tmp_path, form):
    smaller = exports.export(data, tmp_path, form, states_per_file=5)
    mine = ("train-notes.txt", "train-1.jsonl", f"more-00000.{exports.FORMS[form][0]}")
    for name in mine:
        (tmp_path / name).touch()
    larger = exports.export(data, tmp_path, form, states_per_file=1000)
    assert len(larger) < len(smaller)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*larger, *mine])


def test_statistics(data):
    found = show.describe(data)
    content = data.columns()
    assert found["rows"] == len(content)
    assert found["dead"] == int(content.dead.sum())
    assert sum(found["kinds"].values()) == len(content)
    assert sum(found["lengths"].values()) == 30
    assert found["admissible"]["4"] == int((content.distance >= 4).sum())
    assert sum(found["admissible"].values()) == found["samples"]
    ties = rows.masks(content.optimal)[content.distance > 0].sum(axis=1)
    assert found["optimal_actions"] == {str(n): int((ties == n).sum()) for n in sorted(set(ties.tolist()))}
    assert "sokoban 6x6, train" in show.text(found)
    json.dumps(found)


def test_picture(data, tmp_path):
    pytest.importorskip("matplotlib")
    show.picture(data, tmp_path / "show.png")
    assert (tmp_path / "show.png").read_bytes()[:4] == b"\x89PNG"


def run(*words):
    call = [sys.executable, "-m", "recommit.cli", "data", *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_commands(tmp_path):
    out = tmp_path / "set"
    words = ["build", "--task", "sokoban", "--size", 6, "--boxes", 1, "--length", 2, 9, "--count", 20, "--test", 4]
    done = run(*words, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "overlap: " in done.stdout
    assert "rows/s" in done.stderr
    done = run("show", out, "--json")
    assert json.loads(done.stdout)["instances"] == 24
    assert "depth 8" in run("show", out).stdout
    assert "all as they should be" in run("show", out, "--verify", "--labels").stdout
    assert run("show", tmp_path).returncode == 2
    none = run("export", out, "--out", tmp_path / "e", "--states-per-file", 0)
    assert none.returncode == 2
    assert "states_per_file: expected at least 1, got 0" in none.stderr
    assert not (tmp_path / "e").exists()
    empty = run("show", out, "--split", "validation", "--picture", tmp_path / "p.png")
    assert empty.returncode == 2
    assert "split: expected one that has rows" in empty.stderr
    assert run("build", "--out", tmp_path / "x").returncode == 2
    assert run("build", "--task", "chess", "--out", tmp_path / "x").returncode == 2
    wrong = run(*words, "--seed", -1, "--out", tmp_path / "x")
    assert wrong.returncode == 2
    assert "seed: expected 0..9223372036854775807, got -1" in wrong.stderr
    assert not (tmp_path / "x").exists()


def test_looking_at_the_package_needs_no_extra():
    """The command line lists its verbs without pyarrow; using one says what to install."""
    script = (
        "import sys; sys.modules['pyarrow'] = None; sys.modules['torch'] = None\n"
        "import recommit.cli.verbs.data, recommit.data as d\n"
        "d.DataSpec\n"
        "try:\n    d.open('x')\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "pyarrow is not installed; in a clone of recommit: pip install -e '.[data]'"
