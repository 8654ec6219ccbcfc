"""Which instances figures are of: a fresh split is apart from all others, and is read once without saying more."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
from tests.refusals import refused
from tests.unit.train import runs

from recommit.cli import main
from recommit.data import assignment, held_out
from recommit.data.spec import DataSpec, Difficulty
from recommit.evaluate import evaluation
from recommit.evaluate.options import EvaluateOptions
from recommit.storage.errors import WrongDataSpec
from recommit.train.config import SftConfig, parse
from recommit.train.sft import trainer as sft

BOARDS = DataSpec("sliding", (3, 3), (Difficulty((4, 20)),), count=40, validation=30, test=50, seed=3)
ROOMS = DataSpec("sokoban", (7, 7), (Difficulty((3, 12), 1),), count=40, test=30, seed=3, disjoint="layouts")
SIZES = ("--instances", "8", "--validation", "6", "--budgets", "5", "--quiet", "--agents", "fixed-4", "solver")


@pytest.mark.parametrize("spec", [BOARDS, ROOMS])
def test_a_fresh_split_shares_nothing_with_what_was_read(spec):
    drawn = held_out.fresh(spec, 99, 24, ())
    keys = assignment.split_keys(spec, drawn.states)
    assert len(drawn) == 24
    assert assignment.belongs(keys, "test").all()  # what nothing is trained or validated on
    for count in (24, spec.test):
        assert not np.isin(keys, assignment.split_keys(spec, held_out.starts(spec, "test", count, ()).states)).any()
    assert len(np.unique(assignment.keys(spec.task, drawn.states))) == 24
    again, other = held_out.fresh(spec, 99, 24, ()), held_out.fresh(spec, 98, 24, ())
    assert held_out.name(again.states) == held_out.name(drawn.states) != held_out.name(other.states)


def test_without_keeping_apart_starts_would_be_shared():
    """The planted defect: of a puzzle with few starts another seed alone draws many of them again."""
    spec = replace(BOARDS, size=(2, 3), difficulties=(Difficulty((2, 12)),), test=6)
    other = held_out.starts(replace(spec, seed=99), "test", 8, ())
    seen = assignment.keys("sliding", held_out.starts(spec, "test", 8, ()).states)
    assert np.isin(assignment.keys("sliding", other.states), seen).any()
    drawn = assignment.keys("sliding", held_out.fresh(spec, 99, 4, ()).states)
    six = assignment.keys("sliding", held_out.starts(spec, "test", 6, ()).states)
    assert not np.isin(drawn, six).any()


@pytest.mark.parametrize("spec", [BOARDS, ROOMS])
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_an_instance_of_another_split_slipped_in_is_noticed(spec, split):
    """The planted defect: one start of training, validation or what was read before, among those drawn."""
    drawn = held_out.fresh(spec, 99, 8, ()).states
    other = held_out.starts(spec, split, 8, ()).states[:1]
    before = np.sort(assignment.split_keys(spec, held_out.starts(spec, "test", 8, ()).states))
    held_out.refuse_shared(spec, drawn, before)
    words = "got 0 of training or validation and 1 of" if split == "test" else "got 1 of training or validation and 0"
    refused([(lambda: held_out.refuse_shared(spec, np.concatenate([drawn, other]), before), words)], WrongDataSpec)


def test_a_share_that_training_has_is_noticed(monkeypatch):
    """The planted defect: the fresh split reads candidates of training."""
    monkeypatch.setitem(assignment._BUCKETS, "fresh", (2, 3))
    refused([(lambda: held_out.fresh(BOARDS, 99, 8, ()), "got 8 of training or validation")], WrongDataSpec)


def test_choices_are_made_on_other_validation_instances_than_are_played():
    spec = EvaluateOptions("run", "out", ("fixed-4",), instances=9, validation=7, split="validation")
    played, chosen = evaluation.played(spec, BOARDS).states, evaluation.chosen_on(spec, BOARDS)
    assert (len(played), len(chosen)) == (9, 7)
    both = assignment.keys("sliding", np.concatenate([played, chosen]))
    assert assignment.belongs(both, "validation").all()
    assert len(np.unique(both)) == 16


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A policy of levels that are not few, as 2x3 boards are."""
    folder = tmp_path_factory.mktemp("levels")
    plan = parse(SftConfig, {**runs.TINY, "optim": {**runs.TINY["optim"], "steps": 1}})
    assert sft.train(plan, runs.small_levels(folder / "data"), folder / "run", quiet=True) == 0
    return folder / "run"


def test_a_results_folder_has_one_fresh_split_and_judges_a_run_once(trained, tmp_path, capsys):
    def call(out, *more, policy=trained):
        status = main(["evaluate", str(policy), "--out", str(tmp_path / out), *SIZES, *more])
        said = capsys.readouterr()
        return status, said.out + said.err

    status, said = call("results/eval", "--fresh", "41")
    assert status == 0, said
    assert "8 instances of the fresh test split of seed 41" in said
    assert call("results/eval", "--fresh", "41")[0] == 0  # the same evaluation goes on
    status, said = call("results/other", "--fresh", "41")
    assert status == 2
    assert "expected a policy that was not judged yet" in said
    status, said = call("results/third", "--fresh", "42")
    assert status == 2
    assert f"expected the split of {tmp_path}/results/eval, fresh 41, test_set " in said
    shutil.copytree(trained, tmp_path / "twin")
    assert call("elsewhere/eval", "--fresh", "42", policy=tmp_path / "twin")[0] == 0  # another results folder
    assert "8 instances of the data's test split" in call("usual")[1]
    assert "8 instances of the data's validation split" in call("chosen", "--split", "validation")[1]
