"""Published levels are imported if they are as published, and data sets of them are the same for everybody."""

from __future__ import annotations

import hashlib
import shutil

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="data sets need the data extra")
from tests.refusals import refused

import recommit
from recommit.cli.command_line import main
from recommit.data import DataSpec, boxoban, held_out, sampling
from recommit.storage import errors

#: Folder -> levels; three of a file.
MANY = {"unfiltered/train": 7, "unfiltered/valid": 3, "unfiltered/test": 4, "hard": 5}
SPEC = {"task": "sokoban", "size": 10, "difficulties": [{"length": [1, 254], "boxes": 4}], "generator": "unfiltered"}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of a small publication, an empty cache, and the levels by folder."""
    folders, every = {}, {}
    for number, (name, many) in enumerate(MANY.items()):
        levels = recommit.Sokoban(10, 4).generate(many, seed=number, generator="boxoban", length=(10, 40)).states
        (folder := tmp_path / "copy" / name).mkdir(parents=True)
        for file in range(-(-many // 3)):
            recommit.write_levels(folder / f"{file:03}.txt", levels[3 * file : 3 * file + 3], format="boxoban")
        digests = [(hashlib.sha256(p.read_bytes()).hexdigest(), p.name) for p in sorted(folder.iterdir())]
        sums = "".join(f"{digest}  {file}\n" for digest, file in digests)
        folders[name], every[name] = (many, hashlib.sha256(sums.encode()).hexdigest()), levels
    monkeypatch.setattr(boxoban, "PER_FILE", 3)
    monkeypatch.setattr(boxoban, "FOLDERS", folders)
    splits = {("unfiltered", "train"): "unfiltered/train", ("unfiltered", "validation"): "unfiltered/valid"}
    splits |= {("unfiltered", "test"): "unfiltered/test", ("hard", "test"): "hard"}
    monkeypatch.setattr(boxoban, "SPLITS", {split: (name, 0, MANY[name]) for split, name in splits.items()})
    monkeypatch.setenv("RECOMMIT_CACHE", str(tmp_path / "cache"))
    boxoban._file.cache_clear()  # it knows files by the names of their folders
    return tmp_path / "copy", every


def test_copies_of_test_levels_are_passed_over(copy, tmp_path, monkeypatch):
    source, every = copy
    assert main(["data", "import", "boxoban", str(source)]) == 0
    monkeypatch.setattr(boxoban, "COPIES", {"unfiltered/train": (2, 5), "unfiltered/valid": (0,)})
    spec = DataSpec.from_dict({**SPEC, "count": 5, "validation": 2, "test": 4})
    recommit.data.build(spec, tmp_path / "data")
    for split, folder, kept in (
        ("train", "unfiltered/train", [0, 1, 3, 4, 6]),
        ("validation", "unfiltered/valid", [1, 2]),
    ):
        rows = recommit.data.open(tmp_path / "data", split).columns()
        assert np.array_equal(rows[rows.t == 0].states, every[folder][kept])
    card = (tmp_path / "data" / "README.md").read_text()
    assert "published splits" in card
    assert "no instance of one split" not in card


def test_a_data_set_has_the_levels_of_the_published_splits(copy, tmp_path, capsys):
    source, every = copy
    assert main(["data", "import", "boxoban", str(source)]) == 0
    assert "unfiltered/train (7), unfiltered/valid (3), unfiltered/test (4), hard (5)" in capsys.readouterr().out
    shutil.rmtree(source)
    spec = DataSpec.from_dict({**SPEC, "count": 7, "validation": 3, "test": 4, "shard": 4})
    recommit.data.build(spec, tmp_path / "data")
    for split, folder in (
        ("train", "unfiltered/train"),
        ("validation", "unfiltered/valid"),
        ("test", "unfiltered/test"),
    ):
        rows = recommit.data.open(tmp_path / "data", split).columns()
        starts = rows[(rows.t == 0)]
        assert np.array_equal(starts.states, every[folder])
        assert starts.instance.tolist() == list(range(MANY[folder]))
    assert main(["data", "show", str(tmp_path / "data"), "--verify", "--labels"]) == 0
    assert np.array_equal(held_out.starts(spec, "test", 4, ()).states, every["unfiltered/test"])


def test_no_level_is_trained_on_twice(copy):
    """Each shard has its part of the levels, and a difficulty passes over what another one has."""
    boxoban.import_levels(copy[0])
    every = {"length": [1, 254], "boxes": 4}
    for count, shard, difficulties in (
        (4, 2, [every]),
        (7, 3, [every]),
        (6, 6, [every, {**every, "length": [2, 254]}]),
    ):
        spec = DataSpec.from_dict({**SPEC, "count": count, "shard": shard, "difficulties": difficulties})
        numbers = [sampling.starts(spec, "train", each).number for each in range(spec.shards("train"))]
        assert len(set(np.concatenate(numbers).tolist())) == count


def test_lengths_and_counts_are_those_of_the_levels(copy):
    source, every = copy
    boxoban.import_levels(source)
    length = recommit.Sokoban(10, 4).distance(every["hard"])
    low, high = np.sort(length)[[1, 3]].tolist()
    spec = DataSpec.from_dict({**SPEC, "count": 0, "generator": "hard"})
    chosen = held_out.starts(spec, "test", int(((length >= low) & (length <= high)).sum()), (low, high))
    assert np.array_equal(chosen.states, every["hard"][(length >= low) & (length <= high)])
    fits, short = int((length <= low).sum()), DataSpec.from_dict({**SPEC, "count": 8, "shard": 4})
    trained = DataSpec.from_dict({**SPEC, "count": 2, "generator": "hard"})
    few = [
        (
            lambda: held_out.starts(spec, "test", 6, ()),
            "expected 6 distinct instances of length [1, 254], found 5",
        ),
        (lambda: held_out.starts(spec, "test", 5, (1, low)), f"found {fits} among 5 candidates"),
        (
            lambda: sampling.starts(short, "train", 0),
            "expected 4 distinct instances of length [1, 254], found 3",
        ),
    ]
    refused(few, errors.NotEnough)
    none = (lambda: sampling.starts(trained, "train", 0), "train: expected 0 of the hard levels")
    refused([none, (lambda: held_out.fresh(spec, 5, 2, ()), "fresh: expected a generator")], errors.WrongDataSpec)


def test_other_levels_than_the_published_ones_are_refused(copy):
    """In a copy that is imported, and in the cache."""
    source, cached = copy[0], boxoban.cached
    boxoban.import_levels(source)
    for name in ("hard/000.txt", "hard/SHA256SUMS"):
        whole = (cached() / name).read_bytes()
        (cached() / name).write_bytes(whole[:-1] + b"#")
        words = f"{name}: expected what was imported"
        refused([(lambda: boxoban.levels("hard", "test", np.arange(2)), words)], errors.Damaged)
        (cached() / name).write_bytes(whole)
        boxoban._file.cache_clear()
    shutil.rmtree(cached())
    file = source / "hard" / "001.txt"
    text = file.read_bytes()
    file.write_bytes(text.replace(b"@", b" ", 1).replace(b" ", b"@", 1))
    refused([(lambda: boxoban.import_levels(source), "hard: expected the published levels, sha256 ")], errors.Damaged)
    file.unlink()
    rows = [
        (lambda: boxoban.import_levels(source), "hard: expected 000.txt to 001.txt, got 1 files"),
        (lambda: boxoban.import_levels(source / "hard"), "got none of unfiltered/train, "),
    ]
    refused(rows, errors.WrongFolder)
    assert not cached().exists()
