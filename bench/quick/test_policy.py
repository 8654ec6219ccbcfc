"""Decisions and episodes per second of a small policy, beside one product of matrices and a look without a cache."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="policies need the policy extra")
pytest.importorskip("transformers", reason="policies need the policy extra")

from bench.answers import group

import recommit
from recommit.policy.backbones.make import BACKBONES, Shape, make_backbone
from recommit.policy.config import LoraConfig, PolicyConfig
from recommit.rollout.sampling import Actor, play
from recommit.rollout.variants import variant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.conftest import Timed

look, rollout = group("look"), group("rollout")
TASK = recommit.Sliding(3)
SIDE, BUDGET = 256, 4
SHAPES = {
    **{name: BACKBONES[name] for name in ("tiny", "tiny-qwen3-vl", "tiny-internvl")},
    "8 million": Shape(256, 2, 4, 4, 512, 256, 8, 8, 684, 112, (3, 7)),
}


@pytest.fixture(scope="module")
def backbone(scratch: Path) -> Path:
    return make_backbone(scratch / "backbone", BACKBONES["tiny"])


@pytest.fixture(scope="module")
def policy(backbone: Path) -> Any:
    torch.manual_seed(0)
    return recommit.CommitPolicy.from_backbone(backbone, PolicyConfig(lora=None)).eval()


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return TASK.generate(128, seed=2, length=(8, 20)).states


def product(timed: Timed) -> None:
    """What a processor does in the time of a small product of matrices."""
    one = torch.eye(SIDE)
    both = timed(lambda: (one @ one).numpy(), 1, yardstick=True)
    assert np.array_equal(both, np.eye(SIDE))


@look
def test_product_of_matrices(timed: Timed) -> None:
    product(timed)


@look
def test_decisions(timed: Timed, policy: Any, states: np.ndarray) -> None:
    actions, depths = timed(lambda: policy.act(TASK, states)[::-1], len(states))
    with torch.no_grad():
        each = [policy.act(TASK, states[i : i + 1]) for i in range(8)]
    assert depths[:8].tolist() == [int(depth[0]) for depth, _ in each]
    assert actions[:8].tolist() == [action[0].tolist() for _, action in each]


@rollout
def test_product_beside_episodes(timed: Timed) -> None:
    product(timed)


@rollout
def test_episodes(timed: Timed, policy: Any, states: np.ndarray) -> None:
    """Sampled commitments, executed and judged; the answer is played again, action by action."""
    actor = Actor(policy, TASK, variant("adaptive"), seed=5)
    numbers = np.arange(64, dtype=np.uint64)
    after, trace = timed(lambda: _played(actor, states[:64], numbers), 64)
    expected = TASK.execute(trace.states, trace.proposals.actions[:, 0], trace.proposals.depth[:, 0])
    assert np.array_equal(after, expected.states)
    assert np.array_equal(trace.executed[:, 0], expected.executed)
    assert np.array_equal(trace.after_distance[:, 0], TASK.distance(after))


def _played(actor: Actor, starts: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, Any]:
    trace = play(actor, starts, BUDGET, numbers=numbers)
    return trace.after[:, 0], trace


def _eyes() -> list[Any]:
    """Picture encoders, each with its features encoded and read; only the smallest belongs to the quick ones."""
    return [
        pytest.param(name, how, marks=[group(f"features, {name}"), *([] if name == "tiny" else [pytest.mark.nightly])])
        for name in SHAPES
        for how in ("encoded", "encoded and kept", "read from the disk")
    ]


@pytest.mark.parametrize(("name", "how"), _eyes())
def test_features_of_pictures(timed: Timed, scratch: Path, states: np.ndarray, name: str, how: str) -> None:
    """A frozen picture encoder, its memory empty, and what it keeps on a disk."""
    backbone = make_backbone(scratch / name, SHAPES[name])
    encoded = seen(eyes(backbone), states)
    folders: Iterator[Path | None] = (
        None if how == "encoded" else scratch / f"{name} {number}" for number in itertools.count()
    )
    if how == "read from the disk":
        folders = itertools.repeat(scratch / f"{name} kept")
        assert np.array_equal(seen(eyes(backbone, next(folders)), states), encoded)
    values = timed.afresh(
        lambda: eyes(backbone, next(folders)),
        lambda vision: seen(vision, states),
        len(states),
        yardstick=how == "encoded",
    )
    assert np.array_equal(values, encoded)


def eyes(backbone: Path, folder: Path | None = None) -> Any:
    """A picture encoder whose memory is empty; ``kept`` is the folder of its features, opened."""
    vision = recommit.CommitPolicy.from_backbone(backbone, PolicyConfig(lora=LoraConfig())).eval().vision
    if folder is not None:
        vision.keep(folder, 1 << 34)
        vision._store(TASK, TASK.shape)
    return vision


@torch.no_grad()
def seen(vision: Any, states: np.ndarray) -> np.ndarray:
    return vision.features(TASK, states, frozen=True).numpy()
