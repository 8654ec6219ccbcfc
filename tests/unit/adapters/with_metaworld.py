"""Snapshots of the real Meta-World: whole episodes from a moment are repeated bit for bit, on every task that is named.

A word ``NAME=ATTRIBUTE`` plants a defect: the snapshots of that task leave the attribute out.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

from recommit.adapters.metaworld import MetaWorld, expert
from recommit.envs import NotRestored, SnapshotEnv, memory

warnings.simplefilter("ignore")
ARM = np.random.default_rng(0).uniform(-1, 1, (24, 4)).astype(np.float32)


def leave_out(attribute: str) -> None:
    """Snapshots forget one attribute."""
    whole = memory._filled

    def filled(target: Any, content: Any, fill: Any) -> Any:
        if not isinstance(content, dict) or attribute not in content:
            return whole(target, content, fill)
        return lambda: fill(target, {**content, attribute: target[attribute]})

    memory._filled = filled


def course(env: SnapshotEnv, act: Any, seed: int) -> str:
    """An expert's episode: at every 16th tick random actions are executed twice, and the last one from the 16th on is
    compared with what followed then."""
    env.reset(seed)
    later, seen = [], []
    while not env.over:
        if env.t % 16 == 0 and env.t + len(ARM) < env.max_steps:
            env.check(ARM)
            later.append(env.save())
        env.commit([act(env.observation)])
        seen.append((env.t, env.observation.tobytes(), env.success))
    env.reset(seed + 1)  # another goal, and bodies in other places
    env.load(later[0])
    again = []
    while not env.over:
        env.commit([act(env.observation)])
        again.append((env.t, env.observation.tobytes(), env.success))
    return (
        "equal" if again == seen[-len(again) :] and len(again) == len(seen) else f"differs, {len(seen)}, {len(again)}"
    )


def judged(word: str) -> Any:
    """What comes of one task."""
    task, _, attribute = word.partition("=")
    if attribute:
        leave_out(attribute)
    env = SnapshotEnv(MetaWorld(task), max_steps=160)
    starts = [env.reset(seed).tolist() for seed in (0, 0, 1)]
    if starts[0] != starts[1] or starts[0] == starts[2] or not any(starts[0][-3:]):
        return "seeds or goals are ignored"
    try:
        result = course(env, expert(task), 0)
    except NotRestored as error:
        return f"NotRestored: {error}"[:80]
    return f"{result}, {'solved' if env.success else 'not solved'}"


print(json.dumps({word: judged(word) for word in sys.argv[1:]}))
