"""The queue of LeRobot policies, against their abstract signatures; a nightly test runs it around real ones."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.adapters import foreign
from tests.unit.adapters.chunk_policies import CHUNK, lerobot_policy

from recommit import horizon

torch = pytest.importorskip("torch")

from recommit.adapters.lerobot import AdaptiveQueue, Chunks, _Remembering


class Short(horizon.Fixed):
    """``depth`` actions, and one in environment 1."""

    def propose(self, plans):
        depths = super().propose(plans)
        depths[plans.actions[:, 0, 0] == 1] = 1
        return depths


class Alternating(horizon.Fixed):
    """Two actions where a plan begins with a first observation below 100, one elsewhere."""

    def propose(self, plans):
        return np.where(plans.actions[:, 0, 0] < 100, 2, 1)


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
    refused([(lambda: queue.select_action(batch(3)), "batch: expected 2 environments until reset, got 3")])
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


def gathering(steps=3):
    """A policy whose plans say which observations it had: the last ones, oldest first, and its cameras'."""
    policy = lerobot_policy()
    policy.config = SimpleNamespace(image_features={"left": None, "right": None})
    policy._queues = {name: deque(maxlen=steps) for name in ("observation.state", "observation.images", "action")}

    def predict(batch):
        assert len(batch["observation.state"]) == len(batch["left"])
        seen = torch.stack(list(policy._queues["observation.state"]), dim=1)
        pictures = torch.stack(list(policy._queues["observation.images"]), dim=1)
        assert pictures.shape[1:] == (steps, 2, 1, 1, 1)
        assert torch.equal(pictures.sum(dim=(2, 3, 4, 5)), 30 * seen[..., 0])
        return seen.repeat(1, 1, 2).flatten(1)[:, None].expand(-1, CHUNK, -1)

    policy.predict_action_chunk = predict
    return policy


def seen(values):
    """Observations of so many environments, by two cameras, too."""
    state = torch.tensor(values, dtype=torch.float32)[:, None]
    return {
        "observation.state": state,
        "left": state[..., None, None] * 10,
        "right": state[..., None, None] * 20,
        "task": ["push"] * len(values),
    }


def test_each_episode_has_the_observations_of_its_own():
    queue = AdaptiveQueue(gathering(), Alternating(1))
    had = [queue.select_action(seen([t, 100 + t]))[:, ::2].tolist() for t in range(3)]
    assert had[0] == [[0, 0, 0], [100, 100, 100]]
    assert had[1] == [[0, 0, 0], [100, 100, 101]]  # the first goes on with what it planned
    assert had[2] == [[0, 1, 2], [100, 101, 102]]
    queue.reset_rows([1])
    had = [queue.select_action(seen([t, 200 + t]))[:, ::2].tolist() for t in range(3, 6)]
    assert [each[1] for each in had] == [[203, 203, 203], [203, 203, 204], [203, 204, 205]]
    assert had[1][0] == [2, 3, 4]
    queue.reset()
    assert queue.select_action(seen([7]))[0, ::2].tolist() == [7, 7, 7]
    blind = {"left": torch.ones(1, 1, 1, 1), "right": torch.ones(1, 1, 1, 1)}
    refused([(lambda: queue.select_action(blind), "batch: expected observation.state, which the policy plans from")])


def test_a_sweep_gives_the_last_observations():
    policy = gathering(2)
    policy.predict_action_chunk = lambda batch: torch.stack(list(policy._queues["observation.state"]), dim=1)  # noqa: ARG005
    policy.config.image_features = None
    del policy._queues["observation.images"]
    chunks = Chunks(policy, prepare=lambda values: {"observation.state": torch.as_tensor(values)})
    assert chunks.predict(np.arange(4.0).reshape(2, 2, 1))[:, :, 0].tolist() == [[0, 1], [2, 3]]
    refused([(lambda: chunks.predict(np.zeros((2, 3))), "the last 2 of observation.state, as FrameStackObservation")])
    policy.config.temporal_ensemble_coeff = 0.01
    refused([(lambda: AdaptiveQueue(policy, horizon.Fixed(1)), "temporal_ensemble_coeff=None")])
    policy.config = SimpleNamespace(use_relative_actions=True)
    makers = [lambda: AdaptiveQueue(policy, horizon.Fixed(1)), lambda: Chunks(policy)]
    refused([(make, "policy: expected use_relative_actions=False") for make in makers])


@pytest.mark.nightly
def test_around_real_policies(tmp_path):
    assert "equal to the queues of ACT and Diffusion" in foreign.run("lerobot", "lerobot_policies.py", tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("kinds", [("act", "diffusion"), ("smolvla",)])
def test_the_plugin_in_lerobots_own_evaluation(kinds, tmp_path):
    said = foreign.run("lerobot", "lerobot_plugin.py", tmp_path, *kinds)
    assert f"plays n_action_steps of {', '.join(kinds)}, counts queries, and sweeps" in said


@pytest.mark.nightly
def test_a_users_walk_from_demonstrations_to_a_depth(tmp_path):
    said = foreign.run("lerobot", "lerobot_walk.py", tmp_path)
    assert "walked: python lerobot-train recommit lerobot-eval" in said


def test_a_sweep_asks_for_chunks_of_tensors():
    policy = lerobot_policy()
    seen, predict, two = [], policy.predict_action_chunk, {"id": torch.tensor([4, 5]), "task": ["push"] * 2}
    policy.predict_action_chunk = lambda given: (seen.append(given), predict(two))[1]
    chunks = Chunks(policy, prepare=lambda each: {"all": each, "action": None}, finish=lambda each: each * 2)
    chunks.reset()
    plans = chunks.predict(7)
    assert plans[:, 0, 0].tolist() == [4, 5]
    finished = chunks.finish(plans[:, 0].float().numpy())
    assert (finished[:, 0].tolist(), finished.dtype) == ([8, 10], plans.dtype)
    assert seen == [{"all": 7}]  # LeRobot's processors leave an action there, which policies take for a history
    assert (policy.resets, policy.training) == (1, False)


def test_an_environment_gives_the_policys_history_and_ends_as_in_lerobots_evaluation():
    class Counting:
        num_envs = 2

        def reset(self, *, seed, options):
            assert options["lerobot_new_rollout"]
            return {"t": np.array(seed)}, {}

        def step(self, actions):
            return {"t": actions}, 0.0, *np.zeros((2, 2), bool), {}

        def call(self, name):
            if name == "task_description":
                raise AttributeError
            return {"task": ("push", "pull"), "_max_episode_steps": (2, 2)}[name]

    env = _Remembering(Counting(), 3)
    (observations, _), (later, _, *ended, _) = env.reset(seed=[4, 5]), env.step(np.array([6, 7]))
    assert [each["t"].tolist() for each in observations] == [[4, 5]] * 3
    assert [each["t"].tolist() for each in later] == [[4, 5], [4, 5], [6, 7]]
    assert later[0]["task"] == ["push", "pull"]
    ends = [ended, env.step(np.array([6, 7]))[2:4]]
    assert env.reset(seed=[8, 9])[0][2]["t"].tolist() == [8, 9]
    ends.append(env.step(np.array([6, 7]))[2:4])
    assert np.any(ends, axis=2).tolist() == [[False, False], [False, True], [False, False]]
    assert env.num_envs == 2
