"""Decisions and episodes per second of a small policy, beside one product of matrices and a look without a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="policies need the policy extra")
pytest.importorskip("transformers", reason="policies need the policy extra")

from bench.answers import group

import recommit
from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import PolicyConfig
from recommit.rollout.rollout import Actor, rollout
from recommit.rollout.variants import variant

if TYPE_CHECKING:
    from pathlib import Path

    from bench.conftest import Timed

look, episodes = group("look"), group("rollout")
TASK = recommit.Sliding(3)
SIDE, BUDGET = 256, 4


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


@pytest.mark.parametrize("_beside", [pytest.param("a look", marks=look), pytest.param("episodes", marks=episodes)])
def test_product_of_matrices(timed: Timed, _beside: str) -> None:
    """What a processor does in the time of a small product of matrices."""
    one = torch.eye(SIDE)
    both = timed(lambda: (one @ one).numpy(), 1, yardstick=True)
    assert np.array_equal(both, np.eye(SIDE))


@look
def test_decisions(timed: Timed, policy: Any, states: np.ndarray) -> None:
    actions, depths = timed(lambda: policy.act(TASK, states)[::-1], len(states))
    with torch.no_grad():
        each = [policy.act(TASK, states[i : i + 1]) for i in range(8)]
    assert depths[:8].tolist() == [int(depth[0]) for depth, _ in each]
    assert actions[:8].tolist() == [action[0].tolist() for _, action in each]


@episodes
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
    trace = rollout(actor, starts, BUDGET, numbers=numbers)
    return trace.after[:, 0], trace
