"""kill -9 at any moment loses nothing, doubles nothing, and shows nobody a torn file."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.crash import killer
from tests.crash.trees import SMALL, differences, findings, tree

from recommit.data.builder import build

ROOT = Path(__file__).parents[2]


def campaign(*arguments):
    """The killer in a process of its own: it forks, and wants no threads beside it."""
    call = [sys.executable, "-m", "tests.crash.killer", *arguments]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_hundred_kills():
    status, report, log = campaign("--kills", "100", "--seed", "1")
    assert report["kills"] >= 100
    assert report["findings"] == 0, (report, log)
    assert status == 0


def test_the_harness_sees_a_naive_writer():
    status, report, _ = campaign("--kills", "30", "--seed", "2", "--plant", "naive")
    assert report["findings"] > 3, report
    assert status == 1


@pytest.mark.nightly
def test_two_thousand_kills():
    _, report, log = campaign("--kills", "2000", "--seed", "3")
    assert report["kills"] >= 2000
    assert report["findings"] == 0, (report, log)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(SMALL, folder)
    return tree(folder)


@pytest.mark.parametrize("moment", ["before", "middle", "after"])
def test_a_kill_at_every_operation(tmp_path, undisturbed, moment):
    """Each operation that changes the disk in turn, in one build after another of the same folder and of fresh ones."""
    kept, at, deaths = tmp_path / "kept", 1, 0
    while True:
        fresh = tmp_path / "fresh"
        end = run_alone("Suicidal", fresh, at, moment)
        assert findings(fresh, undisturbed) == []
        assert run_alone("Suicidal", kept, 1 + at % 7, moment) != "failed"
        assert findings(kept, undisturbed) == []
        deaths += end == killer.KILLED
        if end == killer.SURVIVED:
            break
        if at % 10 == 0:
            build(SMALL, fresh)
            assert differences(fresh, undisturbed) == []
        shutil.rmtree(fresh, ignore_errors=True)
        at += 1
    assert deaths > 50
    build(SMALL, kept)
    assert differences(kept, undisturbed) == []


def run_alone(_kind, folder, at, moment):
    return killer.run(folder, files_=killer.Suicidal(at, moment))


COMMAND = [
    *(sys.executable, "-m", "recommit.data", "build", "--task", "sliding", "--size", "3", "--length", "8", "24"),
    *("--perturbed", "1", "--test", "64", "--shard", "512"),
]


def kill_command(folder, kills, extra, rng, longest):
    """Run the command line and kill it (and it alone) until it has died ``kills`` times; then let it finish."""
    made = 0
    while made < kills:
        child = subprocess.Popen([*COMMAND, *extra, "--out", str(folder)], stderr=subprocess.DEVNULL)
        try:
            child.wait(rng.uniform(0, longest))
        except subprocess.TimeoutExpired:
            child.kill()
            made += 1
        if child.wait() == 0:
            shutil.rmtree(folder)
    done = subprocess.run([*COMMAND, *extra, "--out", str(folder)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def test_killed_with_its_workers_working(tmp_path):
    """The workers of a killed build die with it, and the folder's lock is free at once."""
    extra = ["--count", "8000", "--workers", "2"]
    subprocess.run([*COMMAND, *extra, "--out", str(tmp_path / "calm")], check=True, capture_output=True)
    assert kill_command(tmp_path / "killed", 6, extra, random.Random(4), 3.0) == 6
    assert differences(tmp_path / "killed", tree(tmp_path / "calm")) == []


@pytest.mark.nightly
def test_a_million_rows_killed_a_hundred_times(tmp_path):
    """Two workers, killed at random moments, against undisturbed builds with 1, 2 and 4 workers."""
    extra = ["--count", "60000"]
    trees = []
    for workers in ("1", "2", "4"):
        folder = tmp_path / workers
        subprocess.run([*COMMAND, *extra, "--workers", workers, "--out", str(folder)], check=True, capture_output=True)
        trees.append(tree(folder))
    assert trees[0] == trees[1] == trees[2]
    begin = time.monotonic()
    kills = kill_command(tmp_path / "killed", 100, [*extra, "--workers", "2"], random.Random(5), 4.0)
    assert kills == 100
    assert differences(tmp_path / "killed", trees[0]) == []
    print(f"{kills} kills in {time.monotonic() - begin:.0f} s")


def test_ctrl_c_stops_with_130(tmp_path):
    call = [*COMMAND, "--count", "400000", "--workers", "2", "--out", str(tmp_path / "set")]
    with subprocess.Popen(call, stderr=subprocess.PIPE, start_new_session=True) as child:
        while not list(tmp_path.glob("set/data/*.parquet")):
            time.sleep(0.002)
            assert child.poll() is None
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=20)
    assert child.returncode == 130
    assert b"interrupted" in said
    assert not (tmp_path / "set" / "manifest.json").exists()
