"""Steps per second of Stable-Baselines3's VecEnv around our vector environment, and of that alone, in one process.

python bench/simulation/sb3.py          # needs stable-baselines3; docs/guides/rl-libraries.md quotes it
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np

import recommit  # noqa: F401
from recommit.adapters.sb3 import PuzzleVecEnv


def make(slots: int):
    return gymnasium.make_vec(
        "recommit/Sokoban-v0", num_envs=slots, size=8, boxes=2, autoreset_mode="SAME_STEP", action_mask=False, threads=1
    )


def seconds(step, steps: int) -> float:
    """CPU time of this process for so many steps."""
    begin = time.process_time()
    for i in range(steps):
        step(i)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    actions = np.random.default_rng(0).integers(0, 4, (64, arguments.slots))
    native, wrapped = make(arguments.slots), PuzzleVecEnv(make(arguments.slots))
    native.reset(seed=0), wrapped.reset()
    times = [
        (
            seconds(lambda i: native.step(actions[i % 64]), arguments.steps),
            seconds(lambda i: wrapped.step(actions[i % 64]), arguments.steps),
        )
        for _ in range(arguments.rounds)
    ]
    alone, through = (min(column) for column in zip(*times, strict=True))
    count = arguments.slots * arguments.steps / 1e6
    print(f"make_vec {count / alone:.2f} M steps/s, VecEnv {count / through:.2f} M steps/s: {alone / through:.2f}")


if __name__ == "__main__":
    main()
