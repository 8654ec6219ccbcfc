"""How fast EnvPool steps: ``python bench/peers/envpool_steps.py Sokoban-v0|SlidingTilePuzzle-v0 [--slots 256]``.

Pinned, in an environment of its own:  pip install envpool==1.2.5
``gym`` is the public ``step`` of its Gymnasium interface, which caches every slot's state in Python. ``raw`` goes
around that, by ``_send`` and ``_recv``. One thread; random actions; episodes begin again by themselves.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path

import envpool
import numpy as np
from rates import report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", choices=["Sokoban-v0", "SlidingTilePuzzle-v0"])
    parser.add_argument("--slots", type=int, default=256)
    arguments = parser.parse_args()
    # Sokoban's levels lie in the package.
    where = {"base_path": str(Path(envpool.__file__).parent)} if arguments.task == "Sokoban-v0" else {}
    options = {"num_envs": arguments.slots, "num_threads": 1, "seed": 1, **where}
    actions = np.random.default_rng(0).integers(0, 4, (64, arguments.slots), np.int32)
    name = f"EnvPool {version('envpool')}, {arguments.task}, {arguments.slots} environments"

    env = envpool.make(arguments.task, env_type="gymnasium", **options)
    env.reset()
    report(f"{name}, gym", lambda call: env.step(actions[call % 64]), arguments.slots)

    raw = envpool.make(arguments.task, env_type="gymnasium", **options)
    slots = np.arange(arguments.slots, dtype=np.int32)
    raw._reset(slots)
    raw._recv()
    messages = [raw._from(each, slots) for each in actions]

    def step(call: int) -> None:
        raw._send(messages[call % 64])
        raw._recv()

    report(f"{name}, raw", step, arguments.slots)


if __name__ == "__main__":
    main()
