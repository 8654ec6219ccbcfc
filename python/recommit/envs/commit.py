"""Wrappers with two clocks, of actions and of decisions; only decisions are budgeted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode

from recommit import checks
from recommit.envs.puzzles import Batched, PuzzleVectorEnv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.envs.base import Bools, Bytes, Info

    Counts = NDArray[np.int64]

MAX_DEPTH = 1024


class Commit(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Wraps an environment with Discrete actions, with one decision per step.

    A decision is a dict: ``depth_index`` selects from ``depths``, and the first ``depths[depth_index]`` of ``actions``
    are executed open loop, without further observations, unless the episode ends first. The rest of ``actions`` is
    ignored. ``commit(depth, actions)`` takes the depth itself and exactly that many actions.

    The observation is the last one, the reward the sum. The episode is truncated when ``budget`` decisions are spent.
    ``info`` is that of the last action, plus ``executed`` (number of actions), ``rewards`` (per action), ``t`` (clock
    of actions), ``k`` (clock of decisions) and ``decisions_left``.

    With ``space="flat"`` a decision is a row of integers, the depth's index and then the actions: a ``MultiDiscrete``,
    as supported by Stable-Baselines3, CleanRL and torchrl.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        depths: Sequence[int] = (1, 2, 4, 8),
        budget: int = 15,
        space: Literal["dict", "flat"] = "dict",
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            raise TypeError(
                f"env: expected a gymnasium.Env (one environment, not a vector of them), got {type(env).__name__}"
            )
        if not isinstance(env.action_space, spaces.Discrete):
            raise TypeError(
                f"env: expected a Discrete action space, got {env.action_space}; chunks of vectors are executed "
                "by recommit.horizon.Queue, and recommit sweep measures how much of them to execute"
            )
        RecordConstructorArgs.__init__(self, depths=depths, budget=budget, space=space)
        gymnasium.Wrapper.__init__(self, env)
        self.depths = checked_depths(depths)
        self.budget = checks.integer("budget", budget, 1, 2**31 - 1)
        self._first, self._count = int(env.action_space.start), int(env.action_space.n)
        checks.choice("space", space, ("dict", "flat"))
        self._flat = space == "flat"
        self.action_space = decisions(len(self.depths), max(self.depths), self._count, self._first, self._flat)
        self._t = self._k = 0
        self._running = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._t = self._k = 0
        self._running = True
        return observation, self._with_clocks(info, [])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        if self._flat:
            row = np.asarray(action)
            if row.shape != (width := 1 + max(self.depths),):
                raise ValueError(f"action: expected {width} integers, a depth's index first, got {row.shape}")
            action = {"depth_index": row[0], "actions": row[1:]}
        if not isinstance(action, dict) or set(action) != {"depth_index", "actions"}:
            got = sorted(action) if isinstance(action, dict) else type(action).__name__
            raise ValueError(f"action: expected a dict with 'depth_index' and 'actions', got {got}")
        depth = self.depths[checks.integer("depth_index", action["depth_index"], 0, len(self.depths) - 1)]
        actions = self._checked_actions(action["actions"])
        if len(actions) < depth:
            raise ValueError(f"actions: expected at least {depth} actions for depth {depth}, got {len(actions)}")
        return self._execute(actions[:depth])

    def commit(self, depth: int, actions: Sequence[int]) -> tuple[Any, float, bool, bool, Info]:
        """Take one decision of ``depth`` actions."""
        if depth not in self.depths:
            raise ValueError(f"depth: expected one of {self.depths}, got {depth!r}")
        checked = self._checked_actions(actions)
        if len(checked) != depth:
            raise ValueError(f"actions: expected {depth} actions for depth {depth}, got {len(checked)}")
        return self._execute(checked)

    def action_masks(self) -> Bools:
        """Masks for MaskablePPO, with ``space="flat"``: any depth, first actions that change the state, any others."""
        first = self.env.get_wrapper_attr("action_masks")()
        after = np.ones(self._count * (max(self.depths) - 1), np.bool_)
        return np.concatenate([np.ones(len(self.depths), np.bool_), first, after])

    def _execute(self, actions: list[int]) -> tuple[Any, float, bool, bool, Info]:
        if not self._running:
            raise ResetNeeded(
                f"step: expected a running episode, got decision {self._k + 1} after the last; call reset first"
            )
        self._k += 1
        rewards: list[float] = []
        for action in actions:
            observation, reward, terminated, truncated, info = self.env.step(action)
            self._t += 1
            rewards.append(float(reward))
            if terminated or truncated:
                break
        truncated = bool(truncated) or (self._k >= self.budget and not terminated)
        self._running = not (terminated or truncated)
        return observation, sum(rewards), bool(terminated), truncated, self._with_clocks(info, rewards)

    def _with_clocks(self, info: Info, rewards: list[float]) -> Info:
        clocks = {"executed": len(rewards), "rewards": rewards, "t": self._t, "k": self._k}
        return {**info, **clocks, "decisions_left": self.budget - self._k}

    def _checked_actions(self, actions: Sequence[int]) -> list[int]:
        array = np.asarray(actions)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"actions: expected a row of integers, got {array.dtype} of shape {array.shape}")
        last = self._first + self._count - 1
        wrong = np.flatnonzero((array < self._first) | (array > last))
        if len(wrong):
            raise ValueError(
                f"actions: expected values {self._first}..{last}, got {array[wrong[0]]} at position {wrong[0]}"
            )
        return [int(action) for action in array]


class VectorCommit(Batched):
    """``Commit(space="flat")`` around each slot of a vector of puzzles, executed together.

    ``envs`` comes from ``gymnasium.make_vec("recommit/...")``, with grids as observations and SAME_STEP or DISABLED
    resets: start states and their order are those of ``envs``, commitments run in the puzzle's ``execute``. An episode
    terminates when solved (reward 1), and is truncated after ``budget`` decisions or ``max_steps`` actions. ``info``
    has ``executed`` (actions of this decision), ``t``, ``k``, ``decisions_left`` and ``solved``, and ``final_obs`` for
    episodes that ended.
    """

    def __init__(self, envs: PuzzleVectorEnv, depths: Sequence[int] = (1, 2, 4, 8), budget: int = 15) -> None:
        if not isinstance(envs, PuzzleVectorEnv):
            raise TypeError(f"envs: expected a vector of our puzzles, got {type(envs).__name__}")
        if envs.observation != "grid" or envs.autoreset_mode is AutoresetMode.NEXT_STEP:
            got = "NEXT_STEP" if envs.observation == "grid" else envs.observation
            raise ValueError(f"envs: expected grids, and SAME_STEP or DISABLED resets, got {got}")
        self.depths = checked_depths(depths)
        self.budget = checks.integer("budget", budget, 1, 2**31 - 1)
        self._envs, self._table = envs, np.array(self.depths)
        self.num_envs, self.task = envs.num_envs, envs.task
        self.autoreset_mode, self.metadata = envs.autoreset_mode, envs.metadata
        self.render_mode = None
        self.single_observation_space = envs.single_observation_space
        self.single_action_space = decisions(len(self.depths), max(self.depths), 4, 0, flat=True)
        self._t, self._k = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int64)
        self._over = np.ones(self.num_envs, np.bool_)
        self._states = np.zeros((self.num_envs, *(self.single_observation_space.shape or ())), np.uint8)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Bytes, Info]:
        """As in the vector environment; ``options={"reset_mask": ...}`` leaves the other slots as they are."""
        starts, _ = self._envs.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        self._begin(starts, mask)
        return self._states.copy(), self._info(np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.bool_))

    def step(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Info]:
        """Take one decision per slot, int[num_envs, 1 + longest]: the index of a depth, then actions."""
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
        clocks = {"executed": executed, "t": self._t.copy(), "k": self._k.copy()}
        info: Info = {**clocks, "decisions_left": self.budget - self._k, "solved": solved}
        return info | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}

    def _unpacked(self, actions: Any) -> tuple[Counts, Any]:
        """Depth indices and plans; actions are checked by the puzzle."""
        rows = np.asarray(actions)
        checks.shape("actions", rows, (self.num_envs, 1 + max(self.depths)))
        index = checks.array("depth_index", rows[:, 0], "iu")
        checks.between("depth_index", index, 0, len(self.depths) - 1)
        return index, np.ascontiguousarray(rows[:, 1:])


def decisions(depths: int, longest: int, count: int, first: int, flat: bool) -> spaces.Space[Any]:
    """The action space of decisions: one of ``depths``, and ``longest`` of ``count`` actions from ``first`` on."""
    if flat:
        return spaces.MultiDiscrete([depths, *[count] * longest], start=[0, *[first] * longest])
    plan = spaces.MultiDiscrete([count] * longest, start=[first] * longest)
    return spaces.Dict(depth_index=spaces.Discrete(depths), actions=plan)


def checked_depths(depths: Sequence[int]) -> tuple[int, ...]:
    """Check that depths are strictly ascending."""
    checked = tuple(checks.integer("depths", depth, 1, MAX_DEPTH) for depth in depths)
    if not checked or list(checked) != sorted(set(checked)):
        raise ValueError(f"depths: expected at least one depth, in ascending order, got {tuple(depths)}")
    return checked
