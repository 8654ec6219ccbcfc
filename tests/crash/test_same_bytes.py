"""The same recipe gives the same bytes: any workers, threads, engine, place, time zone, language, hash seed, clock."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from tests.crash.trees import SMALL, differences, tree

import recommit
import recommit.data
from recommit.data import builder
from recommit.data.builder import build
from recommit.storage import errors


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(SMALL, folder)
    return tree(folder)


def test_order_of_shards(tmp_path, undisturbed, monkeypatch):
    """Shards finished in any order."""

    def shuffled(_engine, requests, _workers, _lock):
        rng = random.Random(7)
        for asked in rng.sample(requests, len(requests)):
            yield builder.unwrap(builder.answer(asked))

    monkeypatch.setattr(builder, "run", shuffled)
    build(SMALL, tmp_path / "set", workers=2)
    assert differences(tmp_path / "set", undisturbed) == []


def test_clock_jumps(tmp_path, undisturbed, monkeypatch):
    rng = random.Random(3)
    monkeypatch.setattr(time, "time", lambda: rng.uniform(0, 4e9))
    monkeypatch.setattr(time, "monotonic", lambda: rng.uniform(-86400, 86400))
    told = []
    build(SMALL, tmp_path / "set", progress=lambda done, *_: told.append(done))
    assert differences(tmp_path / "set", undisturbed) == []
    assert told == list(range(1, len(told) + 1))


def test_another_world(tmp_path, undisturbed):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(SMALL.to_json(), "utf-8")
    world = {"TZ": "America/St_Johns", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "77"}
    old = os.umask(0o077)
    try:
        call = [sys.executable, "-m", "recommit.cli", "data", "build", "--recipe", str(recipe), "--out", "set"]
        subprocess.run(call, cwd=tmp_path, env={**os.environ, **world}, check=True, capture_output=True)
    finally:
        os.umask(old)
    assert differences(tmp_path / "set", undisturbed) == []


@pytest.mark.nightly
def test_ray(tmp_path, undisturbed):
    """On a local cluster, in a process of its own: Ray leaves threads and warnings behind."""
    pytest.importorskip("ray")
    recipe = tmp_path / "recipe.json"
    recipe.write_text(SMALL.to_json(), "utf-8")
    call = [
        sys.executable,
        "-m",
        "recommit.cli",
        "data",
        "build",
        "--recipe",
        str(recipe),
        "--out",
        str(tmp_path / "set"),
    ]
    call += ["--engine", "ray", "--workers", "2"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert differences(tmp_path / "set", undisturbed) == []


def test_errors_cross_every_engine(tmp_path, monkeypatch):
    """What a worker raises arrives as it was raised, and what a dead worker leaves is a typed error too."""
    impossible = SMALL.changed(difficulties=(recommit.data.Difficulty((29000, 30000), 1),))
    for many in (1, 2):
        with pytest.raises(errors.DataError, match="29000"):
            build(impossible, tmp_path / str(many), workers=many)
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(errors.WorkerDied, match="status 1"):
        build(SMALL, tmp_path / "dead", workers=2)
