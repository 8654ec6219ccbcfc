"""Symmetry augmentations: the picture is turned, never the state, and the plan is that of their mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.reference import augmentations as twin
from tests.refusals import refused

import recommit
from recommit.policy import augmentations
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, HeadConfig, PolicyConfig
from recommit.policy.vision import Vision

TASK, LONG = recommit.Sokoban(6, 1), recommit.Sokoban((5, 7), 1)
STATES, LONG_STATES = (task.generate(5, seed=3).states for task in (TASK, LONG))
DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
CONFIG = PolicyConfig(lora=None, decoder=DECODER, prompts=("bare-v1", "bare-v1"), augmentations=8)
#: Two probabilities nearer than this may change places by rounding.
TIE = 1e-5


def new(folder, config=CONFIG):
    """Weights far from nothing, so that what is said hangs on what is seen."""
    policy = recommit.CommitPolicy.from_backbone(folder, config, seed=1).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in policy.decoder.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=0.3, generator=generator)
    return policy


@pytest.fixture(params=["tiny", "small"])
def folder(request):
    return request.getfixturevalue(request.param)


def clear(probabilities):
    """Up to which action of each plan no two probabilities are near."""
    best = np.sort(probabilities, axis=-1)
    return np.cumprod(best[..., -1] - best[..., -2] > TIE, axis=-1).astype(bool)


def test_the_symmetries_are_those_of_the_puzzle():
    for view, image in enumerate(TASK.images(STATES)):
        order = augmentations.cell_order(6, 6, view).numpy()
        assert np.array_equal(STATES.reshape(len(STATES), -1)[:, order].reshape(STATES.shape), image)
        assert [augmentations.action_in(view, action) for action in range(4)] == [
            twin.action_in(view, a) for a in range(4)
        ]
        for action in range(4):
            moved = TASK.step(STATES, np.full(len(STATES), action, np.uint8))
            there = TASK.step(
                np.ascontiguousarray(image), np.full(len(STATES), augmentations.action_in(view, action), np.uint8)
            )
            assert np.array_equal(list(TASK.images(moved))[view], there)


@pytest.mark.parametrize(("kind", "task"), [("tiny", TASK), ("tiny-qwen3-vl", LONG)])
def test_a_turned_picture_is_the_picture_of_a_turned_state(tmp_path, kind, task):
    """To the bit, in every family, with cells of one token and of several."""
    backbone = load_backbone(make_backbone(tmp_path / "backbone", kind))
    states = task.generate(2, seed=4).states
    images = list(task.images(states))
    for cell in (0, 2 * backbone.token_pixels):
        vision = Vision(backbone, PolicyConfig(lora=None, augmentations=8, cell=cell))

        def drawn(of, cell=cell):
            return backbone.pixels(task, np.ascontiguousarray(of), cell=cell, theme="light", crop=True)

        assert vision.augmentations(task, states.shape[1:]) == len(images)
        cells, grid = vision.cells(task, states.shape[1:]), vision.grid(task, states.shape[1:])
        for view, image in enumerate(images):
            turned = drawn(states)
            if view:
                turned = augmentations.augment_patches(turned, len(states), cells, grid, view)
            assert torch.equal(turned, drawn(image))


def test_the_mean_is_that_of_the_slow_twin(folder, monkeypatch):
    policy = new(folder)
    for task, states, copies in ((TASK, STATES, 8), (LONG, LONG_STATES, 4)):
        _, _, plans, probabilities = policy.plan(task, states, (8,))
        same = clear(probabilities[:, 0])
        assert same.mean() > 0.9
        for i, state in enumerate(states[:2]):
            actions, means = twin.plan(policy, task, state, copies, policy.backbone.token_pixels)
            until = int(same[i].sum())
            assert plans[i, 0].tolist()[:until] == actions[:until]
            assert probabilities[i, 0][:until] == pytest.approx(np.array(means)[:until], abs=2e-5)
    right, plans = augmentations.action_table(8), policy.plan(TASK, STATES, (8,)).plans
    monkeypatch.setattr(augmentations, "action_table", lambda copies: right[:copies].flip(1))  # a planted defect
    assert not np.array_equal(policy.plan(TASK, STATES, (8,)).plans, plans)


@pytest.mark.parametrize("conditioning", ["none", "embedding"])
def test_what_is_planned_is_what_is_played(tiny, conditioning):
    policy = new(tiny, replace(CONFIG, decoder=replace(DECODER, depth_conditioning=conditioning)))
    with torch.no_grad():
        policy.depth_head.weight.normal_(generator=torch.Generator().manual_seed(2))
    depths = policy.config.depths
    inputs, logits, plans, _ = policy.plan(TASK, STATES, depths)
    played, actions = policy.act(TASK, STATES)
    assert inputs.shape == (len(STATES), policy.depth_head.inputs)
    assert np.array_equal(played, np.array(depths)[logits.argmax(axis=1)])
    assert np.array_equal(actions, plans[np.arange(len(STATES)), logits.argmax(axis=1)])


def test_a_turned_state_has_the_turned_plan(folder):
    policy = new(folder, replace(CONFIG, head=HeadConfig("z+confidence")))
    inputs, logits, plans, probabilities = policy.plan(TASK, STATES, (8,))
    same, differ = clear(probabilities[:, 0]), 0
    for view, image in enumerate(TASK.images(STATES)):
        image = np.ascontiguousarray(image)
        turned = policy.plan(TASK, image, (8,))
        expected = augmentations.action_table(8)[view].numpy()[plans[:, 0]]
        assert np.array_equal(turned[2][:, 0][same], expected[same])
        whole = same.all(axis=1)
        assert whole.sum() >= 3
        assert turned[0][whole] == pytest.approx(inputs[whole], abs=1e-4)
        policy.replace_augmentations(1)
        alone = policy.plan(TASK, image, (8,))[2][:, 0]
        differ += (alone != augmentations.action_table(8)[view].numpy()[policy.plan(TASK, STATES, (8,))[2][:, 0]]).sum()
        policy.replace_augmentations(8)
    assert differ, "one view of a policy that was not trained is not equivariant"
    assert logits.shape == (5, 4)


def test_teacher_forcing_says_what_planning_said_and_learns(tiny):
    policy = new(tiny, replace(CONFIG, head=HeadConfig("z+confidence", 8)))
    inputs, logits, plans, probabilities = policy.plan(TASK, STATES, (8,))
    depths, actions = policy(TASK, STATES, torch.from_numpy(plans[:, 0].astype(np.int64)))
    assert actions.softmax(-1).detach().numpy() == pytest.approx(probabilities[:, 0], abs=1e-5)
    assert depths.detach().numpy() == pytest.approx(logits, abs=1e-5)
    (actions[..., 0].sum() + depths[:, 0].sum()).backward()
    assert policy.decoder.prefix.weight.grad.abs().max() > 0
    several = torch.from_numpy(np.repeat(plans.astype(np.int64), 2, axis=1))
    assert torch.allclose(policy(TASK, STATES, several)[1][:, 1], actions, atol=1e-5)
    assert np.array_equal(policy.act(TASK, STATES, depth=8)[1], plans[:, 0])
    assert inputs.shape == (5, policy.backbone.width + 24)


def test_in_a_symmetric_picture_the_first_of_equal_actions_is_taken(small):
    """A goal on both sides: left and right are as good, whatever rounding says."""
    state = np.ones((1, 7, 7), np.uint8)
    state[0, 1:6, 1:6] = 0
    state[0, 3, 1:6] = [2, 3, 5, 3, 2]
    policy, seen = new(small), set()
    for seed in range(20):
        with torch.no_grad():
            policy.decoder.outputs[1].weight.normal_(generator=torch.Generator().manual_seed(seed))
        _, _, plans, probabilities = policy.plan(recommit.Sokoban(7, 2), state, (8,))
        up, down, remaining, right = probabilities[0, 0, 0]
        assert remaining == pytest.approx(right, abs=1e-6)
        assert up == pytest.approx(down, abs=1e-6)
        seen.add(int(plans[0, 0, 0]))
    assert seen == {0, 2}


def test_what_cannot_be_is_refused(tiny):
    sliding = recommit.Sliding(3)
    act = lambda: new(tiny).act(sliding, sliding.generate(1, seed=0).states)
    words = "augmentations: expected 1 for sliding, whose goal does not turn with the picture, got 8"
    crossed = lambda: augmentations.cell_order(5, 7, 4)
    refused([(act, words), (crossed, "augmentation: expected one of the first 4 of 5x7 cells, got 4")])
