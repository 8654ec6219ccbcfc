"""Runs as values: their recipe files say all of them, and what is finished is skipped or refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.runs.directory import BEGUN, RunDirectory, best_policy
from recommit.storage import verified
from recommit.storage.files import Files
from recommit.train import config
from recommit.train.family import processes
from recommit.train.family.launch import LaunchOptions
from recommit.train.family.runs import Run, family_configs
from recommit.train.grpo.config import GrpoConfig


@pytest.mark.parametrize(
    ("verb", "plan"),
    [
        ("sft", config.load("paper-joint", ["engine.bucket=5"])),
        ("grpo", config.load("laptop-joint", cls=GrpoConfig, stage="grpo")),
        ("grpo", config.load("laptop-sliding", cls=GrpoConfig, stage="grpo")),
    ],
)
def test_a_recipe_file_says_everything(verb, plan, tmp_path):
    """Numbers, lists, phases, values of one puzzle, what is null and DeepSpeed's own settings."""
    run = Run(verb, plan, "from", tmp_path / "run")
    processes.write_recipes([run], tmp_path)
    assert config.load(processes.recipe(tmp_path, run), [], type(plan), verb) == plan
    assert run.state == "missing"


def made_by(folder, source):
    """The run that lies in a folder."""
    written = json.loads((folder / "config.json").read_text())
    sections = ("model", "optim", "targets", "validation", "engine", "run")
    plan = config.parse(config.SftConfig, {key: written[key] for key in sections})
    return Run("sft", plan, source, folder)


def test_a_warm_start_of_other_data_is_refused(init, data, tmp_path):
    import recommit.data

    mine = made_by(init, data)
    plan = mine.config
    assert mine.state == "finished"
    assert mine.skipped()
    other = tmp_path / "other"
    recipe = recommit.data.open(data, "train").spec
    recommit.data.build(replace(recipe, seed=recipe.seed + 1), other)
    with pytest.raises(ValueError, match=r"the folder belongs to another run: data was \["):
        replace(mine, source=other).skipped()
    half = tmp_path / "half"
    shutil.copytree(init, half)
    assert replace(mine, config=replace(plan, optim=replace(plan.optim, steps=10**6)), folder=half).state.startswith(
        "can go on after step "
    )


def killed(*_):
    raise KeyboardInterrupt


def test_a_finished_run_of_another_policy_is_refused_also_for_one_of_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(Run, "finished", True)
    run = Run("grpo", plan_of(), "sliding-3x3", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config.plain(run.config), "init": "of another"}))
    with pytest.raises(ValueError, match="the folder belongs to another run: init was 'of another', is "):
        run.skipped()


@pytest.mark.parametrize("lost", ["best.json", "DIGESTS", "begun again", "nothing but the time to remove a checkpoint"])
def test_a_run_that_died_after_its_last_checkpoint_is_not_skipped(init, data, tmp_path, lost, monkeypatch):
    """The pointer to the best policy and the digests come after it."""
    folder = tmp_path / "run"
    shutil.copytree(init, folder)
    run = made_by(folder, data)
    assert run.finished
    if lost == "begun again":
        monkeypatch.setattr(RunDirectory, "_seal", killed)
        with pytest.raises(KeyboardInterrupt):
            run.train(True)
        monkeypatch.undo()
    elif lost.startswith("nothing"):
        checkpoints = folder / "checkpoints"
        for step in range(run.config.run.keep):
            shutil.copytree(max(checkpoints.iterdir()), checkpoints / f"step-{step:08d}", dirs_exist_ok=True)
    else:
        verified.seal(Files(), folder, BEGUN)
    if lost == "best.json":
        (folder / lost).unlink()
        assert run.state.startswith("can go on after step ")
    assert not run.finished
    assert run.train(True) == 0
    assert run.finished
    assert best_policy(folder).is_dir()
    assert not (folder / "checkpoints" / "step-00000000").exists()


def test_nothing_is_called_finished_that_was_not_sealed(init, data, tmp_path, monkeypatch, capsys):
    """The digests are what comes last, and may fail."""
    folder = tmp_path / "run"
    shutil.copytree(init, folder)
    run = made_by(folder, data)
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "seal", killed)
        with pytest.raises(KeyboardInterrupt):
            run.train(False)
    assert "finished" not in capsys.readouterr().err
    assert run.train(False) == 0
    assert "finished" in capsys.readouterr().err


def test_a_recipe_of_one_process_is_not_shared_by_ranks(tmp_path):
    run = Run("grpo", plan_of(), "from", tmp_path / "run")
    with pytest.raises(ValueError, match=r"gpus-per-run: expected 1 for run with engine\.kind plain, got 2"):
        processes.check(LaunchOptions(gpus=2, device="cpu").fleet(), [run])
    processes.check(LaunchOptions(gpus=2, gpus_per_run=1, device="cpu").fleet(), [run])


def test_a_caller_changes_one_run_of_a_family():
    changes = ["phases=[{steps: 3}]", "family.fixed.optim.steps=31", "family.fixed-4.rollout.instances=64"]
    given = family_configs("laptop-sliding", ("adaptive", "fixed-4", "fixed-8"), changes, {})
    assert [each.optim.steps for each in given.values()] == [3, 31, 31]
    assert (given["fixed-4"].rollout.instances, given["fixed-8"].rollout.instances) == (64, 512)
    with pytest.raises(ValueError, match=r"expected family\.NAME\.FIELD=VALUE"):
        family_configs("laptop-sliding", ("fixed-4",), ["family.fixed=3"], {})
