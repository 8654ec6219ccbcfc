"""What an observation costs a policy: floating-point operations, and milliseconds on the machine that played."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.policy.flop_counter import Watch, cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

#: States of the pass that is measured, and how often it is timed.
STATES, TIMES = 32, 3


def measure(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> dict[str, Any]:
    """Symmetry augmentations, pixels of a cell and operations per observation, picture and plan included, of up to 32
    states that nothing remembers: the same wherever it is counted."""
    states = states[:STATES]
    shape = states.shape[1], states.shape[2]
    flops = cost(lambda: _observe(policy, task, states), Watch()).flops
    return {
        "augmentations": policy.vision.augmentations(task, shape),
        "cell": policy.vision.cell_pixels(task, shape),
        "flops": flops // len(states),
        "states": len(states),
    }


def timed(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> dict[str, Any]:
    """Milliseconds per observation of the same states, the shortest of three passes, and on what."""
    states, seconds = states[:STATES], float("inf")
    for _ in range(TIMES):
        began = time.perf_counter()
        _observe(policy, task, states)
        seconds = min(seconds, time.perf_counter() - began)
    return {
        "milliseconds": 1e3 * seconds / len(states),
        "states": len(states),
        "threads": torch.get_num_threads(),
        "device": policy.depth_head.weight.device.type,
    }


def _observe(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> None:
    policy.vision.forget()
    remaining = np.ones(len(states), np.int64) if policy.config.budget_conditioned else None
    policy.plan(task, states, (policy.config.plan_length,), remaining)  # ends when the host has the plan
