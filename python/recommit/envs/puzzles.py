"""Puzzles as Gymnasium environments: single, and vectorised in compiled code."""

from __future__ import annotations

from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from recommit import ACTIONS, _core, checks
from recommit.envs.base import RENDER_MODES, EnvOptions, Episodes, VectorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.envs.base import Bools, Bytes, Info
    from recommit.puzzles.frames import Frames


MAX_ENVS = 2**24
_ONE = np.ones(1, np.bool_)


class PuzzleEnv(Episodes, gymnasium.Env[Any, Any]):
    """A puzzle; reward 1 for the action that solves it, else 0. Options are ``EnvOptions``.

    Episode k after ``reset(seed=s)`` starts from a level that depends on (s, k) and the bank alone; ``reset()`` begins
    the next episode. ``info`` holds ``action_mask`` (actions that would change the state; blocked ones are allowed, and
    count), ``solved``, and with ``info_distance`` also ``distance``. An episode is truncated after ``max_steps``
    actions unless the last one solved it.
    """

    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 4}
    #: Names of the actions 0..3.
    action_names = ACTIONS

    def __init__(self, **options: Any) -> None:
        self.observation_space = self._prepare(EnvOptions.of(options), 1, 1, AutoresetMode.DISABLED)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Bytes, Info]:
        """Begin episode 0 of ``seed``, or the next episode.

        ``options={"state": grid}`` starts from this state, ``options={"level": i}`` from level i of the bank.
        """
        episodes, options = self._open(), self._options(options)
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(checks.MAX_SEED))
        episodes.reset([None if seed is None else checks.integer("seed", seed, 0, checks.MAX_SEED)])
        self._place(options, _ONE)
        self._seeded = True
        masks, solved = episodes.describe()
        state = episodes.grids()[0]
        return self._observe(state), self._info(state, masks[0], bool(solved[0]))

    def step(self, action: Any) -> tuple[Bytes, float, bool, bool, Info]:
        """Take one action: 0 up, 1 down, 2 left, 3 right."""
        episodes = self._open(running=True)
        try:
            state, reward, terminated, truncated, mask = episodes.step_one(index(action))
        except TypeError:
            raise TypeError(f"action: expected an integer 0..3, got {type(action).__name__}") from None
        except _core.EpisodeOver:
            raise ResetNeeded("step: expected a running episode, got one that is over; call reset first") from None
        return self._observe(state), reward, terminated, truncated, self._info(state, mask, terminated)

    def render(self) -> Bytes | str | None:
        """The state as ``uint8[height, width, 3]``, or as text."""
        rendered = self._rendered()
        return None if rendered is None else rendered[0]

    def close(self) -> None:
        self._episodes = None

    def action_masks(self) -> Bools:
        """bool[4]: the actions that would change the state, for MaskablePPO."""
        return self._open(running=True).describe()[0][0]

    def _observe(self, state: Bytes) -> Bytes:
        return state if self.observation == "grid" else self.shown(state[None])[0]

    def _info(self, state: Bytes, mask: Any, solved: bool) -> Info:
        info: Info = {"action_mask": mask, "solved": solved}
        return info | ({"distance": int(self._distances(state[None])[0])} if self._info_distance else {})


class Batched(VectorEnv[Any, Any, Any]):
    """A vector environment whose batched spaces are created lazily, because their bounds are as large as batches."""

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        return batch_space(self.single_action_space, self.num_envs)


