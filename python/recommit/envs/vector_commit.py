"""Decisions instead of actions, for a whole vector of puzzles: one call of compiled code per decision."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from recommit.envs.commit import checked_depths, decisions
from recommit.envs.vector import PuzzleVectorEnv
from recommit.puzzles import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Counts = NDArray[np.int64]
    Info = dict[str, Any]


class VectorCommit(VectorEnv[Any, Any, Any]):
    """``Commit`` around each slot of a vector of puzzles, executed together.

    ``envs`` comes from ``gymnasium.make_vec("recommit/...")``, with grids as observations and SAME_STEP or DISABLED
    resets: start states and their order are its own, commitments run in the puzzle's ``execute``. An episode ends where
    it is solved (reward 1), or is truncated after ``budget`` decisions or ``max_steps`` actions. ``info`` has
    ``executed`` and ``duration`` (actions of this decision), ``t``, ``k``, ``decisions_left`` and ``solved``; where
    episodes ended, ``final_obs``.
    """

    def __init__(
        self,
        envs: PuzzleVectorEnv,
        depths: Sequence[int] = (1, 2, 4, 8),
        budget: int = 15,
        space: Literal["dict", "flat"] = "flat",
    ) -> None:
        if not isinstance(envs, PuzzleVectorEnv):
            raise TypeError(f"envs: expected a vector of our puzzles, got {type(envs).__name__}")
        if envs.shows_pictures or envs.autoreset_mode is AutoresetMode.NEXT_STEP:
            got = "pictures" if envs.shows_pictures else "NEXT_STEP"
            raise ValueError(f"envs: expected grids, and SAME_STEP or DISABLED resets, got {got}")
        if envs.shaped:
            raise ValueError("envs: expected reward 'sparse', got a shaped one")
        self.depths = checked_depths(depths)
        self.budget = checks.integer("budget", budget, 1, 2**31 - 1)
        checks.choice("space", space, ("dict", "flat"))
        self._flat = space == "flat"
        self._envs, self._table = envs, np.array(self.depths)
        self.num_envs, self.task = envs.num_envs, envs.task
        self.autoreset_mode, self.metadata = envs.autoreset_mode, envs.metadata
        self.render_mode = None
        self.single_observation_space = envs.single_observation_space
        self.single_action_space = decisions(len(self.depths), max(self.depths), 4, 0, self._flat)
        self._t, self._k = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int64)
        self._over = np.ones(self.num_envs, np.bool_)
        self._states = np.zeros((self.num_envs, *envs.task.shape), np.uint8)

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of one decision per slot."""
        return batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Bytes, Info]:
        """As in the vector environment; ``options={"reset_mask": ...}`` leaves the other slots as they are."""
        starts, _ = self._envs.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        self._begin(starts, mask)
        return self._states.copy(), self._info(np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.bool_))

    def step(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Info]:
        """One decision per slot: int[num_envs, 1 + longest], or a dict of batches."""
        if self._over.any():
            raise ResetNeeded(f"step: expected running episodes, got one that is over in slot {self._over.argmax()}")
        index, plans = self._unpacked(actions)
        depths = np.minimum(self._table[index], self._envs.max_steps - self._t).astype(np.int32)
        out = self.task.execute(self._states, plans, depths, threads=self._envs.threads)
        self._states = out.states
        self._t += out.executed
        self._k += 1
        solved = out.solved
        truncated = ~solved & ((self._k >= self.budget) | (self._t >= self._envs.max_steps))
        ended, info = solved | truncated, self._info(out.executed.astype(np.int64), solved)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._over = ended
        elif ended.any():
            self._next(ended, info)
        return self._states.copy(), solved.astype(np.float32), solved.copy(), truncated, info

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Free the episodes."""
        self._envs.close()

    def _next(self, ended: Bools, info: Info) -> None:
        finals = np.full(self.num_envs, None, dtype=object)
        for slot in np.flatnonzero(ended):
            finals[slot] = self._states[slot].copy()
        info["final_obs"], info["_final_obs"] = finals, ended
        starts, _ = self._envs.reset(options={"reset_mask": ended})
        self._begin(starts, ended)

    def _begin(self, starts: Bytes, mask: Bools) -> None:
        self._states[mask] = starts[mask]
        self._t[mask] = self._k[mask] = 0
        self._over[mask] = False

    def _info(self, executed: Counts, solved: Bools) -> Info:
        clocks = {"executed": executed, "duration": executed, "t": self._t.copy(), "k": self._k.copy()}
        info: Info = {**clocks, "decisions_left": self.budget - self._k, "solved": solved}
        return info | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}

    def _unpacked(self, actions: Any) -> tuple[Counts, Bytes]:
        if self._flat:
            rows = np.asarray(actions)
            index, plans = rows[:, 0], rows[:, 1:]
        else:
            index, plans = np.asarray(actions["depth_index"]), np.asarray(actions["actions"])
        if plans.shape != (self.num_envs, max(self.depths)):
            expected = (self.num_envs, max(self.depths))
            raise ValueError(f"actions: expected {expected} beside the depths, got {plans.shape}")
        for name, values, top in (("depth_index", index, len(self.depths)), ("actions", plans, 4)):
            if values.dtype.kind not in "iu":
                raise TypeError(f"{name}: expected integers, got {values.dtype}")
            if values.size and not 0 <= values.min() <= values.max() < top:
                raise ValueError(f"{name}: expected 0..{top - 1}, got {values.min()}..{values.max()}")
        return index, plans.astype(np.uint8)
