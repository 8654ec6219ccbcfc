"""What an agent's ``uses`` promises, kept by heads that see ahead: no question to the puzzle while they look."""

from __future__ import annotations

import pytest

import recommit
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.agents import PolicyPlayer
from recommit.policy.config import HeadConfig
from recommit.policy.world_model import WorldModel
from recommit.train.heads import world_model

#: Whatever a puzzle answers that no policy can ask.
ASKED = ("solve", "optimal_actions", "distance", "step", "execute", "is_solved", "action_masks")


@pytest.mark.parametrize("features", ["world-model", "conditioned", "z+conditioned", "planted"])
def test_a_head_that_sees_ahead_asks_no_simulator(run, monkeypatch, features):
    """A world model predicts where plans lead, and heads read the remaining decisions: none asks the puzzle."""
    policy, task = recommit.CommitPolicy.from_pretrained(run).eval(), recommit.Sliding(2, 3)
    world_model.replace_head(policy, WorldModel(world_model.config_of(policy, task)))
    if features != "world-model":
        policy.replace_head(
            HeadConfig("z+conditioned" if features == "z+conditioned" else "conditioned", 8, gelu="tanh"),
            depths=policy.config.depths,
        )
    player = PolicyPlayer(policy, task, task.generate(8, seed=1, length=(4, 10)).states, 4)
    questions, during, look = [], [], policy.plan
    for name in ASKED:
        real = getattr(type(task), name)
        monkeypatch.setattr(
            type(task), name, lambda self, *a, _n=name, _real=real, **k: (questions.append(_n), _real(self, *a, **k))[1]
        )

    def watched(*asked):
        before = len(questions)
        if features == "planted":
            task.distance(asked[1])
        seen = look(*asked)
        during.append(questions[before:])
        return seen

    monkeypatch.setattr(policy, "plan", lambda *asked, **more: watched(*asked, *more.values()))
    player.rows("adaptive", 4)
    assert during
    assert AgentName("adaptive", "family/conditioned-s0").uses == "picture"
    assert any(during) == (features == "planted"), during
