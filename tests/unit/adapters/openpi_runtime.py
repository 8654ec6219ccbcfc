"""Our broker and openpi's own in openpi's Runtime: with a fixed depth they do the same."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from openpi_client.action_chunk_broker import ActionChunkBroker
from openpi_client.base_policy import BasePolicy
from openpi_client.runtime.agents.policy_agent import PolicyAgent
from openpi_client.runtime.environment import Environment
from openpi_client.runtime.runtime import Runtime

from recommit import horizon
from recommit.adapters.openpi import AdaptiveBroker


class Policy(BasePolicy):
    def __init__(self):
        self.looks = 0

    def infer(self, obs):
        self.looks += 1
        return {"actions": obs["x"] + np.arange(8.0)[:, None] * [1.0, 0.5], "timing": {"ms": 1.0}}


class Line(Environment):
    def __init__(self):
        self.seen = []

    def reset(self):
        self.x = 0.0

    def is_episode_complete(self):
        return False

    def get_observation(self):
        return {"x": self.x}

    def apply_action(self, action):
        self.seen.append(action["actions"].tolist())
        self.x = 0.9 * self.x + action["actions"][0]


def executed(broker):
    policy, line = Policy(), Line()
    Runtime(line, PolicyAgent(broker(policy)), [], num_episodes=3, max_episode_steps=10).run()
    return line.seen, policy.looks


theirs = executed(lambda policy: ActionChunkBroker(policy, 3))
ours = executed(lambda policy: AdaptiveBroker(policy, horizon.Fixed(3)))
assert theirs == ours, (theirs, ours)
assert len(ours[0]) == 33
print(version("openpi-client"), "fixed equal,", ours[1], "looks")
