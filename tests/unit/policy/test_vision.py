"""Features come out the same whichever way is cheapest."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.config import PolicyConfig
from recommit.policy.vision import Vision

TASKS = [recommit.Sliding(3), recommit.Sliding(2, 4), recommit.Sokoban(6, 1), recommit.Sokoban((5, 7), 1)]


def states_of(task):
    states = task.generate(6, seed=1).states
    return np.concatenate([states, states[:2]])


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_gathered_cells_equal_encoded_pictures(task, small):
    vision = Vision(load_backbone(small), PolicyConfig(lora=None))
    assert vision.cell_local
    states = states_of(task)
    with torch.no_grad():
        assert (vision.features(task, states, frozen=True) - vision._encode(task, states)).abs().max() < 1e-5


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_cached_states_equal_encoded_pictures(task, tiny):
    vision = Vision(load_backbone(tiny), PolicyConfig(lora=None))
    assert not vision.cell_local
    states = states_of(task)
    with torch.no_grad():
        expected = vision._encode(task, states)
    for _ in range(2):
        assert (vision.features(task, states, frozen=True) - expected).abs().max() < 1e-5
    assert len(vision._cache) == 6


def test_an_encoder_that_ranks_share_is_gone_through_by_all(tiny, monkeypatch):
    """ZeRO-3 gathers its weights whenever one rank needs them: a rank that remembers its states must take part."""
    task, vision = recommit.Sliding(3), Vision(load_backbone(tiny), PolicyConfig(lora=None))
    states, encoded = states_of(task), []
    encode = vision._encode
    monkeypatch.setattr(
        vision, "_encode", lambda task, states, view: (encoded.append(len(states)), encode(task, states, view))[1]
    )
    first = vision.features(task, states, frozen=True)
    vision.features(task, states, frozen=True)
    assert encoded == [6]
    next(vision.backbone.vision_parameters()).ds_id = 0  # as DeepSpeed marks what it splits
    assert torch.equal(vision.features(task, states, frozen=True), first)
    assert encoded == [6, 1]


def test_the_cache_forgets_the_oldest(tiny):
    task, backbone = recommit.Sliding(3), load_backbone(tiny)
    states = task.generate(40, seed=3).states
    one = 9 * backbone.width * 4
    vision = Vision(backbone, PolicyConfig(lora=None), cache_bytes=10 * one)
    with torch.no_grad():
        expected = vision._encode(task, states)
    for part in (slice(0, 20), slice(10, 40), slice(0, 20)):
        assert (vision.features(task, states[part], frozen=True) - expected[part]).abs().max() < 1e-5
        assert len(vision._cache) == 10
