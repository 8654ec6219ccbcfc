"""The graph of a real policy against plain Python, which asks the policy for one state at a time."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from tests.reference import graphs as slow

pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.graph import build
from recommit.graph.graph import NOWHERE


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def task(request):
    return recommit.Sliding(2, 2) if request.param == "sliding" else recommit.Sokoban(6, 1)


def policy_of(tiny, **decoder):
    from recommit.policy.config import DecoderConfig, PolicyConfig
    from recommit.policy.policy import CommitPolicy

    small = DecoderConfig(width=32, layers=1, heads=2, ffn=64, **decoder)
    config = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"), decoder=small)
    return CommitPolicy.from_backbone(tiny, config, seed=2).eval()


@pytest.fixture(scope="module")
def policy(tiny):
    return policy_of(tiny)


@pytest.fixture(scope="module")
def starts(task):
    return task.generate(3, seed=1).states


@pytest.fixture(scope="module")
def graph(policy, task, starts):
    return build.build(policy, task, starts)


def test_the_graph_is_that_of_the_policy(policy, task, starts, graph):
    edges = slow.explore(task, starts, lambda state: policy.act(task, state[None])[1][0].tolist())
    assert {graph.states[i].tobytes() for i in np.flatnonzero(graph.planned)} == set(edges)
    for i in np.flatnonzero(graph.planned):
        for depth, (after, actions, arrived) in edges[graph.states[i].tobytes()].items():
            assert graph.states[graph.landing[i, depth - 1]].tobytes() == after
            assert (graph.executed[i, depth - 1], graph.goal[graph.landing[i, depth - 1]]) == (actions, arrived)


def test_what_the_policy_says_is_kept(policy, task, graph):
    nodes = np.flatnonzero(graph.planned)[:20]
    depths, plans = policy.act(task, graph.states[nodes])
    assert np.array_equal(plans, graph.plans[nodes])
    assert np.array_equal(depths, np.array(graph.head_depths)[graph.logits[nodes].argmax(axis=1)])
    np.testing.assert_allclose(graph.probs[nodes].sum(axis=-1), 1.0, atol=1e-6)
    assert np.array_equal(graph.probs[nodes].argmax(axis=-1), graph.plans[nodes])
    assert np.array_equal(graph.distance, task.distance(graph.states))


def test_features_are_what_the_head_reads(policy, task, starts, graph):
    import torch

    rich = build.build(policy, task, starts, features=True)
    with torch.no_grad():
        z = policy.encode(task, graph.states)
    assert graph.features is None
    np.testing.assert_allclose(rich.features[graph.planned], z.numpy()[graph.planned], atol=1e-5)
    assert not rich.features[~graph.planned].any()


def test_a_limit_leaves_states_out_and_says_so(policy, task, starts, graph):
    cut = build.build(policy, task, starts, limit=3)
    assert len(cut) == 3 < len(graph)
    assert (cut.landing[cut.planned] == NOWHERE).any()
    assert not cut.closed
    assert graph.closed


def one_sample(policy, task, state, sample, seed):
    """A sampled plan in plain steps: the stream by its definition, one state, one sample."""
    import torch

    from recommit import rng

    named = int.from_bytes(hashlib.sha256(state.tobytes()).digest()[:8], "big") // 1024 * 1024 + sample
    stream = rng.streams(seed, 58, [named])
    numbers = [((int(rng.draw(stream, i)[0]) >> 41) + 0.5) / 2**23 for i in range(32)]
    with torch.no_grad():
        z, index = policy.encode(task, state[None]), policy.task_index(task)
        noise = torch.tensor(numbers, dtype=torch.float32).reshape(1, 8, 4)
        return policy.decoder.plans(z, index, noise=noise)[0][0].tolist()


def test_samples_are_named_by_the_state(policy, task, starts, graph):
    rich = build.build(policy, task, starts, samples=3, seed=5)
    assert graph.samples is None
    assert rich.samples.shape == (len(graph), 3, 8)
    nodes = np.flatnonzero(rich.planned)[::7]
    for node in nodes:
        for sample in range(3):
            expected = one_sample(policy, task, rich.states[node], sample, 5)
            assert rich.samples[node, sample].tolist() == expected
    assert not rich.samples[~rich.planned].any()
    other = build.build(policy, task, rich.states[nodes[-1:]], samples=2, seed=5)
    assert np.array_equal(other.samples[0], rich.samples[nodes[-1], :2])
    assert np.array_equal(rich.plans, graph.plans)
    assert not np.array_equal(build.build(policy, task, starts, samples=3, seed=6).samples, rich.samples)
