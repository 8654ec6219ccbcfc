"""Rows hold the probability that the policy gave to each action of its plans."""

from __future__ import annotations

import numpy as np
import pytest

import recommit
from recommit.evaluate.agents import PolicyPlayer
from recommit.policy.config import DecoderConfig, PolicyConfig

TASK = recommit.Sliding(2, 3)
BUDGET = 4


def replayed(policy, starts, rows):
    """By (instance, turn), the probabilities that the policy gives to its plan, asked about one state at a time."""
    import torch

    found = {}
    for instance, state in enumerate(starts):
        here = state[None]
        mine = [i for i in np.argsort(rows.turn, kind="stable") if rows.instance[i] == instance]
        for i in mine:
            depth, actions = int(rows.depth[i]), [int(rows.actions[i]) >> (2 * place) & 3 for place in range(8)]
            with torch.no_grad():
                _, scores = policy(TASK, here, torch.tensor([actions]), torch.tensor([depth]))
            all_places = scores[0].float().softmax(-1).tolist()
            found[instance, int(rows.turn[i])] = [p[a] for p, a in zip(all_places, actions, strict=True)]
            here = TASK.execute(here, np.array([actions], np.uint8), np.array([depth], np.int32)).states
    return found


@pytest.fixture(scope="module", params=["none", "embedding"])
def policy(request, tiny):
    from recommit.policy.policy import CommitPolicy

    decoder = DecoderConfig(width=32, layers=1, heads=2, ffn=64, depth_conditioning=request.param)
    config = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"), decoder=decoder)
    return CommitPolicy.from_backbone(tiny, config, seed=2).eval()


def errors(policy, agent, shift=0):
    """How far rows are from what the policy says; ``shift`` plants a defect: the next place's probability."""
    starts = TASK.generate(5, seed=1, length=(4, 9)).states
    rows = PolicyPlayer(policy, TASK, starts, BUDGET).rows(agent, BUDGET)
    stored = np.roll(rows.plan_probs.view(np.uint8).reshape(-1, 8) / 255.0, shift, axis=1)
    wanted = replayed(policy, starts, rows)
    every = zip(rows.instance.tolist(), rows.turn.tolist(), strict=True)
    return np.abs(stored - np.array([wanted[each] for each in every])).max()


@pytest.mark.parametrize("agent", ["adaptive", "fixed-3", "fixed-2-sampled"])
def test_rows_hold_the_probabilities_of_the_plan(policy, agent):
    assert errors(policy, agent) <= 0.5 / 255 + 1e-5
    assert errors(policy, agent, shift=1) > 1 / 255, "a planted defect"
