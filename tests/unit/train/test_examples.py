"""Samples say what the policy decides, and whether it is right."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import recommit
from recommit.policy.backbones.make import make_backbone
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.runs.directory import best_policy
from recommit.train import validation
from recommit.train.sft import trainer as run

TASK = recommit.Sliding(3)
STATES = TASK.generate(20, seed=0, length=(3, 12)).states
SOLUTIONS = TASK.solve(STATES)


def paths():
    """Eight actions of an optimal path each, whatever comes behind the goal."""
    found = np.zeros((len(STATES), 8), np.uint8)
    for row, begin, end in zip(found, SOLUTIONS.offsets[:-1], SOLUTIONS.offsets[1:], strict=True):
        row[: min(8, end - begin)] = SOLUTIONS.actions[begin : min(end, begin + 8)]
    return found


def test_optimal_plans_are_good_to_their_end_and_spoilt_ones_up_to_there():
    length = np.minimum(SOLUTIONS.length, 8)
    assert np.array_equal(validation.good_until(TASK, STATES, paths()), length)
    for place in range(8):
        spoilt = paths()
        spoilt[:, place] ^= 1  # the opposite direction leads back, or nowhere
        expected = np.minimum(length, place)
        assert np.array_equal(validation.good_until(TASK, STATES, spoilt), expected), place


class Fixed:
    """A policy that plans optimally in the first half of the states and spoils the third action in the others."""

    config = PolicyConfig()

    def plan(self, task, states, depths):
        assert task is TASK
        plans = paths()[: len(states)]
        plans[len(states) // 2 :, 2] ^= 1
        logits = np.log(np.tile(np.float32([0.1, 0.2, 0.6, 0.1]), (len(states), 1)))
        return None, logits, np.repeat(plans[:, None], len(depths), axis=1), np.zeros((len(states), 1, 8, 4))


@pytest.mark.parametrize(("depth", "committed"), [(None, 4), (2, 2), (8, 8)])
def test_a_sample_is_what_the_policy_decides(depth, committed):
    made = validation.decisions(Fixed(), TASK, STATES, SOLUTIONS.length, depth=depth)
    assert len(made) == len(STATES)
    for i, sample in enumerate(made):
        assert sample["state"] == STATES[i].tolist()
        assert sample["distance"] == SOLUTIONS.length[i]
        assert sample["depth"] == committed
        assert sample["depths"] == {"1": 0.1, "2": 0.2, "4": 0.6, "8": 0.1}
        assert sample["optimal"] == (i < len(STATES) // 2 or committed == 2)
        assert [validation.ACTIONS.index(name) for name in sample["plan"][:2]] == paths()[i, :2].tolist()


def test_names_of_actions_are_the_cores():
    task = recommit.Sokoban(6, 1)
    board = np.ones((1, 6, 6), np.uint8)
    board[0, 1:5, 1:5] = 0
    board[0, 1, 1], board[0, 1, 2], board[0, 3, 3] = 3, 2, 5
    for number, (name, (row, col)) in enumerate(zip(validation.ACTIONS, [(2, 3), (4, 3), (3, 2), (3, 4)], strict=True)):
        assert task.step(board, np.array([number], np.uint8))[0, row, col] == 5, name


@pytest.mark.parametrize("conditioning", ["none", "embedding"])
def test_a_policys_samples_are_its_own_greedy_decisions(tmp_path, conditioning):
    decoder = DecoderConfig(width=32, layers=1, heads=4, ffn=64, depth_conditioning=conditioning)
    config = PolicyConfig(lora=None, decoder=decoder)
    policy = recommit.CommitPolicy.from_backbone(make_backbone(tmp_path, "small"), config).eval()
    with torch.no_grad():
        policy.depth_head.weight.normal_(generator=torch.Generator().manual_seed(0))
    depths, plans = policy.act(TASK, STATES)
    made = validation.decisions(policy, TASK, STATES, SOLUTIONS.length)
    assert [sample["depth"] for sample in made] == depths.tolist()
    assert [[validation.ACTIONS.index(name) for name in sample["plan"]] for sample in made] == plans.tolist()


def test_a_run_writes_some_at_every_validation(plan, data, tmp_path):
    assert run.train(plan, data, tmp_path / "run", quiet=True) == 0
    lines = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [4] * 4 + [8] * 4
    assert [line["state"] for line in lines[:4]] == [line["state"] for line in lines[4:]]
    policy = recommit.CommitPolicy.from_pretrained(best_policy(tmp_path / "run")).eval()
    step = json.loads((tmp_path / "run" / "best.json").read_text())["step"]
    task = recommit.Sliding(2, 3)
    for line in (each for each in lines if each["step"] == step):
        _, plans = policy.act(task, np.array([line["state"]], np.uint8))
        assert [validation.ACTIONS[action] for action in plans[0]] == line["plan"]
        assert line["depths"] == {"1": 0.25, "2": 0.25, "4": 0.25, "8": 0.25}, "SFT leaves the depth head alone"
