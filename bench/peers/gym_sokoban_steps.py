"""How fast gym-sokoban steps: ``python bench/peers/gym_sokoban_steps.py state|rgb``.

Pinned, in an environment of its own:  pip install gym-sokoban==0.0.6 gym==0.26.2 "setuptools<81" "numpy<2"
One environment of 10x10 cells with four boxes. ``rgb`` draws 160x160 pixels at every step; ``state`` has its drawing
taken out. A finished episode goes back to the same level, since making one takes seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import random
from importlib.metadata import version
from typing import Any

import numpy as np
from gym_sokoban.envs.sokoban_env import SokobanEnv
from rates import report


def fresh_level() -> Any:
    """An environment with a level; its generator may fail, and is then asked again."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  (its own source of randomness)
    env = SokobanEnv(dim_room=(10, 10), max_steps=120, num_boxes=4, reset=False)
    for _ in range(100):
        with contextlib.suppress(RuntimeError, RuntimeWarning):
            env.reset()
            return env
    raise SystemExit("no level in a hundred tries")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["state", "rgb"])
    what = parser.parse_args().what
    env = fresh_level()
    actions = np.random.default_rng(0).integers(1, 9, 4096)
    rooms = env.room_fixed.copy(), env.room_state.copy(), env.player_position.copy()
    if what == "state":
        env.render = lambda *_words, **_options: None

    def step(call: int) -> None:
        over = env.step(int(actions[call % 4096]))[2]
        if over:
            env.room_fixed, env.room_state, env.player_position = (each.copy() for each in rooms)
            env.num_env_steps = env.boxes_on_target = env.reward_last = 0

    report(f"gym-sokoban {version('gym-sokoban')}, 10x10, 4 boxes, {what}", step, 1)


if __name__ == "__main__":
    main()
