"""From Python an evaluation gives what its folder holds."""

from __future__ import annotations

import json

import numpy as np
import pytest

import recommit
from recommit.evaluate import evaluate


def test_evaluate_gives_the_summary_of_its_folder(run, tmp_path):
    summary = evaluate(run, tmp_path / "eval", ("adaptive", "fixed-4"), (4,), instances=8, validation=4)
    assert summary == json.loads((tmp_path / "eval" / "summary.json").read_text())
    assert {(row["agent"], row["decisions"]) for row in summary} == {("adaptive", 4), ("fixed-4", 4)}


def test_a_wrong_value_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match="agents: expected names of"):
        recommit.evaluate.evaluate(run, tmp_path / "eval", ("nobody",))
    with pytest.raises(ValueError, match="run: expected the folder of a training run, found no folder nowhere"):
        recommit.evaluate.evaluate("nowhere", tmp_path / "eval")
    assert not (tmp_path / "eval").exists()


def test_one_agent_and_one_budget_need_no_list(run, tmp_path):
    (row,) = evaluate(run, tmp_path / "eval", "fixed-4", 4, instances=8, validation=4, quiet=True)
    assert (row["agent"], row["decisions"]) == ("fixed-4", 4)


def test_a_first_start_before_anybody_played_binds_nothing(run, tmp_path):
    options = {"validation": 4, "quiet": True}
    with pytest.raises(ValueError, match="expected the folder of a run"):
        evaluate(run, tmp_path / "eval", "fixed-4@nowhere", 4, instances=6, **options)
    evaluate(run, tmp_path / "eval", "fixed-4", 4, instances=8, **options)
    with pytest.raises(ValueError, match=r"belongs to another run: instances was 8, is 6"):
        evaluate(run, tmp_path / "eval", "fixed-4", 4, instances=6, **options)


def test_an_episode_is_played_by_the_best_policy_of_a_run(run):
    start = recommit.Sliding(2, 3).generate(1, seed=5, length=8).states[0]
    played = recommit.episode(run, start, budget=3)
    policy = recommit.CommitPolicy.from_pretrained(run / json.loads((run / "best.json").read_text())["policy"])
    assert played.actions == recommit.episode(policy, start, budget=3).actions
    assert np.array_equal(played.states[0], start)
