"""Policies that come and go, and what an observation costs them: floating-point operations, and milliseconds on the
machine that played."""

from __future__ import annotations

import gc
import time
import weakref
from typing import TYPE_CHECKING, Any

import torch

from recommit.policy.config import MAX_ACTIONS
from recommit.policy.counting import Watch, cost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recommit.evaluate.agent_names import AgentName
    from recommit.policy.policy import CommitPolicy
    from recommit.prices import Prices
    from recommit.puzzles.puzzle import Puzzle

#: States of the pass that is measured, and how often it is timed.
STATES, TIMES = 32, 3


def loaded(
    name: AgentName, device: torch.device, *, anyway: bool = False, prices: Prices | None = None
) -> CommitPolicy:
    """The policy that agents of a run ask, under as many symmetries as they say; it plays what it was not trained on
    only ``anyway``. A head that is conditioned on prices is given these."""
    from recommit.policy.checkpoint import local_folder
    from recommit.policy.policy import CommitPolicy

    policy: CommitPolicy = CommitPolicy.from_pretrained(local_folder(name.run), device=device, anyway=anyway).eval()
    if name.views:
        policy.replace_augmentations(name.views)
    if prices is not None:
        policy.replace_prices(prices)
    return policy


def weights_held(policy: CommitPolicy) -> weakref.ref[torch.nn.Module]:
    """What ``let_go`` asks once nobody has the policy any more."""
    return weakref.ref(policy.backbone.model)


def let_go(weights: weakref.ref[torch.nn.Module]) -> None:
    """Give the memory of a policy back. Its modules go with the last who has it, unless some refer to each other; only
    then is everything that is alive searched."""
    if weights() is not None:
        gc.collect()
    torch.cuda.empty_cache()


def measure(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> dict[str, Any]:
    """Symmetries and operations per observation, picture and plan included, of up to 32 states that nothing remembers:
    the same wherever it is counted."""
    states = states[:STATES]
    return {
        "views": policy.vision.augmentations(task, (states.shape[1], states.shape[2])),
        "flops": operations(policy, task, states),
        "states": len(states),
    }


def timed(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> dict[str, Any]:
    """Milliseconds per observation of the same states, the shortest of three passes, and on what."""
    states = states[:STATES]
    seconds = min(_seconds(policy, task, states) for _ in range(TIMES))
    return {
        "milliseconds": 1e3 * seconds / len(states),
        "states": len(states),
        "threads": torch.get_num_threads(),
        "device": policy.depth_head.weight.device.type,
    }


def operations(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> int:
    """Per observation, of matrix products and attention."""
    policy.vision.forget()
    return cost(lambda: _observe(policy, task, states), Watch()).flops // len(states)


def _seconds(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> float:
    policy.vision.forget()
    began = time.perf_counter()
    _observe(policy, task, states)
    return time.perf_counter() - began


def _observe(policy: CommitPolicy, task: Puzzle, states: NDArray[np.uint8]) -> None:
    remaining = torch.ones(len(states), dtype=torch.long).numpy() if policy.config.budget_conditioned else None
    policy.plan(task, states, (MAX_ACTIONS,), remaining)  # ends when the host has the plan
