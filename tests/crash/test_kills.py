"""kill -9 at any moment loses nothing, doubles nothing, and no reader sees a torn file."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys

import pytest
from tests.crash import killer
from tests.crash.changes import SMALL, content, differences, findings
from tests.waiting import HANG, ended, until

from recommit.data import manifest
from recommit.data.builder import build
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import files

#: As many files as SMALL, fewer instances in them.
LIGHT = SMALL.changed(count=30, validation=4, test=4, shard=6, perturbed=1)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(LIGHT, folder)
    return content(folder)


#: Of the operations that a build dies at, every how many in the quick tier; half way through a write there are few.
STRIDES = {"before": 7, "middle": 2, "after": 6}


@pytest.mark.parametrize("moment", STRIDES)
def test_a_kill_at_many_operations(tmp_path, undisturbed, moment, record_property):
    record_property("executed", killed_at_every(STRIDES[moment], moment, tmp_path, undisturbed))


@pytest.mark.nightly
@pytest.mark.parametrize("moment", STRIDES)
def test_a_kill_at_every_operation(tmp_path, undisturbed, moment, record_property):
    record_property("executed", killed_at_every(1, moment, tmp_path, undisturbed))


def test_a_naive_writer_is_seen(tmp_path, undisturbed, monkeypatch):
    monkeypatch.setattr(files, "replace", killer.naive)
    with pytest.raises(AssertionError, match="torn or wrong"):
        killed_at_every(4, "before", tmp_path, undisturbed)


def killed_at_every(stride, moment, tmp_path, undisturbed):
    """Operations that change the disk in turn, in fresh folders, and in one that recovers from kill after kill; how
    many.
    """
    kept, at, deaths = tmp_path / "kept", 1, 0
    while True:
        fresh = tmp_path / "fresh"
        end = killer.run(fresh, killer.Suicidal(at, moment), LIGHT)
        assert findings(fresh, undisturbed) == []
        for _ in range(3):
            assert killer.run(kept, killer.Suicidal(1 + at % 7, moment), LIGHT) != killer.FAILED
            assert findings(kept, undisturbed) == []
        deaths += end == killer.KILLED
        if end == killer.SURVIVED:
            break
        if deaths % 5 == 0:
            build(LIGHT, fresh)
            assert differences(fresh, undisturbed) == []
            shutil.rmtree(kept)
        shutil.rmtree(fresh, ignore_errors=True)
        at += stride
    assert deaths > (10 if moment == "middle" else 50) // stride
    build(LIGHT, kept)
    assert differences(kept, undisturbed) == []
    return deaths


BUILD = [sys.executable, "-m", "recommit.cli", "data", "build"]
SLIDING = DataSpec("sliding", (3, 3), (Difficulty((8, 24)),), 120_000, test=64, perturbed=1, shard=512)
SOKOBAN = DataSpec("sokoban", (8, 8), (Difficulty((8, 32), 2),), 55_000, test=64, perturbed=1, shard=256)


def hunted(recipe, folder, seed, kills, most):
    """Build with two workers in one folder again and again, each build (and it alone) killed within ``most`` operations
    of its start; then it is left alone. How many shards were there at the last kill.

    Each dies at one of its next operations, by a seed: so it gets on, but slowly, and its workers are in any phase of
    their life. When they do what is chance; that it dies so often is not, while it has more operations to come.
    """
    draw = random.Random(seed)
    for _ in range(kills):
        files_ = killer.Suicidal(draw.randint(1, most), draw.choice(["before", "after"]))
        assert killer.run(folder, files_=files_, recipe=recipe, workers=2) == killer.KILLED
    last = len(list(folder.glob("data/*.parquet")))
    assert killer.run(folder, recipe=recipe, workers=2) == killer.SURVIVED
    return last


def test_killed_with_its_workers_working(tmp_path, record_property):
    """The workers of a killed build die with it, and the folder's lock is free at once."""
    plan = LIGHT.changed(count=120)
    build(plan, tmp_path / "calm")
    hunted(plan, tmp_path / "killed", 4, 8, most=20)
    assert differences(tmp_path / "killed", content(tmp_path / "calm")) == []
    record_property("executed", 8)


@pytest.mark.nightly
def test_a_million_rows_killed_a_hundred_times(tmp_path, record_property):
    """Two workers, one folder, killed on the way; undisturbed with 1, 2 and 4 workers and with Ray."""
    pytest.importorskip("ray")
    (recipe := tmp_path / "r.json").write_text(SOKOBAN.to_json())
    for name, how in {"1": [], "2": [], "4": [], "ray": ["--engine", "ray"]}.items():
        workers = "2" if name == "ray" else name
        words = [*BUILD, "--recipe", str(recipe), *how, "--workers", workers, "--out", str(tmp_path / name)]
        subprocess.run(words, check=True, capture_output=True)
        assert differences(tmp_path / name, content(tmp_path / "1")) == []
    rows = manifest.read(tmp_path / "1").total("rows", "train")
    assert rows > 1_000_000
    last = hunted(SOKOBAN, tmp_path / "killed", 5, 100, most=10)
    assert differences(tmp_path / "killed", content(tmp_path / "1")) == []
    record_property("executed", 100)
    print(f"{rows:,} rows; 100 kills, {last} shards were there at the last one")


def test_ctrl_c_stops_with_130(tmp_path):
    (recipe := tmp_path / "r.json").write_text(SLIDING.to_json())
    call = [*BUILD, "--recipe", str(recipe), "--workers", "2", "--out", str(tmp_path / "set")]
    with ended(subprocess.Popen(call, stderr=subprocess.PIPE, start_new_session=True)) as child:
        until(lambda: list(tmp_path.glob("set/data/*.parquet")), child)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=HANG)
    assert child.returncode == 130
    assert b"interrupted" in said
    assert not (tmp_path / "set" / "manifest.json").exists()
