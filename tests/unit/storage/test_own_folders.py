"""A link in the place of a folder within one of ours: nothing behind it is swept, written or removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recommit.data import DataSpec, Difficulty, build
from recommit.storage import files
from recommit.storage.errors import WrongFolder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
SPEC = DataSpec("sliding", (2, 2), (Difficulty((1, 3)),), count=2, validation=0, test=0)
#: What the user has there, by names that a folder of ours would sweep, replace or prune.
MINE = (".settings.tmp", "DIGESTS", "step-00000001/notes", ".cache.tmp/notes")


@pytest.fixture
def mine(tmp_path):
    place = tmp_path / "mine"
    for name in MINE:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("mine\n")
    yield place
    assert sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()) == sorted(MINE)


def linked(folder, mine):
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(mine)
    return pytest.raises(WrongFolder, match=f"{folder.name}: expected a folder, got a link")


def test_folders_of_a_data_set_a_run_and_an_evaluation(tmp_path, mine):
    build(SPEC, tmp_path / "data")
    (tmp_path / "data" / "data").rename(tmp_path / "elsewhere")
    with linked(tmp_path / "data" / "data", mine):
        build(SPEC, tmp_path / "data")
    pytest.importorskip("torch")
    from recommit.evaluate.store import EvaluationStore
    from recommit.runs.directory import RunDirectory

    for name in ("checkpoints", "tensorboard", "wandb"):
        with linked(tmp_path / f"run with {name}" / name, mine), RunDirectory(tmp_path / f"run with {name}"):
            pytest.fail("opened")
    with linked(tmp_path / "eval" / "decisions", mine), EvaluationStore(tmp_path / "eval"):
        pytest.fail("opened")


def test_a_link_in_the_place_of_a_checkpoint(tmp_path, mine):
    from recommit.runs.checkpoints import Checkpoints

    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.folder.mkdir()
    for step in (1, 2):
        (checkpoints.folder / f"step-0000000{step}").symlink_to(mine)
    checkpoints.save(2, lambda folder: (folder / "weights").write_text("2"))
    checkpoints.prune(1, set())
    assert [path.name for path in checkpoints.folder.iterdir()] == ["step-00000002"]
    assert checkpoints.newest(pytest.fail).step == 2


PRESET = """
- data build --task sliding --size 2 --length 1 3 --count 2 --out one/data
- train sft --recipe laptop-sliding --data one/data --out one/sft
- train grpo --recipe laptop-sliding --init one/sft --out one/family/adaptive-s0
- evaluate one/family --paper --out one/eval-s0
"""


def test_folders_of_a_preset(tmp_path, mine):
    pytest.importorskip("torch")
    from recommit.reproduce import run
    from recommit.reproduce.options import ReproduceOptions

    (tmp_path / "preset.yaml").write_text(PRESET)
    for number, name in enumerate(("one", "launch", "one/family", "one/eval-s0", "one/family/adaptive-s0")):
        out = tmp_path / str(number)
        with linked(out / name, mine):
            run.reproduce(ReproduceOptions(out, str(tmp_path / "preset.yaml")))


def test_the_folder_that_was_asked_for_may_be_a_link(tmp_path):
    (tmp_path / "large disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "large disk")
    build(SPEC, tmp_path / "data")
    assert (tmp_path / "large disk" / "manifest.json").is_file()
    files.own_folder(Path(tmp_path / "nowhere"))


def test_a_policy_is_not_saved_through_a_link(tmp_path, mine):
    """Libraries write a part of it, and they follow links."""
    pytest.importorskip("torch")
    from recommit.policy.checkpoint import save_policy

    names = ("adapter", "adapter/adapter_config.json", "tokenizer.json", "backbone", "heads.safetensors", "config.json")
    for number, name in enumerate(names):
        policy = tmp_path / str(number)
        (policy / name).parent.mkdir(parents=True)
        (policy / name).symlink_to(mine / "DIGESTS" if "." in name else mine)
        with pytest.raises(WrongFolder, match="expected files, got a link"):
            save_policy(None, policy)
