"""Small networks compute with one thread wherever they compute, large ones with the process's own; it keeps its own."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import recommit
from recommit.graph.build import build
from recommit.policy import threads
from recommit.policy.policy import CommitPolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant

OWN, GIVEN = 3, 2
TASK = recommit.Sliding(3)
STATES = TASK.generate(2, seed=0, length=(2, 4)).states
PLACES = {
    "act": lambda policy: policy.act(TASK, STATES),
    "plan": lambda policy: policy.plan(TASK, STATES, (1, 2)),
    "episode": lambda policy: recommit.episode(policy, STATES[0], 1),
    "graph": lambda policy: build(policy, TASK, STATES),
    "graph with features": lambda policy: build(policy, TASK, STATES, features=True),
    "rollout": lambda policy: Actor(policy, TASK, variant("adaptive"), seed=0).propose(
        STATES, 2, np.arange(2, dtype=np.uint64)
    ),
}


@pytest.fixture
def policy():
    before = torch.get_num_threads()
    torch.set_num_threads(OWN)
    yield CommitPolicy.from_pretrained("sliding-3x3").eval()
    torch.set_num_threads(before)


@pytest.mark.parametrize("place", PLACES)
def test_threads_of_every_place_that_computes(policy, place, monkeypatch):
    seen, encode = set(), policy.encode

    def watched(*given, **more):
        seen.add(torch.get_num_threads())
        return encode(*given, **more)

    def used():
        seen.clear()
        PLACES[place](policy)
        assert torch.get_num_threads() == OWN
        return seen

    monkeypatch.setattr(policy, "encode", watched)
    assert used() == {1}
    with threads.threads(GIVEN):
        PLACES[place](policy)
        assert torch.get_num_threads() == GIVEN
    assert seen == {1, GIVEN}
    monkeypatch.setattr(threads, "SMALL", 0)
    assert used() == {OWN}


def test_an_error_leaves_the_threads_of_before(policy):
    with pytest.raises(ValueError, match="planted"), threads.threads(policy):
        raise ValueError("planted")
    assert torch.get_num_threads() == OWN
    with threads.threads(policy):  # and the next one decides again
        assert torch.get_num_threads() == 1
