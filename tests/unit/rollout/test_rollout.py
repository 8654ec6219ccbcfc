"""Proposals and episodes: samples follow the policy and nothing else, episodes replay action by action."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.reference import grpo as slow
from tests.unit.train.runs import actor

import recommit
from recommit.rollout.rollout import rollout
from recommit.rollout.trace import Proposals


def test_samples_depend_on_their_counter_alone(init):
    task = recommit.Sliding(2, 3)
    states = task.generate(20, seed=1, length=(4, 14)).states
    number = np.arange(20, dtype=np.uint64)
    whole = actor(init).propose(states, 4, number)
    parts = [actor(init).propose(states[i : i + 1], 4, number[i : i + 1]) for i in range(20)]
    assert (np.concatenate([p.actions for p in parts]) == whole.actions).all()
    assert (np.concatenate([p.depth for p in parts]) == whole.depth).all()
    assert (actor(init).propose(states, 4, number + np.uint64(1)).actions != whole.actions).any()


def test_samples_follow_the_policy(init):
    """Frequencies of 4,096 samples against the probabilities that they are said to have."""
    given = actor(init)
    with torch.no_grad():
        given.policy.depth_head.bias.copy_(torch.tensor([0.0, 1.0, -1.0, 0.5]))
    state = recommit.Sliding(2, 3).generate(1, seed=2, length=9).states
    made = given.propose(np.repeat(state, 4, axis=0), 1024, np.arange(4, dtype=np.uint64))
    share = np.bincount(made.choice.ravel(), minlength=4) / made.choice.size
    for i in range(4):
        claimed = np.exp(made.depth_log[made.choice == i]).mean()
        assert share[i] == pytest.approx(claimed, abs=4 * float(np.sqrt(claimed / 4096)))
    first = np.bincount(made.actions[..., 0].ravel(), minlength=4) / 4096
    for i in np.flatnonzero(first):
        claimed = np.exp(made.action_log[..., 0][made.actions[..., 0] == i]).mean()
        assert first[i] == pytest.approx(claimed, abs=4 * float(np.sqrt(claimed / 4096)))


@pytest.mark.parametrize("name", ["adaptive", "fixed-5", "random"])
def test_episodes_replay_action_by_action(init, name):
    task = recommit.Sliding(2, 3)
    starts = task.generate(12, seed=4, length=(2, 10)).states
    trace = rollout(
        actor(init, name), starts, np.array([1, 2, 3] * 4), numbers=np.arange(7, 19, dtype=np.uint64), candidates=2
    )
    assert set(np.bincount(trace.episode)) <= {1, 2, 3}
    if name == "fixed-5":
        assert (trace.proposals.depth == 5).all()
    state = {i: starts[i] for i in range(12)}
    for row in range(len(trace)):
        who = trace.episode[row]
        assert (trace.states[row] == state[who]).all()
        for g in range(2):
            here, executed = trace.states[row], 0
            for action in trace.proposals.actions[row, g, : trace.proposals.depth[row, g]]:
                here = task.step(here[None], np.array([action], np.uint8))[0]
                executed += 1
                if task.is_solved(here[None])[0]:
                    break
            assert (trace.after[row, g] == here).all()
            assert trace.executed[row, g] == executed
            lowered = task.distance(trace.states[row][None])[0] - task.distance(here[None])[0]
            assert trace.progress("action")[row, g] == trace.progress("commitment")[row, g] == lowered
        state[who] = trace.after[row, 0]


class Wanderer:
    """Proposes what chance says, like an actor without a policy."""

    def __init__(self, task, seed):
        self.task, self.draw = task, np.random.default_rng(seed)
        self.policy = SimpleNamespace(config=SimpleNamespace(depths=(1, 2, 4, 8), plan_length=8))

    max_over_ranks = staticmethod(int)

    def propose(self, states, count, _number, *, remaining):
        assert (remaining > 0).all()
        shape = (len(states), count)
        depth, actions = self.draw.integers(1, 9, shape), self.draw.integers(0, 4, (*shape, 8)).astype(np.uint8)
        return Proposals(depth, 0 * depth, actions, *np.zeros((3, *shape), np.float32))


def test_progress_before_a_loss_is_that_of_its_single_actions():
    """Of random walks between boxes, some of which end where nobody can solve; against one action at a time."""
    task = recommit.Sokoban(7, boxes=2)
    starts = task.generate(60, seed=1, length=(4, 20)).states
    trace = rollout(Wanderer(task, 3), starts, 4, numbers=np.arange(60, dtype=np.uint64), candidates=3)
    gained = {per: trace.progress(per) for per in ("action", "commitment")}
    for row, g in np.ndindex(trace.executed.shape):
        walk = [trace.states[row]]
        for action in trace.proposals.actions[row, g, : trace.executed[row, g]]:
            walk.append(task.step(walk[-1][None], np.array([action], np.uint8))[0])
        distances = task.distance(np.array(walk)).tolist()
        assert {per: values[row, g] for per, values in gained.items()} == {
            per: slow.progress(distances, per) for per in gained
        }
    assert trace.lost.sum() > 20
    assert (gained["action"] != gained["commitment"])[trace.lost].sum() > 5
    assert (trace.distance < 0).any(), "no walk that began where all was lost"


def test_a_state_without_an_answer_is_named_and_not_called_lost(monkeypatch):
    task, whole = recommit.Sokoban(7, boxes=2), recommit.Sokoban.distance
    starts = task.generate(6, seed=1, length=(4, 20)).states
    searched = lambda *states: np.where(whole(*states) == 3, np.int32(recommit.UNKNOWN), whole(*states))
    monkeypatch.setattr(recommit.Sokoban, "distance", searched)
    with pytest.raises(ValueError, match=r"states: expected levels with exact distances, got \d+ of "):
        rollout(Wanderer(task, 3), starts, 12, numbers=np.arange(6, dtype=np.uint64), candidates=8)


def test_branches_go_on_from_where_their_candidates_end(init):
    """The reward of a branch is that of its whole play: never below its own success."""
    from recommit.prices import Prices
    from recommit.train.grpo import reward as rewards
    from recommit.train.grpo.config import AdvantageConfig

    task = recommit.Sliding(2, 3)
    starts = task.generate(8, seed=4, length=(2, 10)).states
    config = AdvantageConfig("branch", progress=0.0)
    trace = rollout(actor(init), starts, 3, numbers=np.arange(8, dtype=np.uint64), candidates=3)
    numbers = (1 << 20) + np.arange(3 * len(trace), dtype=np.uint64)
    after = rollout(actor(init), trace.after.reshape(-1, 2, 3), np.repeat(trace.remaining - 1, 3), numbers=numbers)
    reward = rewards.by_branch(trace, after, config, Prices())
    assert (reward >= trace.solved).all()
    assert (reward.reshape(-1)[after.episode[after.solved[:, 0]]] == 1).all()
    solved = set(after.episode[after.solved[:, 0]]) | set(np.flatnonzero(trace.solved.reshape(-1)))
    assert reward.sum() == len(solved)
