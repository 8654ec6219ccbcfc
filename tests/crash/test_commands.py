"""An evaluation, a commitment graph, a world model and a head go on after any change of the disk failed, or was the
last. (Training: tests/unit/train/test_disk.py.)"""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
from tests.crash.changes import ACTS, Changes, Undisturbed, dead, full
from tests.damage import finished

from recommit.cli import main
from recommit.storage import files

#: In the quick tier; the other one takes longer.
KINDS = ("evaluate", "graph build")
MORE = ("train world-model", "train head")


@pytest.fixture(scope="module")
def changes():
    gathered = Changes()
    yield gathered
    gathered.stop()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return finished.make(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="module", params=[*KINDS, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in MORE)])
def alone(request, place, changes):
    shutil.rmtree(place / "new", ignore_errors=True)
    words = finished.words_of(finished.COMMANDS[request.param], place)
    return Undisturbed.of(lambda _: main(words), place / "new", changes)


def test_a_change_that_fails_or_is_the_last(alone, changes):
    """At the beginning, between and at the end."""
    assert alone.count > 10
    alone.check(changes, ACTS.values(), (1, alone.count // 2, alone.count))


@pytest.mark.nightly
@pytest.mark.parametrize("act", ACTS)
def test_every_change_that_fails_or_is_the_last(alone, changes, act, record_property):
    alone.check(changes, [ACTS[act]], range(1, alone.count + 1))
    record_property("executed", alone.count)


@pytest.mark.parametrize("alone", ["evaluate"], indirect=True)
@pytest.mark.parametrize("plant", ["says that all is well", "sweeps nothing"])
def test_what_is_missing_or_left_is_seen(alone, changes, monkeypatch, plant):
    """Of any three changes in a row one is a rename, before which there is a temporary file."""
    command, act = alone, full
    if plant == "sweeps nothing":
        monkeypatch.setattr(files, "sweep", lambda *_: None)
        act = dead
    else:
        command = replace(command, run=lambda out: 0 * alone.run(out))
    middle = command.count // 2
    with pytest.raises(AssertionError, match="change"):
        command.check(changes, [act], range(middle, middle + 3))