class PuzzleVectorEnv(Episodes, Batched):
    """``num_envs`` puzzles; slot i equals a ``PuzzleEnv`` reset with seed + i, episode by episode. Options are
    ``VectorOptions``."""

    _live: Bytes
    _drawn: Frames | None

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        chosen = VectorOptions.of(options)
        self.num_envs = checks.integer("num_envs", num_envs, 1, MAX_ENVS)
        mode = chosen.autoreset_mode
        if not isinstance(mode, AutoresetMode):
            checks.choice("autoreset_mode", mode, tuple(AutoresetMode.__members__))
            mode = AutoresetMode[mode]
        self.single_observation_space = self._prepare(chosen, self.num_envs, chosen.threads, mode)
        self.single_action_space = spaces.Discrete(4)
        self.metadata = {**PuzzleEnv.metadata, "autoreset_mode": mode}
        self.copies, self._action_mask = chosen.copy, chosen.action_mask
        self._all = np.ones(self.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Bytes, Info]:
        """Begin episode 0 of each slot's seed (an int s stands for s, s+1, ...), or each slot's next episode.

        ``options={"reset_mask": bool[num_envs]}`` leaves the other slots unchanged. ``"state"`` (one, or one per slot)
        or ``"level"`` (indices into the bank) set the start states.
        """
        episodes, options = self._open(), self._options(options, "reset_mask")
        mask = options.get("reset_mask")
        if mask is not None:
            self._check_mask(mask)
        episodes.reset(self._seeds(seed), mask)
        self._place(options, self._all if mask is None else mask)
        self._seeded = True
        masks, solved = episodes.describe()
        info = self._info(masks if self._action_mask else None, solved, self._live)
        return self._observe(), info if mask is None else _only(info, mask)

    def step(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Info]:
        """Take one action per slot, of dtype uint8, int32 or int64; invalid ones raise before any state changes."""
        observations, rewards, terminated, truncated, masks, finals = self.advance(actions)
        solved = terminated.copy() if finals is None else np.zeros(self.num_envs, np.bool_)
        info = self._info(masks, solved, self._live)
        if finals is not None and len(finals[0]):
            self._add_finals(info, finals, terminated)
        return observations, rewards, terminated, truncated, info

    def advance(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Bools | None, Any]:
        """``step`` without ``info``: (observations, rewards, terminated, truncated, action masks, finals).

        ``finals`` are (slots, states, action masks) of the episodes that ended; None unless autoreset is SAME_STEP.
        """
        episodes = self._open(running=True)
        if not isinstance(actions, np.ndarray):
            actions = np.asarray(actions)
        try:
            grids, rewards, terminated, truncated, masks = episodes.step(
                actions, grids=self.copies and self.observation == "grid", masks=self._action_mask
            )
        except _core.EpisodeOver as error:
            raise ResetNeeded(str(error)) from None
        finals = episodes.finals() if self.autoreset_mode is AutoresetMode.SAME_STEP else None
        return self._observe() if grids is None else grids, rewards, terminated, truncated, masks, finals

    def action_masks(self) -> Bools:
        """bool[num_envs, 4]: the actions that would change each state."""
        return self._open(running=True).describe()[0]

    def render(self) -> tuple[Any, ...] | None:
        """One frame, or one text, per slot."""
        rendered = self._rendered()
        return None if rendered is None else tuple(rendered)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Free the episodes; views of the live states stay valid."""
        self._episodes = None

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        slots = self.num_envs
        if seed is None:
            if self._seeded:
                return [None] * slots
            seed = int(self.np_random.integers(checks.MAX_SEED - slots))
        if isinstance(seed, (int, np.integer)):
            first = checks.integer("seed", seed, 0, checks.MAX_SEED - slots + 1)
            super().reset(seed=first)
            return list(range(first, first + slots))
        listed = [None if each is None else checks.integer("seed", each, 0, checks.MAX_SEED) for each in seed]
        if len(listed) != slots:
            raise ValueError(f"seed: expected {slots} seeds, one per slot, got {len(listed)}")
        if not self._seeded:  # the first reset needs a seed for every slot
            listed = [int(self.np_random.integers(checks.MAX_SEED)) if each is None else each for each in listed]
        return listed

    def _check_mask(self, mask: object) -> None:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            got = f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise ValueError(f"reset_mask: expected a numpy array bool[{self.num_envs}], got {got}")
        if not mask.any():
            raise ValueError("reset_mask: expected at least one True, got none")
        if not self._seeded:
            raise ResetNeeded("reset_mask: expected a reset of all slots first, got none")

    def _observe(self) -> Bytes:
        if self.observation == "grid":
            return self._open().grids() if self.copies else self._live
        if self.copies or self.observation == "onehot":
            return self.shown(self._live)
        if self._drawn is None:
            self._drawn = self.task.frames(self._live, **self._look, threads=self.threads)
        else:
            self._drawn.update(self._live, threads=self.threads)
        return self._drawn.images

    def _info(self, masks: Bools | None, solved: Bools, states: Bytes) -> Info:
        info = self._described(masks, solved, states)
        return info | {f"_{name}": self._all.copy() for name in info}

    def _described(self, masks: Bools | None, solved: Bools, states: Bytes) -> Info:
        info: Info = {} if masks is None else {"action_mask": masks}
        info["solved"] = solved
        return info | ({"distance": self._distances(states)} if self._info_distance else {})

    def _add_finals(self, info: Info, finals: tuple[Any, Any, Any], terminated: Bools) -> None:
        """Add ``final_obs`` and ``final_info`` of episodes that ended in this step, in SyncVectorEnv's format."""
        slots, states, masks = finals
        ended = np.zeros(self.num_envs, np.bool_)
        ended[slots] = True
        observations = np.full(self.num_envs, None, dtype=object)
        observations[slots] = [*self.shown(states)]
        info["final_obs"], info["_final_obs"] = observations, ended
        last: Info = {}
        for name, values in self._described(masks if self._action_mask else None, terminated[slots], states).items():
            last[name] = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
            last[name][slots], last[f"_{name}"] = values, ended.copy()
        info["final_info"], info["_final_info"] = last, ended.copy()

    def _start(self, saved: tuple[Any, ...] | None) -> None:
        super()._start(saved)
        self._live, self._drawn = self._open().live(), None

    def __getstate__(self) -> Info:
        return {**super().__getstate__(), "_live": None, "_drawn": None}


def _only(info: Info, chosen: Bools) -> Info:
    """The info of the chosen slots, zeros for the others."""
    part: Info = {}
    for key, values in info.items():
        if key.startswith("_"):
            part[key] = chosen.copy()
        else:
            part[key] = np.where(chosen.reshape(-1, *[1] * (values.ndim - 1)), values, 0).astype(values.dtype)
    return part
