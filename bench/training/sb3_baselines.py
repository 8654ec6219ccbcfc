"""PPO and DQN of Stable-Baselines3 on three environments: the table of docs/guides/rl-libraries.md.

python bench/training/sb3_baselines.py      # needs stable-baselines3; minutes on one core
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

import recommit  # noqa: F401
from recommit.adapters.sb3 import PuzzleVecEnv

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "recommit/Sliding-v0": {"size": (2, 3), "max_steps": 50},
    "recommit/Sokoban-v0": {"size": 5, "boxes": 1, "max_steps": 50},
    "recommit/Ice-v0": {"size": 6, "max_steps": 50},
}
HELD_OUT = 1_000_003
DISCOUNT = 0.97
#: Algorithm, slots, actions: about as many minutes each.
RUNS = (("PPO", 64, 250_000), ("DQN", 32, 100_000))


class OneHot(BaseFeaturesExtractor):
    """A cell's code is a name, not a number."""

    def __init__(self, space: Any, codes: int = 8) -> None:
        super().__init__(space, int(np.prod(space.shape)) * codes)
        self.codes = codes

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(observations.long(), self.codes).flatten(1).float()


def make(name: str, slots: int, bank_seed: int = 0) -> Any:
    options: dict[str, Any] = {
        "autoreset_mode": "SAME_STEP",
        "action_mask": False,
        "bank_seed": bank_seed,
        **ENVIRONMENTS[name],
    }
    envs: Any = gymnasium.make_vec(name, num_envs=slots, **options)
    return PuzzleVecEnv(envs)


def learner(kind: str, envs: Any) -> Any:
    policy = {"features_extractor_class": OneHot, "net_arch": [256, 256], "normalize_images": False}
    shared = {"policy_kwargs": policy, "gamma": DISCOUNT, "seed": 0, "device": "cpu"}
    if kind == "PPO":
        return PPO(
            "MlpPolicy", envs, n_steps=64, batch_size=1024, n_epochs=4, ent_coef=0.01, learning_rate=1e-3, **shared
        )
    exploring = {"learning_starts": 5_000, "exploration_fraction": 0.5, "target_update_interval": 2_000}
    return DQN(
        "MlpPolicy", envs, train_freq=1, gradient_steps=4, batch_size=128, learning_rate=5e-4, **exploring, **shared
    )


def solved(model: Any, name: str, episodes: int = 512) -> float:
    """The share of first episodes solved, from a bank that training did not see."""
    envs = make(name, episodes, HELD_OUT)
    seen, result = envs.reset(), np.full(episodes, np.nan)
    while np.isnan(result).any():
        seen, rewards, done, _ = envs.step(model.predict(seen)[0])
        result = np.where(np.isnan(result) & done, rewards, result)
    return float(result.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the actions below, for a first look")
    share = parser.parse_args().share
    torch.set_num_threads(1)
    titles = ["environment", "algorithm", "actions", "CPU minutes", "solved, untrained", "solved"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for name in ENVIRONMENTS:
        for kind, slots, actions in RUNS:
            model = learner(kind, make(name, slots))
            before, begin, steps = solved(model, name), time.process_time(), round(share * actions)
            model.learn(steps)
            minutes = (time.process_time() - begin) / 60
            cells = [name, kind, f"{steps:,}", f"{minutes:.1f}", f"{before:.0%}", f"{solved(model, name):.0%}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
