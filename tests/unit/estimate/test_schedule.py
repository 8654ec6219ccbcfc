"""How often a run goes through its policy, from its recipe alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.estimate.measuring import ADAPTED, grpo, sft, trainer_of

from recommit.estimate.schedule import schedule


def planned(config, world=1, **options):
    """Of one puzzle, where four depths are to choose from."""
    return schedule([config], ["sliding"], world, 4, **options)


def step_of(budget=3, size=4, instances=8, **advantage):
    """A step of one rank that chooses among four depths."""
    config = grpo(advantage={"group_size": size, **advantage}, rollout={"instances": instances, "budget": budget})
    return planned(config)[0]


def test_every_rank_imitates_its_share():
    step = planned(sft(ADAPTED, optim={"batch": 96, "micro_batch": 10}), 4)[0]
    assert [(p.observations, p.states) for p in step.passes if p.kind == "learn"] == [(24, 10)]


def test_puzzles_that_learn_together_share_a_batch():
    """As the preset of the paper does on eight ranks: 4 + 4 + 8 states, and 4 + 4."""
    tasks = ["sliding", "sliding", "sokoban"]
    step = schedule([sft(ADAPTED, optim={"batch": 128})] * 3, tasks, 8, 4)[0]
    assert [(p.puzzle, p.observations) for p in step.passes if p.kind == "learn"] == [(0, 4), (1, 4), (2, 8)]
    config = grpo(advantage={"estimator": "state"}, rollout={"instances": 32, "budget": 5}, optim={"batch": 64})
    step = schedule([config] * 2, tasks[:2], 8, 4)[0]
    assert [(p.puzzle, p.observations, p.states) for p in step.passes if p.kind == "learn"] == [(0, 20, 4), (1, 20, 4)]
    few = schedule([grpo(rollout={"instances": 32, "budget": 5}, optim={"batch": 24})] * 2, tasks[:2], 8, 4)[0]
    assert [p.states for p in few.passes if p.kind == "learn"] == [2, 2]
    with pytest.raises(ValueError, match="expected a multiple of 3 puzzles, got 64"):
        schedule([config] * 3, tasks, 8, 4)
    step = schedule([config] * 2, tasks[:2], 8, 4, groups=[[0, 1]])[0]
    assert [(p.puzzle, p.observations, p.beside) for p in step.passes if p.kind == "learn"] == [(0, 20, ((1, 4),))]


def test_state_advantages_observe_once_per_decision():
    step = step_of(estimator="state")
    assert step.observations("sample") == step.observations("encode") == 8 * 3
    assert step.observations("learn") == step.observations("reference") == 8 * 3
    assert {p.plans for p in step.passes if p.kind == "sample"} == {4}


def test_below_float32_all_batches_but_the_first_are_passed_again():
    config = grpo(advantage={"estimator": "state"}, rollout={"instances": 8, "budget": 3})
    step = planned(config, dtype="bfloat16")[0]
    assert step.observations("old") == step.observations("learn") - 8
    assert planned(config)[0].observations("old") == 0


def test_episode_advantages_play_every_copy():
    step = step_of(estimator="episode")
    assert step.observations("sample") == step.observations("learn") == 8 * 4 * 3


def test_branch_advantages_play_every_candidate_to_its_end():
    step = step_of(estimator="branch")
    # Three decisions with candidates, whose branches have two, one and no decisions left.
    assert step.observations("sample") == 8 * 3 + 8 * 4 * (2 + 1)
    assert step.observations("learn") == 8 * 3


def test_exact_advantages_observe_what_plans_reach():
    step = step_of(estimator="exact", max_expansions=6, budget=3)
    assert step.observations("plan") == 8 + 8 * 4 + 8 * 6  # four depths at first, then no more than width
    assert step.observations("sample") == step.observations("plan")


def test_moves_are_padded_to_whole_batches():
    step = step_of(estimator="state", instances=9)
    assert step.observations("learn") == 32  # 27 states, 8 in a batch


def test_the_head_finishes_alone():
    first = {"steps": 5, "head_updates": 2}
    last = {"steps": 5, "head_only": True, "head_updates": 7, "starts": 3 * grpo().rollout.instances}
    exact = {"estimator": "exact", "max_expansions": 1}
    kl = {"kl": 0.05, "kl_depth": False}
    step, finish = planned(grpo(advantage=exact, objective=kl, phases=[first, last], optim={"steps": 10}))
    assert (step.times, finish.times) == (5, 5)
    assert finish.observations("plan") == 3 * step.observations("plan")
    assert finish.observations("head") == 7 * finish.observations("plan")
    assert finish.observations("learn") == 0


def test_validations_are_counted():
    config = sft(ADAPTED, optim={"steps": 10}, validation={"instances": 6, "every": 4, "budget": 3})
    _, validation = planned(config)
    assert validation.times == 3
    assert validation.observations("imitate") == 6
    assert validation.observations("plan") == 6 * (1 + 4 * 2)


@pytest.mark.parametrize("group", ["state", "episode", "branch", "exact"])
def test_no_rollout_observes_more_often_than_was_estimated(group, data, tmp_path):
    """Real episodes, which end early and meet, against the bound."""
    from recommit.runs.directory import RunDirectory

    config = grpo(advantage={"estimator": group, "group_size": 2}, rollout={"instances": 6, "budget": 4})
    with RunDirectory(tmp_path / "run") as run:
        trainer = trainer_of(config, data, run, sft(ADAPTED).model)
        seen, encode = [], trainer.policy.encode
        trainer.policy.encode = lambda task, states, left: (seen.append(len(states)), encode(task, states, left))[1]
        trainer._step()
    step = planned(config)[0]
    bound = sum(step.observations(kind) for kind in ("sample", "plan", "reference", "learn"))
    assert 0 < np.sum(seen) <= bound
