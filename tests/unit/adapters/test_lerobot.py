"""The queue of LeRobot policies, against their abstract signatures; a nightly test runs it around a real ACT."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.adapters import foreign
from tests.unit.adapters.chunk_policies import CHUNK, lerobot_policy

from recommit import horizon

torch = pytest.importorskip("torch")

from recommit.adapters.lerobot import AdaptiveQueue, Chunks


class Short(horizon.Fixed):
    """``depth`` actions, and one in environment 1."""

    def propose(self, plans):
        depths = super().propose(plans)
        depths[plans.actions[:, 0, 0] == 1] = 1
        return depths


def batch(size):
    return {"id": torch.arange(size), "task": ["push"] * size, "scale": 2.0}


def numbers(actions):
    return actions[:, 1].tolist()


def test_only_empty_environments_are_predicted_again():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, Short(3))
    actions = [queue.select_action(batch(3)) for _ in range(4)]
    assert policy.asked == [[0, 1, 2], [1], [1], [0, 1, 2]]
    assert [numbers(each) for each in actions] == [[0, 6, 12], [1, 18, 13], [2, 24, 14], [30, 36, 42]]
    assert actions[0].dtype == torch.float64
    assert actions[0].shape == (3, 2)


def test_reset_empties_all_queues_and_allows_another_batch():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, horizon.Fixed(3))
    queue.select_action(batch(2))
    with pytest.raises(ValueError, match="batch: expected 2 environments until reset, got 3"):
        queue.select_action(batch(3))
    queue.reset()
    assert numbers(queue.select_action(batch(3))) == [2 * CHUNK, 3 * CHUNK, 4 * CHUNK]
    assert policy.resets == 1


def test_episodes_of_a_batch_end_one_by_one():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, horizon.Fixed(3))
    queue.select_action(batch(2))
    queue.reset_rows([1])
    queue.select_action(batch(2))
    assert policy.asked == [[0, 1], [1]]
    assert [(look.environment, look.episode) for look in queue.decisions] == [(0, 0), (1, 0), (1, 1)]


def test_dropped_actions_are_predicted_anew():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, horizon.Fixed(3))
    queue.select_action(batch(1))
    queue.drop_queued_actions()
    assert numbers(queue.select_action(batch(1))) == [CHUNK]


def test_samples_reach_the_rule():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, horizon.Agreement(0.5, tolerance=1e9), samples=4)
    queue.select_action(batch(2))
    assert len(policy.asked) == 5
    assert [look.h for look in queue.decisions] == [CHUNK, CHUNK]


def test_it_is_the_policy_for_all_else():
    policy = lerobot_policy()
    queue = AdaptiveQueue(policy, horizon.Fixed(1))
    assert queue.name == "numbers"
    assert queue.get_optim_params()["weight"] is policy.weight
    assert queue.predict_action_chunk(batch(2)).shape == (2, CHUNK, 2)
    assert queue(batch(2))[0].item() == 1
    assert isinstance(queue, torch.nn.Module)


def test_what_gathers_observations_is_refused():
    class Config:
        n_obs_steps = 2

    policy = lerobot_policy()
    policy.config, policy._queues = Config(), {}
    with pytest.raises(ValueError, match="n_obs_steps of 1, since select_action gathers observations, got 2"):
        AdaptiveQueue(policy, horizon.Fixed(1))
    policy.config.temporal_ensemble_coeff = 0.01
    with pytest.raises(ValueError, match="temporal_ensemble_coeff=None"):
        AdaptiveQueue(policy, horizon.Fixed(1))


@pytest.mark.nightly
def test_around_a_real_act(tmp_path):
    assert "equal to ACT's own queue" in foreign.run("lerobot", "lerobot_act.py", tmp_path)


def test_a_sweep_asks_for_chunks_of_tensors():
    policy = lerobot_policy()
    seen, predict, two = [], policy.predict_action_chunk, {"id": torch.tensor([4, 5]), "task": ["push"] * 2}
    policy.predict_action_chunk = lambda given: (seen.append(given), predict(two))[1]
    chunks = Chunks(policy, finish=lambda each: each * 2)
    chunks.reset()
    assert chunks.predict(np.ones((2, 3)))[:, 0, 0].tolist() == [8, 10]
    assert seen[0]["observation.state"].dtype == torch.float32
    chunks.predict({"task": ["push", "push"], "observation.state": np.zeros((2, 3))})
    assert seen[1]["task"] == ["push", "push"]
    assert (policy.resets, policy.training) == (1, False)
    Chunks(policy, prepare=lambda each: {"all": each}).predict(7)
    assert seen[2] == {"all": 7}
