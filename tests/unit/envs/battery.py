"""Checks that any of our environments must pass; the tests also run them on defective ones, which must fail."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

if TYPE_CHECKING:
    from collections.abc import Callable

#: Small enough that random play often solves them, so that both ends of an episode occur.
SMALL: dict[str, dict[str, Any]] = {
    "recommit/Sliding-v0": {"size": 2, "bank_size": 8, "max_steps": 23},
    "recommit/Sokoban-v0": {"size": 5, "boxes": 1, "bank_size": 64, "max_steps": 23},
    "recommit/Ice-v0": {"size": 6, "bank_size": 64, "max_steps": 23},
}
IDS = sorted(SMALL)
MODES = list(AutoresetMode)


def fingerprint(env: Any, seed: int, resets: int = 8, episodes: int = 3, steps: int = 64) -> str:
    """A hash of all that a single environment says in ``resets`` runs of ``episodes`` episodes."""
    rng, digest = np.random.default_rng(99), hashlib.sha256()
    for run in range(resets):
        for episode in range(episodes):
            first = {"seed": seed + 1000 * run} if episode == 0 else {}
            observation, info = env.reset(**first)
            digest.update(observation.tobytes() + info["action_mask"].tobytes())
            for _ in range(steps):
                observation, reward, terminated, truncated, info = env.step(int(rng.integers(4)))
                digest.update(observation.tobytes() + info["action_mask"].tobytes())
                digest.update(repr((float(reward), terminated, truncated, info["solved"])).encode())
                if terminated or truncated:
                    break
    return digest.hexdigest()


def check_seeding(make: Callable[[], Any]) -> None:
    """The same seed gives the same bytes in another environment, other seeds give others."""
    prints = {seed: [fingerprint(make(), seed), fingerprint(make(), seed)] for seed in (0, 1, 77)}
    for seed, (one, other) in prints.items():
        assert one == other, f"seed {seed} twice: bytes differ"
    assert len({one for one, _ in prints.values()}) == 3, "other seeds: bytes are the same"


def check_slots(vector: Any) -> None:
    """Slots of one environment do not repeat each other, and episodes of one slot do not either."""
    first, _ = vector.reset(seed=5)
    episodes = [first.copy()] + [vector.reset()[0].copy() for _ in range(7)]
    histories = {b"".join(each[i].tobytes() for each in episodes) for i in range(vector.num_envs)}
    assert len(histories) == vector.num_envs, "two slots play the same episodes"
    assert all(len({each[i].tobytes() for each in episodes}) > 1 for i in range(vector.num_envs)), "an episode repeats"


class Singles:
    """A vector environment made of single ones, in any autoreset mode: what the native one must equal."""

    def __init__(self, envs: list[Any], mode: AutoresetMode) -> None:
        self.envs, self.mode = envs, mode
        self.over = np.zeros(len(envs), bool)

    def reset(self, seed: int) -> tuple[Any, Any]:
        return self._stack([env.reset(seed=seed + i) for i, env in enumerate(self.envs)])

    def reset_over(self) -> dict[int, Any]:
        """DISABLED: the slots that are over begin their next episode."""
        fresh = {int(i): self.envs[i].reset()[0] for i in np.flatnonzero(self.over)}
        self.over[:] = False
        return fresh

    def step(self, actions: Any) -> tuple[Any, ...]:
        rows, finals = [], {}
        for i, (env, action) in enumerate(zip(self.envs, actions.tolist(), strict=True)):
            if self.over[i] and self.mode is AutoresetMode.NEXT_STEP:
                observation, info = env.reset()
                rows.append((observation, 0.0, False, False, info))
                continue
            row = env.step(action)
            if (row[2] or row[3]) and self.mode is AutoresetMode.SAME_STEP:
                finals[i] = row[0]
                observation, info = env.reset()
                row = (observation, *row[1:4], info)
            rows.append(row)
        observations, rewards, terminated, truncated, infos = zip(*rows, strict=True)
        self.over = np.array(terminated) | np.array(truncated)
        observations, masks = self._stack(list(zip(observations, infos, strict=True)))
        return observations, np.array(rewards), np.array(terminated), np.array(truncated), masks, finals

    def _stack(self, pairs: list[Any]) -> tuple[Any, Any]:
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1]["action_mask"] for pair in pairs])


def check_vector_equals_singles(vector: Any, singles: list[Any], steps: int, seed: int) -> dict[str, int]:
    """Slot i is a single environment with seed + i, in every byte of every step; returns what was compared."""
    mode = vector.metadata["autoreset_mode"]
    twin, rng = Singles(singles, mode), np.random.default_rng(seed)
    observations, info = vector.reset(seed=seed)
    expected, masks = twin.reset(seed)
    assert np.array_equal(observations, expected), "first observations differ"
    assert np.array_equal(info["action_mask"], masks), "first masks differ"
    counts = {"steps": 0, "solved": 0, "late": 0}
    for step in range(steps):
        actions = rng.integers(0, 4, len(singles))
        observations, rewards, terminated, truncated, info = vector.step(actions)
        expected, rewards_, terminated_, truncated_, masks, finals = twin.step(actions)
        for name, found, right in (
            ("observations", observations, expected),
            ("rewards", rewards, rewards_),
            ("terminated", terminated, terminated_),
            ("truncated", truncated, truncated_),
            ("masks", info["action_mask"], masks),
        ):
            assert np.array_equal(found, right), f"seed {seed}, step {step}: {name} differ"
        for i, final in finals.items():
            assert np.array_equal(info["final_obs"][i], final), f"seed {seed}, step {step}: final_obs differ"
        if mode is AutoresetMode.DISABLED and twin.over.any():
            observations, _ = vector.reset(options={"reset_mask": twin.over.copy()})
            for i, fresh in twin.reset_over().items():
                assert np.array_equal(observations[i], fresh), f"seed {seed}, step {step}: reset differs"
        counts["steps"] += len(actions)
        counts["solved"] += int(terminated.sum())
        counts["late"] += int(truncated.sum())
    return counts


class IgnoresSeed(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Planted defect: every seed is the same seed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.env.reset(seed=None if seed is None else 0, options=options)


class ForgetsSeed(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Planted defect: a seed is accepted and dropped."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        del seed
        return self.env.reset(options=options)


class SolvesLate(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Planted defect: an episode that is solved by its last possible action counts as truncated, too."""

    taken = 0

    def reset(self, **arguments: Any) -> Any:
        self.taken = 0
        return self.env.reset(**arguments)

    def step(self, action: Any) -> Any:
        self.taken += 1
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated or (terminated and self.taken == 23), info
