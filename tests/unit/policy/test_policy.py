"""The whole policy: what it trains, what it freezes, what it answers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.config import DecoderConfig, HeadConfig, LoraConfig, PolicyConfig
from recommit.policy.depth_head import confidence

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
WHOLE = PolicyConfig(lora=None, decoder=DECODER, prompts=("bare-v1", "bare-v1"))
ADAPTED = PolicyConfig(lora=LoraConfig(), decoder=DECODER)


@pytest.fixture(params=[WHOLE, ADAPTED], ids=["whole", "adapter"])
def policy(request, tiny):
    return recommit.CommitPolicy.from_backbone(tiny, request.param, seed=1).eval()


TASK = recommit.Sliding(3)
STATES = TASK.generate(12, seed=0).states


def test_acts_greedily_and_alike_in_any_batch(policy):
    depths, plans = policy.act(TASK, STATES)
    assert (depths == 1).all(), "a depth head at zero has only ties, and the smaller depth wins them"
    assert plans.shape == (12, 8)
    alone = np.concatenate([policy.act(TASK, state[None])[1] for state in STATES])
    assert np.array_equal(alone, plans)


def test_a_single_state_and_a_list_are_answered_as_their_batch_is(policy):
    plans = policy.act(TASK, STATES).plans
    one = policy.act(TASK, STATES[3])
    assert (one.depths.shape, one.plans.shape) == ((), (8,))
    assert np.array_equal(one.plans, plans[3])
    assert np.array_equal(policy.act(TASK, STATES.tolist()).plans, plans)
    every, alone = policy.plan(TASK, STATES, (8,)), policy.plan(TASK, STATES[3], (8,))
    assert np.array_equal(alone.plans, every.plans[3])
    assert np.allclose(alone.logits, every.logits[3], atol=1e-5)
    assert every.probs.shape == (12, 1, 8, 4)


def test_samples_use_every_depth_and_follow_their_noise(policy):
    rng = np.random.default_rng(0)
    noise = rng.random((12, 4), np.float32), rng.random((12, 8, 4), np.float32)
    depths, plans = policy.act(TASK, STATES, noise=noise)
    assert len(set(depths.tolist())) > 1
    some = policy.act(TASK, STATES[3:5], noise=(noise[0][3:5], noise[1][3:5]))
    assert np.array_equal(some[0], depths[3:5])
    assert np.array_equal(some[1], plans[3:5])


def test_every_trained_tensor_gets_a_gradient_and_no_other_moves(policy):
    depths, actions = policy(TASK, STATES, torch.zeros(12, 7, dtype=torch.long))
    (depths.log_softmax(-1)[:, 0].sum() + actions.log_softmax(-1)[..., 0].sum()).backward()
    for name, parameter in policy.named_parameters():
        if not parameter.requires_grad:
            assert parameter.grad is None, name
        elif "lora_A" not in name and "outputs.1" not in name:  # B starts at zero, and this task is number 0
            assert parameter.grad is not None, name
    if policy.config.lora:
        assert policy.vision_frozen
        assert not any(p.requires_grad for n, p in policy.backbone.named_parameters() if "lora" not in n)
    else:
        assert not policy.vision_frozen


def sure_of_itself(policy):
    """A depth head whose logits are some of what it is told about plans."""
    policy.replace_head(HeadConfig("z+confidence"))
    with torch.no_grad():
        policy.depth_head.weight[:, -24:].normal_(generator=torch.Generator().manual_seed(2))
        policy.depth_head.bias -= torch.from_numpy(policy.plan(TASK, STATES, (8,))[1]).mean(
            0
        )  # no depth wins everywhere
    return policy


def test_a_head_that_reads_plans_is_told_of_greedy_ones_everywhere(policy):
    sure_of_itself(policy)
    plans = torch.from_numpy(policy.act(TASK, STATES)[1].astype(np.int64))
    with torch.no_grad():
        depths, actions = policy(TASK, STATES, plans)
    expected = policy.depth_head.bias + confidence(actions.log_softmax(-1)) @ policy.depth_head.weight[:, -24:].T
    assert torch.allclose(depths, expected, atol=1e-4)
    assert len(set(depths.argmax(1).tolist())) > 1
    assert (depths.argmax(1).numpy() == np.searchsorted([1, 2, 4, 8], policy.act(TASK, STATES)[0])).all()
    inputs, logits, *_ = policy.plan(TASK, STATES, (8,))
    assert np.allclose(logits, depths.numpy(), atol=1e-4)
    assert inputs.shape == (12, policy.depth_head.inputs)
    noise = np.full((12, 4), 0.5, np.float32), np.random.default_rng(0).random((12, 8, 4), np.float32)
    sampled, drawn = policy.act(TASK, STATES, noise=noise)
    assert (sampled == policy.act(TASK, STATES)[0]).all(), "equal noise for every depth, and greedy confidence"
    assert (drawn != plans.numpy()).any()


def test_both_puzzles_share_a_policy_and_depths_may_be_fixed(policy):
    task = recommit.Sokoban(6, 1)
    assert policy.act(task, task.generate(3, seed=0).states)[1].shape == (3, 8)
    assert (policy.act(TASK, STATES, depth=3)[0] == 3).all()
    only = recommit.CommitPolicy.from_backbone(policy.source, PolicyConfig(tasks=("sokoban",), prompts=("bare-v1",)))
    rows = [
        (lambda: only.act(TASK, STATES), "task: expected one of sokoban, got sliding"),
        (lambda: policy.act(TASK, STATES, depth=9), "depth: expected 1..8, got 9"),
        (lambda: policy.replace_head(HeadConfig(), depths=(1, 9)), "depths: expected numbers 1..8, since the policy's"),
    ]
    refused(rows)
