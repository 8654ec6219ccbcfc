"""kill -9 at any moment loses nothing, doubles nothing, and shows nobody a torn file."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash import killer
from tests.crash.trees import SMALL, differences, findings, tree
from tests.waiting import HANG, ended, until

from recommit.data.builder import build
from recommit.data.spec import DataSpec

ROOT = Path(__file__).parents[2]


def campaign(*arguments):
    """The killer in a process of its own: it forks, and wants no threads beside it."""
    call = [sys.executable, "-m", "tests.crash.killer", *arguments]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_kills_at_random_moments(record_property):
    status, report, log = campaign("--kills", "40", "--seed", "1")
    assert report["kills"] >= 40
    assert report["findings"] == 0, (report, log)
    assert status == 0
    record_property("executed", report["kills"])


def test_the_harness_sees_a_naive_writer():
    """Killed at every fourth operation and not at random moments: the findings are the same each time."""
    status, report, _ = campaign("--kills", "12", "--plant", "naive")
    assert report["findings"] > 10, report
    assert status == 1


def test_a_series_ends_where_every_kill_comes_too_early(tmp_path):
    code = (
        "import json, sys; from tests.crash.killer import Campaign; c = Campaign(0, sys.argv[1]); c.duration = 0; "
        "c._kinds = lambda: iter(['anywhere'] * 1000); c.series(); print(json.dumps([c.counts, c.found]))"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    counts, found = json.loads(said.stdout)
    assert (counts["kills"], counts["survived"], counts["series"]) == (killer.MOST, 1, 1)
    assert found == []


@pytest.mark.nightly
def test_two_thousand_kills(record_property):
    _, report, log = campaign("--kills", "2000", "--seed", "3")
    assert report["kills"] >= 2000
    assert report["findings"] == 0, (report, log)
    record_property("executed", report["kills"])


@pytest.mark.nightly
def test_kills_during_recovery(record_property):
    _, report, log = campaign("--kills", "300", "--seed", "4", "--recovery")
    assert report["killed (restart)"] >= 300
    assert report["findings"] == 0, (report, log)
    record_property("executed", report["kills"])


#: As many files as SMALL, fewer instances in them.
LIGHT = SMALL.changed(count=30, validation=4, test=4, shard=6, perturbed=1)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(LIGHT, folder)
    return tree(folder)


#: Of the operations that a build dies at, every so many in the quick tier; half way through a write there are few.
STRIDES = {"before": 10, "middle": 2, "after": 9}


@pytest.mark.parametrize("moment", STRIDES)
def test_a_kill_at_many_operations(tmp_path, undisturbed, moment, record_property):
    record_property("executed", killed_at_every(STRIDES[moment], moment, tmp_path, undisturbed))


@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_at_every_operation(tmp_path, undisturbed, moment, record_property):
    record_property("executed", killed_at_every(1, moment, tmp_path, undisturbed))


def killed_at_every(stride, moment, tmp_path, undisturbed):
    """Operations that change the disk in turn, in one build after another of the same folder and of fresh ones; how
    many.
    """
    kept, at, deaths = tmp_path / "kept", 1, 0
    while True:
        fresh = tmp_path / "fresh"
        end = run_alone("Suicidal", fresh, at, moment)
        assert findings(fresh, undisturbed) == []
        if deaths % 3 == 0:
            assert run_alone("Suicidal", kept, 1 + at % 7, moment) != "failed"
            assert findings(kept, undisturbed) == []
        deaths += end == killer.KILLED
        if end == killer.SURVIVED:
            break
        if deaths % 10 == 0:
            build(LIGHT, fresh)
            assert differences(fresh, undisturbed) == []
        shutil.rmtree(fresh, ignore_errors=True)
        at += stride
    assert deaths > (10 if moment == "middle" else 50) // stride
    build(LIGHT, kept)
    assert differences(kept, undisturbed) == []
    return deaths


def run_alone(_kind, folder, at, moment):
    return killer.run(folder, files_=killer.Suicidal(at, moment), recipe=LIGHT)


BUILD = [sys.executable, "-m", "recommit.cli", "data", "build"]
COMMON = ["--perturbed", "1", "--test", "64"]
SLIDING = [*BUILD, "--task", "sliding", "--size", "3", "--length", "8", "24", "--shard", "512", *COMMON]
SOKOBAN = [*BUILD, "--task", "sokoban", "--size", "8", "--boxes", "2", "--length", "8", "32", "--shard", "256", *COMMON]


class Hunt:
    """Builds one recipe with two workers in one folder again and again, and kills the build (and it alone) on the way.

    It dies at one of its next operations, by a seed: so it gets on, but slowly, and its workers are in any phase of
    their life. When they do what is chance; that it dies so often is not, while it has more operations to come.
    """

    def __init__(self, recipe, folder, seed):
        self.recipe, self.folder, self.random = recipe, folder, random.Random(seed)

    def run(self, kills, most):
        """Each kill within ``most`` operations of a start; then the build is left alone."""
        for _ in range(kills):
            files_ = killer.Suicidal(self.random.randint(1, most), self.random.choice(["before", "after"]))
            assert killer.run(self.folder, files_=files_, recipe=self.recipe, workers=2) == killer.KILLED
        last = len(list(self.folder.glob("data/*.parquet")))
        assert killer.run(self.folder, recipe=self.recipe, workers=2) == killer.SURVIVED
        return last


def test_killed_with_its_workers_working(tmp_path, record_property):
    """The workers of a killed build die with it, and the folder's lock is free at once."""
    plan = LIGHT.changed(count=120)
    build(plan, tmp_path / "calm")
    Hunt(plan, tmp_path / "killed", 4).run(8, most=20)
    assert differences(tmp_path / "killed", tree(tmp_path / "calm")) == []
    record_property("executed", 8)


@pytest.mark.nightly
def test_a_million_rows_killed_a_hundred_times(tmp_path, record_property):
    """Two workers, one folder, killed on the way; undisturbed with 1, 2 and 4 workers and with Ray."""
    pytest.importorskip("ray")
    command = [*SOKOBAN, "--count", "55000"]
    for name, how in {"1": [], "2": [], "4": [], "ray": ["--engine", "ray"]}.items():
        workers = "2" if name == "ray" else name
        words = [*command, *how, "--workers", workers, "--out", str(tmp_path / name)]
        subprocess.run(words, check=True, capture_output=True)
        assert differences(tmp_path / name, tree(tmp_path / "1")) == []
    rows = json.loads((tmp_path / "1" / "manifest.json").read_text("utf-8"))["splits"]["train"]["rows"]
    assert rows > 1_000_000
    plan = DataSpec.from_text((tmp_path / "1" / "recipe.json").read_text("utf-8"))
    last = Hunt(plan, tmp_path / "killed", 5).run(100, most=10)
    assert differences(tmp_path / "killed", tree(tmp_path / "1")) == []
    record_property("executed", 100)
    print(
        f"{rows:,} rows in {len(tree(tmp_path / '1')) - 3} shards; 100 kills, {last} shards were there at the last one"
    )


def test_ctrl_c_stops_with_130(tmp_path):
    call = [*SLIDING, "--count", "120000", "--workers", "2", "--out", str(tmp_path / "set")]
    with ended(subprocess.Popen(call, stderr=subprocess.PIPE, start_new_session=True)) as child:
        until(lambda: list(tmp_path.glob("set/data/*.parquet")), child)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=HANG)
    assert child.returncode == 130
    assert b"interrupted" in said
    assert not (tmp_path / "set" / "manifest.json").exists()
