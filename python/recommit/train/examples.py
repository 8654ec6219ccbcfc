"""A few decisions in plain words: what a policy sees, how deep it wants to commit, and whether its plan is any good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.build import run_directly
from recommit.graph.episodes import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.build import RunPass
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

ACTIONS = ("up", "down", "left", "right")


def decisions(
    policy: CommitPolicy,
    task: Puzzle,
    states: NDArray[np.uint8],
    distances: NDArray[np.int32],
    run_pass: RunPass = run_directly,
    depth: int | None = None,
    budget: int = 0,
) -> list[dict[str, Any]]:
    """One greedy decision per state. ``depth`` is that of a policy whose depth is fixed; else the depth head's
    likeliest one is committed. ``budget``: decisions left, for a policy that is told."""
    depths = policy.config.depths if depth is None else (depth,)
    remaining = {"remaining": np.full(len(states), budget)} if policy.config.budget_conditioned else {}
    _, logits, plans = run_pass(partial(policy.plan, task, states, depths, **remaining))
    probs = softmax(logits)
    column = probs.argmax(axis=1) if depth is None else np.zeros(len(states), np.int64)
    actions = plans[np.arange(len(states)), column]
    good = good_until(task, states, actions)
    return [
        {
            "state": states[i].tolist(),
            "distance": int(distances[i]),
            "depths": {str(d): round(float(p), 4) for d, p in zip(policy.config.depths, probs[i], strict=True)},
            "depth": depths[column[i]],
            "plan": [ACTIONS[action] for action in actions[i]],
            "optimal_actions": int(good[i]),
            "optimal": bool(good[i] >= min(depths[column[i]], int(distances[i]))),
        }
        for i in range(len(states))
    ]


def good_until(task: Puzzle, states: NDArray[np.uint8], plans: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many actions of each plan, from its first, are optimal one after the other; none count behind the goal."""
    good, live, here = np.zeros(len(states), np.int64), np.ones(len(states), bool), states
    for actions in plans.T:
        live &= task.optimal_actions(here)[np.arange(len(states)), actions]
        if not live.any():
            break
        good += live
        here = task.step(here, np.ascontiguousarray(actions))
    return good
