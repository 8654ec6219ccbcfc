"""A world model learns what plans lead to; a head that goes by it asks no simulator, and is saved with its policy."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import save
from tests.refusals import refused

pytest.importorskip("transformers")

import recommit
from recommit.data.spec import DataSpec, Difficulty
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.policy.world_model import WorldModel
from recommit.storage import errors, verified
from recommit.storage import files as disk
from recommit.train.heads import world_model
from recommit.train.heads.world_model import NAME

TASK = recommit.Sliding(2, 3)
SPEC = DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=60, validation=8, test=8)
TRAINING = world_model.WorldModelTraining(steps=120, batch=64, starts=60, lr=5e-3)


def new(tiny, **more):
    small = DecoderConfig(width=32, layers=1, heads=2, ffn=64)
    config = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"), decoder=small, **more)
    return recommit.CommitPolicy.from_backbone(tiny, config, seed=2).eval()


@pytest.fixture(scope="module")
def taught(tiny):
    policy, lines = new(tiny), []
    result = world_model.train(policy, SPEC, TRAINING, lines.append)
    return policy, result, lines


@pytest.fixture(scope="module")
def states():
    return TASK.generate(24, seed=5, length=(4, 14)).states


def test_it_learns_distances_and_what_actions_do(taught):
    _, result, lines = taught
    first = result["curve"][0]
    assert result["exact"] > max(0.3, first["exact"])
    assert result["pictures"] > max(0.5, first["pictures"])
    assert len(lines) == 8
    assert "exact" in lines[0]


def knowing(task):
    """A world model that knows everything."""

    def forward(cells, plans, depths, now=True):  # noqa: ARG001
        here, many = cells.numpy().astype(np.uint8), len(cells)
        rows = [task.distance(np.ascontiguousarray(here))]
        actions = plans.numpy().astype(np.uint8)
        rows += [task.distance(task.execute(here, actions, np.full(many, depth, np.int32)).states) for depth in depths]
        remaining = torch.from_numpy(np.stack(rows, axis=1)).float()
        return torch.cat([remaining, torch.zeros_like(remaining)], dim=1)

    return forward


@pytest.mark.parametrize("among", [(1, 2, 4, 8), (1, 3)])
def test_the_head_takes_the_depth_after_which_least_remains(tiny, states, among):
    policy = new(tiny)
    world_model.replace_head(policy, WorldModel(world_model.config_of(policy, TASK)), among)
    policy.world_model.forward = knowing(TASK)
    depths, plans = policy.act(TASK, states)
    for state, depth, plan in zip(states, depths, plans, strict=True):
        remaining = []
        for count in among:
            after = TASK.execute(state[None], plan[None], np.array([count], np.int32)).states
            remaining.append(int(TASK.distance(after)[0]))
        assert depth == among[int(np.argmin(remaining))]
    assert len(set(depths.tolist())) > 1


def test_it_sees_as_far_as_its_levels_are_long(tiny, monkeypatch):
    policy, task = new(tiny), recommit.Sokoban(7, boxes=1)
    usual = world_model.config_of(policy, task, 32)
    assert (usual.far, usual.lost) == (46, 46), "the nets of the packaged policies"
    long = replace(SPEC, difficulties=(Difficulty((4, 72)),))
    world_model.train(policy, long, replace(TRAINING, steps=1, batch=8, starts=8), lambda _line: None, depths=(2, 8))
    assert policy.config.depths == (2, 8)
    assert (policy.config.world_model.far, policy.config.world_model.lost) == (80, 88)
    net = WorldModel(world_model.config_of(policy, task, 72))
    distances = np.array([60, 62, 70, 80, 200, -1, -2], np.int32)
    monkeypatch.setattr(type(task), "distance", lambda *_: distances)
    *labels, unknown = world_model._labels(net, task, None)
    assert unknown == torch.nn.CrossEntropyLoss().ignore_index, "what nobody knows is not lost"
    labels = torch.stack(labels)
    monkeypatch.setattr(
        net, "probs", lambda cells: torch.nn.functional.one_hot(cells[:, 0, 0], net.config.far + 2).float()
    )
    monkeypatch.setattr(net, "next_scores", lambda cells, _actions: torch.nn.functional.one_hot(cells).movedim(-1, 1))
    said = net(labels[:, None, None], torch.zeros(6, 8, dtype=torch.long), (1, 2, 4, 8))[:, 1].tolist()
    assert said[:4] == [60, 62, 70, 80]
    assert said[3] <= said[4] < said[5], "a lost level is worse than any distance"


def test_nothing_is_asked_but_the_picture(taught, states, monkeypatch):
    policy, _, _ = taught

    def refused(*_arguments, **_options):
        raise AssertionError("a simulator was asked")

    expected = policy.act(TASK, states)
    for name in ("execute", "step", "distance", "solve", "is_solved"):
        monkeypatch.setattr(type(TASK), name, refused)
    depths, plans = policy.act(TASK, states)
    assert np.array_equal(depths, expected[0])
    assert np.array_equal(plans, expected[1])
    monkeypatch.setattr(policy.world_model, "forward", knowing(TASK))  # a planted defect
    with pytest.raises(AssertionError, match="a simulator was asked"):
        policy.act(TASK, states)


class Killed(Exception):
    """Stands for the end of a process."""


def bytes_of(policy, place):
    return (policy.save_pretrained(place) / "heads.safetensors").read_bytes()


def test_what_was_killed_goes_on_to_the_same_bytes(tiny, tmp_path):
    few, whole = replace(TRAINING, steps=16, batch=16), new(tiny)
    result = world_model.train(whole, SPEC, few, lambda _line: None)
    expected = bytes_of(whole, tmp_path / "whole")

    def killed(_line):
        raise Killed

    for _ in range(world_model.CHECKS):  # every time as soon as something was kept
        with pytest.raises(Killed):
            world_model.train(new(tiny), SPEC, few, killed, tmp_path)
    again = new(tiny)
    assert world_model.train(again, SPEC, few, lambda _line: None, tmp_path) == result
    assert bytes_of(again, tmp_path / "again") == expected
    kept = tmp_path / NAME
    data = kept.read_bytes()
    with pytest.raises(errors.WrongFolder, match=r"training\.seed was 0, is 1"):
        world_model.train(new(tiny), SPEC, replace(few, seed=1), lambda _line: None, tmp_path)
    kept.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(errors.Damaged, match="learning: expected what was written there, got other bytes"):
        world_model.train(new(tiny), SPEC, few, lambda _line: None, tmp_path)


def test_a_forgotten_moment_is_noticed(tiny, tmp_path, monkeypatch):
    few, whole = replace(TRAINING, steps=16, batch=16), new(tiny)
    world_model.train(whole, SPEC, few, lambda _line: None)

    def killed(line):
        if line.startswith("step 8,"):
            raise Killed

    with pytest.raises(Killed):
        world_model.train(new(tiny), SPEC, few, killed, tmp_path)
    right = world_model.check_and_copy

    def forgets(wanted, weights, path):
        right(wanted, weights, path)
        wanted["exp_avg.last.bias"].zero_()

    monkeypatch.setattr(world_model, "check_and_copy", forgets)
    planted = new(tiny)
    world_model.train(planted, SPEC, few, lambda _line: None, tmp_path)
    assert bytes_of(planted, tmp_path / "planted") != bytes_of(whole, tmp_path / "whole")


def test_what_does_not_fit_is_refused(taught, tmp_path):
    """Of a file that a stranger sealed, too."""
    net, three = torch.nn.Linear(1, 1), recommit.Sliding(3)

    def resume(about):
        data = save({})
        line = {**about, "sha256": disk.sha256(data)} if isinstance(about, dict) else about
        (tmp_path / NAME).write_bytes(verified.checkable(json.dumps(line)) + data)
        return world_model.LearningFile(tmp_path, {}).resume(net, torch.optim.AdamW(net.parameters()))

    sealed = [[], {}, {"begun": {}, "curve": []}, {"begun": 3, "curve": [{}]}, "x"]
    refused([(partial(resume, about), NAME) for about in sealed], errors.Damaged)
    refused(
        [
            (lambda: taught[0].act(three, three.generate(1, seed=0).states), "world_model: expected pictures of"),
            (lambda: world_model.WorldModelTraining(steps=0), "steps: expected at least 1, got 0"),
        ]
    )
