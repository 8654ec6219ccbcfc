"""Advantages of sampled plans, by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from recommit.graph.policy_evaluation import GraphValues
from recommit.train.grpo.advantages import plan_advantages


def test_plans_are_compared_depth_by_depth():
    """Two plans; the second lands better at depth 2 and equal at depth 1: only its second action earns."""
    none = np.zeros(0)
    values = GraphValues(
        value=np.array([[0.2, 0.2, 0.6], [0.0] * 3]),
        q_values=none,
        visits=np.array([[0.0], [1.0]]),
        advantage=none,
        by_distance=np.zeros((2, 4)),
        distance=none,
        begin=none,
        exact_fraction=1.0,
    )
    landing = np.array([[[0, 1], [0, 2]]])
    returns = values.returns(np.array([0]), landing, np.ones((1, 2, 2), int), np.zeros((1, 2, 2), bool))
    executed = np.array([[[1, 2], [1, 2]]])
    advantage, weight = plan_advantages(returns - 0.02, np.array([[0.5, 0.5]]), (1, 2), executed, 8)
    assert weight[0, 0].tolist() == [1.0, 0.5, 0, 0, 0, 0, 0, 0]
    assert advantage[0, :, 1].tolist() == pytest.approx([-0.2, 0.2])
    assert advantage[0, :, 0].tolist() == pytest.approx([-0.1, 0.1])
    assert (advantage[0, :, 2:] == 0).all()
