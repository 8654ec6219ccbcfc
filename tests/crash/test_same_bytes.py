"""The same recipe gives the same bytes: any workers, threads, engine, place, time zone, language, hash seed, clock."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from tests.crash.changes import SMALL, content, differences

import recommit
import recommit.data
from recommit.data import builder
from recommit.data.builder import build
from recommit.storage import errors


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(SMALL, folder)
    return content(folder)


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


#: Each differs from the others in everything that a careless program might look at.
WORLDS = (
    {"TZ": "UTC", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "0", "umask": "022"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "1", "umask": "077"},
    {"TZ": "America/St_Johns", "LC_ALL": "POSIX", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "12345", "umask": "002"},
)
#: Writes files the way a user does; planted: a title that depends on the hash seed.
WRITE = """
import sys, recommit
from recommit.cli import main
folder, recipe = sys.argv[1:]
for task, size in (("sokoban", "8"), ("sliding", "4")):
    out = ["--out", f"{folder}/{task}.txt"]
    assert main(["levels", "generate", "--task", task, "--size", size, "--count", "50", *out]) == 0
assert main(["data", "build", "--recipe", recipe, "--out", f"{folder}/set"]) == 0
recommit.write_levels(f"{folder}/planted", recommit.Sokoban(8).generate(1).states, titles=[str(hash("title"))])
"""


def test_another_world(tmp_path, undisturbed):
    """Whatever the folder, time zone, language, hash seed and umask."""
    (tmp_path / "recipe.yaml").write_text(SMALL.to_json(), "utf-8")
    trees = []
    for number, world in enumerate(WORLDS):
        place, here = tmp_path / str(number), tmp_path / f"{number}-here"
        place.mkdir()
        here.mkdir()
        words = ["sh", "-c", f'umask {world["umask"]}; exec "$@"', "sh", sys.executable, "-c", WRITE]
        call = [*words, str(place), str(tmp_path / "recipe.yaml")]
        subprocess.run(call, cwd=here, env={**os.environ, **world}, check=True, capture_output=True)
        assert not list(here.iterdir()), "the working directory was written to"
        assert differences(place / "set", undisturbed) == []
        trees.append(content(place))
    assert {name for name in trees[0] if len({each[name] for each in trees}) > 1} == {"planted"}


def test_errors_cross_every_engine(tmp_path, monkeypatch):
    """What a worker raises arrives as it was raised, and what a dead worker leaves is a typed error too."""
    impossible = SMALL.changed(difficulties=(recommit.data.Difficulty((29000, 30000), 1),))
    for many in (1, 2):
        with pytest.raises(errors.DataError, match="29000"):
            build(impossible, tmp_path / str(many), workers=many)
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(errors.WorkerDied, match="status 1"):
        build(SMALL, tmp_path / "dead", workers=2)
