"""Features come out the same whichever way is cheapest."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones import random_init
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.config import PolicyConfig
from recommit.policy.prompt import IMAGE, load_prompt
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
    assert encoded == [8], "six, filled up"
    next(vision.backbone.vision_parameters()).ds_id = 0  # as DeepSpeed marks what it splits
    assert torch.equal(vision.features(task, states, frozen=True), first)
    assert encoded == [8, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_remembered_does_not_depend_on_what_else_was_missing(dtype, tmp_path, monkeypatch):
    """A run that goes on begins with an empty cache. Networks as narrow as ``tiny`` round every row alike."""
    wide = random_init.Shape(128, 2, 4, 2, 256, 128, 2, 4, 256, 56, (0, 1), rope_theta=100.0)
    monkeypatch.setitem(random_init.BACKBONES, "wide", wide)
    backbone = load_backbone(random_init.make_backbone(tmp_path / "wide", "wide"))
    backbone.model.to(dtype)
    task, vision = recommit.Sliding(3), Vision(backbone, PolicyConfig(lora=None))
    states = task.generate(20, seed=1).states
    together = vision.features(task, states, frozen=True)
    for which in ([0], [3, 1], [*range(19, 2, -1)]):
        vision.forget()
        assert torch.equal(vision.features(task, states[which], frozen=True), together[which])


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


def test_a_users_own_prompt_stands_in_the_template_of_the_files():
    published = load_prompt("sliding-v2").text
    own = published.partition("user\n")[2].partition("<|im_end|>")[0]
    assert load_prompt(own).text == published
    with pytest.raises(ValueError, match=r"exactly once in .*, got it 2 times"):
        load_prompt(own + IMAGE)
