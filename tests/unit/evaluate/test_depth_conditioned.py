"""Agents of a policy whose plans depend on their depth: each depth is decoded for itself."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.reference import metrics as slow
from tests.unit.train import runs

import recommit
from recommit.evaluate import metrics
from recommit.evaluate.agents import PolicyPlayer
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy

TASK = recommit.Sliding(2, 3)
BUDGET = 3


@pytest.fixture(scope="module")
def player(data, tmp_path_factory):
    run = runs.warm_start(data, tmp_path_factory.mktemp("told") / "run", depth_conditioning="embedding")
    policy = CommitPolicy.from_pretrained(best_policy(run)).eval()
    made = torch.Generator().manual_seed(1)
    with torch.no_grad():
        policy.decoder.depth_vectors.weight.mul_(30.0)
        policy.depth_head.weight.copy_(torch.randn(policy.depth_head.weight.shape, generator=made))
    return PolicyPlayer(policy, TASK, TASK.generate(20, seed=3, length=(3, 12)).states, BUDGET)


def commit(player, state, depth=None):
    """What one look of the policy leads to, alone in its batch: state, executed, solved, depth."""
    depths, plan = player.policy.act(TASK, state[None], depth=depth)
    outcome = TASK.execute(state[None], plan, depths)
    return outcome.states[0], int(outcome.executed[0]), bool(outcome.solved[0]), int(depths[0])


def test_plans_are_not_prefixes_of_each_other(player):
    player.rows("fixed-8", BUDGET)
    plans = player.graph.plans[player.graph.planned]
    assert (plans[:, 0] != plans[:, 7]).any()
    assert (plans[:, 2] == plans[:, 3]).all(), "depth 3 is told as the next larger, 4"


@pytest.mark.parametrize("agent", ["adaptive", "fixed-1", "fixed-3", "fixed-4", "fixed-8"])
def test_agents_are_the_policy_one_look_at_a_time(player, agent):
    rows = player.rows(agent, BUDGET)
    depth = None if agent == "adaptive" else int(agent[-1])
    for i, state in enumerate(player.starts):
        own = rows.where(rows.instance == i)
        for turn in range(len(own)):
            state, executed, solved, taken = commit(player, state, depth)
            assert (own.depth[turn], own.executed[turn], own.solved[turn]) == (taken, executed, solved)
            assert own.after[turn] == TASK.distance(state[None])[0]
    if agent == "adaptive":
        assert len(set(rows.depth)) > 1


def test_the_oracles_choose_among_plans_of_every_depth(player):
    played = metrics.episodes(player.rows("oracle-dp", BUDGET), player.length, BUDGET)

    def step(key, depth):
        state, executed, solved, _ = commit(player, np.frombuffer(key, np.uint8).reshape(TASK.shape).copy(), depth)
        return state.tobytes(), executed, solved

    def goal(key):
        return bool(TASK.is_solved(np.frombuffer(key, np.uint8).reshape(1, *TASK.shape))[0])

    for i, start in enumerate(player.starts[:8]):
        _, solved, actions, decisions = slow.best(step, start.tobytes(), BUDGET, goal, (1, 2, 4, 8), (0, 0))
        assert bool(played.solved[i]) == bool(solved)
        if solved:
            assert (played.actions[i], played.decisions[i]) == (-actions, -decisions)
    gains = player.rows("oracle-delta", BUDGET)
    for i in np.flatnonzero(gains.turn == 0)[:8]:
        start = player.starts[gains.instance[i]]
        gained = [gains.before[i] - TASK.distance(commit(player, start, h)[0][None])[0] for h in (1, 2, 4, 8)]
        assert gains.before[i] - gains.after[i] == max(gained)
