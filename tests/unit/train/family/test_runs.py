"""Runs as values: their recipe files say all of them, and what is finished is skipped or refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import FINISHED, plan_of

from recommit.runs.directory import BEGUN, RunDirectory, best_policy
from recommit.storage import digests
from recommit.storage.files import Files
from recommit.train import config
from recommit.train.family import processes
from recommit.train.family.launch import Fleet
from recommit.train.family.runs import Run
from recommit.train.grpo.config import GrpoConfig


@pytest.mark.parametrize("name", config.recipes())
def test_a_recipe_file_says_everything(name, tmp_path):
    """Numbers, lists, what is null and DeepSpeed's own settings."""
    for verb, cls in (("sft", config.SftConfig), ("grpo", GrpoConfig)):
        if config.section(name, verb):
            plan = config.load(
                name, ["engine={kind: deepspeed, settings: {a: {b: 5e8}}}"] if verb == "sft" else [], cls, verb
            )
            run = Run(verb, plan, "from", tmp_path / "run")
            processes.write_recipes([run], tmp_path)
            assert config.load(processes.recipe(tmp_path, run), [], cls, verb) == plan


def test_a_reinforcement_with_everything_said(tmp_path):
    run = Run("grpo", plan_of(**FINISHED), "from", tmp_path / "run")
    processes.write_recipes([run], tmp_path)
    assert config.load(tmp_path / "run.yaml", [], GrpoConfig, "grpo") == run.config
    assert run.flags == ["--init", "from", "--out", str(tmp_path / "run")]
    assert run.state == "missing"


def test_a_warm_start_of_other_data_is_refused(init, data, tmp_path):
    import recommit.data

    written = json.loads((init / "config.json").read_text())
    sections = ("model", "optim", "targets", "validation", "engine", "run")
    plan = config.parse(config.SftConfig, {key: written[key] for key in sections})
    mine = Run("sft", plan, data, init)
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


@pytest.mark.parametrize("lost", ["best.json", "DIGESTS", "begun again"])
def test_a_run_that_died_after_its_last_checkpoint_is_not_skipped(init, data, tmp_path, lost, monkeypatch):
    """The pointer to the best policy and the digests come after it."""
    folder = tmp_path / "run"
    shutil.copytree(init, folder)
    written = json.loads((folder / "config.json").read_text())
    sections = ("model", "optim", "targets", "validation", "engine", "run")
    run = Run("sft", config.parse(config.SftConfig, {key: written[key] for key in sections}), data, folder)
    assert run.finished
    if lost == "begun again":
        monkeypatch.setattr(RunDirectory, "_seal", killed)
        with pytest.raises(KeyboardInterrupt):
            run.train(True)
        monkeypatch.undo()
    else:
        digests.seal(Files(), folder, BEGUN)
    if lost == "best.json":
        (folder / lost).unlink()
        assert run.state.startswith("can go on after step ")
    assert not run.finished
    assert run.train(True) == 0
    assert run.finished
    assert best_policy(folder).is_dir()


def test_nothing_is_called_finished_that_was_not_sealed(init, data, tmp_path, monkeypatch, capsys):
    """The digests are what comes last, and may fail."""
    folder = tmp_path / "run"
    shutil.copytree(init, folder)
    written = json.loads((folder / "config.json").read_text())
    sections = ("model", "optim", "targets", "validation", "engine", "run")
    run = Run("sft", config.parse(config.SftConfig, {key: written[key] for key in sections}), data, folder)
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "seal", killed)
        with pytest.raises(KeyboardInterrupt):
            run.train(False)
    assert "finished" not in capsys.readouterr().err
    assert run.train(False) == 0
    assert "finished" in capsys.readouterr().err


def test_a_recipe_of_one_process_is_not_shared_by_ranks(tmp_path):
    run = Run("grpo", plan_of(), "from", tmp_path / "run")
    fleet = Fleet("torchrun", ("0", "1"), 2, device="cpu")
    with pytest.raises(ValueError, match=r"gpus-per-run: expected 1 for run with engine\.kind plain, got 2"):
        processes.check(fleet, [run])
    processes.check(replace(fleet, per_run=1), [run])
