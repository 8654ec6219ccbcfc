"""Eight tasks of Meta-World, what happens in them, and an arm that goes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.envs import SnapshotEnv

if TYPE_CHECKING:
    from recommit.adapters.metaworld import MetaWorld
    from recommit.envs.snapshot import Snapshot

TASKS = ("push", "pick-place", "peg-insert-side", "assembly", "basketball", "hand-insert", "shelf-place", "soccer")
#: Actions of a plan, and the depths to choose from.
H, DEPTHS = 32, (1, 2, 4, 8, 16, 32)
#: What a query costs where success is worth 1, and the ticks of an episode.
PRICE, TICKS = 0.01, 150
#: A bump comes with this probability at a tick, and moves the hand so many metres: a standard deviation.
BUMP, SHOVE = 0.04, 0.03
#: Episodes begin with these numbers, and a million more for every seed of a policy: none is used for two things.
FIRST = {"demonstrations": 100_000, "validation": 200_000, "branches": 300_000, "test": 400_000}


@dataclass(frozen=True)
class Condition:
    """What happens between observations."""

    words: str
    latency: int = 0
    bumps: bool = False


CONDITIONS = {
    "still": Condition("nothing disturbs"),
    "latency": Condition("a query takes three ticks, in which the arm holds", latency=3),
    "bumps": Condition(f"the hand is shoved at {BUMP:.0%} of the ticks", bumps=True),
}


class Arm(SnapshotEnv):
    """One task under a condition; it remembers its last query, which rules may compare with what came of it."""

    kept = (*SnapshotEnv.kept, "before")

    def __init__(self, task: str, condition: str, ticks: int = TICKS) -> None:
        from recommit.adapters.metaworld import MetaWorld, hold

        chosen = CONDITIONS[condition]
        super().__init__(
            MetaWorld(f"{task}-v3", max_steps=ticks),
            max_steps=ticks,
            latency=chosen.latency,
            hold=hold,
            disturb=bump if chosen.bumps else None,
        )
        self.before: tuple[Any, Any] | None = None
        self.begun: dict[int, Snapshot] = {}

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode; Meta-World takes as long as forty ticks to come to its start, so that is remembered."""
        if seed in self.begun:
            self.load(self.begun[seed])
            return self.observation
        self.before = None
        super().reset(seed)
        if seed is not None:
            self.begun[seed] = self.save()
        return self.observation

    def commit(self, actions: Any) -> Any:
        """One query: what was observed, and what was to be executed."""
        self.before = (np.array(self.observation), np.array(actions))
        return super().commit(actions)


def bump(env: MetaWorld, action: Any, stream: Any) -> Any:
    """Now and then the hand is shoved aside; what it holds on to, the mocap body, is in the snapshot."""
    numbers = rng.uniforms(stream, 4)[0]
    if numbers[0] < BUMP:
        waves = np.sqrt(-2 * np.log(numbers[1])) * np.array(
            [np.cos(2 * np.pi * numbers[2]), np.sin(2 * np.pi * numbers[2])]
        )
        env.task.data.mocap_pos[0, :2] += SHOVE * waves
    return action


def starts(what: str, seed: int, count: int) -> range:
    """Numbers of episodes."""
    first = FIRST[what] + 1_000_000 * seed
    return range(first, first + count)
