"""The broker of openpi: one action at a time, prefixes of chunks; a nightly test runs it inside openpi's Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.adapters import foreign
from tests.unit.adapters.chunk_policies import CHUNK, OpenpiPolicy

from recommit import horizon
from recommit.adapters.openpi import AdaptiveBroker, Chunks


def test_actions_are_prefixes_and_the_rest_is_passed_on():
    policy = OpenpiPolicy()
    broker = AdaptiveBroker(policy, horizon.Fixed(4))
    steps = [broker.infer({"id": 7}) for _ in range(6)]
    assert [step["actions"][1] for step in steps] == [0, 1, 2, 3, CHUNK, CHUNK + 1]
    assert [step["timing"]["places"] for step in steps] == [0, 1, 2, 3, 0, 1]
    assert {step["timing"]["infer_ms"] for step in steps} == {1.5}
    assert steps[0]["state"].shape == (4,)
    assert len(policy.asked) == 2


def test_reset_drops_the_chunk():
    policy = OpenpiPolicy()
    broker = AdaptiveBroker(policy, horizon.Fixed(4))
    broker.infer({"id": 0})
    broker.reset()
    assert broker.infer({"id": 0})["actions"][1] == CHUNK
    assert policy.resets == 1
    assert [(look.episode, look.t, look.k, look.h) for look in broker.decisions] == [(0, 0, 0, 4), (1, 0, 0, 4)]


def test_a_sweep_asks_for_one_observation_after_the_other():
    policy = OpenpiPolicy()
    chunks = Chunks(policy, prepare=lambda each: {"id": each["number"]})
    chunks.reset()
    said = chunks.predict({"number": np.array([3, 5]), "picture": np.zeros((2, 4, 4))})
    assert said.shape == (2, CHUNK, 2)
    assert said[:, 0, 0].tolist() == [3, 5]
    assert policy.asked == [[3], [5]]
    assert policy.resets == 1
    broker, words = AdaptiveBroker(policy, horizon.Fixed(1), key="action"), "key: expected one of ['actions', "
    wrong = Chunks(policy, key="action")
    refused([(lambda: broker.infer({"id": 0}), words), (lambda: wrong.predict({"id": np.zeros(1)}), words)])


@pytest.mark.nightly
def test_in_the_runtime_of_openpi(tmp_path):
    assert "0.1.2 fixed equal, 12 looks" in foreign.run("openpi", "openpi_runtime.py", tmp_path)
