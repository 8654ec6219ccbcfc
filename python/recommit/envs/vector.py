"""Many puzzles as one Gymnasium vector environment, stepped together in compiled code."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from recommit import _core
from recommit.envs import starts
from recommit.envs.base import Episodes, VectorOptions
from recommit.envs.single import PuzzleEnv
from recommit.puzzles import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.frames import Frames

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Info = dict[str, Any]

MAX_ENVS = 2**24


class Batched(VectorEnv[Any, Any, Any]):
    """A vector whose spaces are batches of single ones; made when asked for, because bounds are as large as batches."""

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of an action, or a decision, per slot."""
        return batch_space(self.single_action_space, self.num_envs)


class PuzzleVectorEnv(Episodes, Batched):
    """``num_envs`` puzzles; slot i is what ``PuzzleEnv`` reset with seed + i would be, episode by episode. Options are
    ``VectorOptions``."""

    _live: Bytes
    _frames: Frames | None

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        chosen = VectorOptions(**options)
        self.num_envs = checks.integer("num_envs", num_envs, 1, MAX_ENVS)
        self._prepare(chosen, self.num_envs, chosen.threads, _mode(chosen.autoreset_mode))
        self.metadata = {**PuzzleEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._view.space()
        self.single_action_space = spaces.Discrete(4)
        self.shows_pictures = self._view.rgb
        self._copy = chosen.copy
        self._all = np.ones(self.num_envs, np.bool_)
        self._action_mask = chosen.action_mask

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Bytes, Info]:
        """Begin episode 0 of each slot's seed (an int s stands for s, s+1, ...), or each slot's next episode.

        ``options={"reset_mask": bool[num_envs]}`` leaves the other slots as they are. ``"state"`` (one, or one per
        slot) and ``"level"`` (numbers in the bank) say where episodes start.
        """
        episodes = self._open()
        options = starts.check_names(options, ("reset_mask", "state", "level"))
        mask = None
        if options.get("reset_mask") is not None:
            mask = starts.check_mask(options["reset_mask"], self.num_envs)
            if not self._seeded:
                raise ResetNeeded("reset_mask: expected a reset of all slots first, got none")
        episodes.reset(self._seeds(seed), mask)
        starts.place(episodes, self._bank, options, self._all if mask is None else mask)
        self._seeded = True
        masks, solved = episodes.describe()
        info = self._info(masks if self._action_mask else None, solved, self._live)
        return self._observe(), info if mask is None else _only(info, mask)

    def step(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Info]:
        """One action per slot, of dtype uint8, int32 or int64; wrong ones are refused before anything changes."""
        observations, rewards, terminated, truncated, masks, finals = self.advance(actions)
        solved = terminated.copy() if finals is None else np.zeros(self.num_envs, np.bool_)
        info = self._info(masks, solved, self._live)
        if finals is not None and len(finals[0]):
            self._add_finals(info, finals, terminated)
        return observations, rewards, terminated, truncated, info

    def advance(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Bools | None, Any]:
        """A step without its ``info``: (observations, rewards, terminated, truncated, action masks, finals).

        ``finals`` are (slots, states, action masks) of the episodes that ended, None unless resets are SAME_STEP.
        """
        episodes = self._open()
        if not self._seeded:
            raise ResetNeeded("step: expected a call of reset first, got none")
        if not isinstance(actions, np.ndarray):
            actions = np.asarray(actions)
        try:
            grids, rewards, terminated, truncated, masks = episodes.step(
                actions, grids=self._copy and not self._view.rgb, masks=self._action_mask
            )
        except _core.EpisodeOver as error:
            raise ResetNeeded(str(error)) from None
        finals = episodes.finals() if self.autoreset_mode is AutoresetMode.SAME_STEP else None
        return self._observe() if grids is None else grids, rewards, terminated, truncated, masks, finals

    def shown(self, states: Bytes) -> Bytes:
        """States as they are observed."""
        return self._view.frames(states, self.threads) if self._view.rgb else states

    def render(self) -> tuple[Any, ...] | None:
        """One frame, or one text, per slot."""
        rendered = self._rendered()
        return None if rendered is None else tuple(rendered)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Free the episodes; windows on the live states stay valid."""
        self._episodes = None

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            if self._seeded:
                return [None] * self.num_envs
            seed = int(self.np_random.integers(checks.MAX_SEED - self.num_envs))
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=starts.slot_seeds(seed, self.num_envs)[0])
        listed = starts.slot_seeds(seed, self.num_envs)
        if not self._seeded:  # a slot without a seed has no episode to go on from
            listed = [int(self.np_random.integers(checks.MAX_SEED)) if each is None else each for each in listed]
        return listed

    def _observe(self) -> Bytes:
        if self._view.rgb:
            return self._draw()
        return self._open().grids() if self._copy else self._live

    def _draw(self) -> Bytes:
        if self._copy:
            return self._view.frames(self._live, self.threads)
        if self._frames is None:
            self._frames = self._view.persistent(self._live, self.threads)
        else:
            self._frames.update(self._live, threads=self.threads)
        return self._frames.images

    def _info(self, masks: Bools | None, solved: Bools, states: Bytes) -> Info:
        info: Info = {}
        if masks is not None:
            info["action_mask"] = masks
            info["_action_mask"] = self._all.copy()
        info["solved"] = solved
        info["_solved"] = self._all.copy()
        if self._info_distance:
            info["distance"] = self._distances(states)
            info["_distance"] = self._all.copy()
        return info

    def _add_finals(self, info: Info, finals: tuple[Any, Any, Any], terminated: Bools) -> None:
        """Where episodes ended in this step: their last observation and info, as SyncVectorEnv gives them."""
        slots, states, masks = finals
        ended = np.zeros(self.num_envs, np.bool_)
        ended[slots] = True
        observations = np.full(self.num_envs, None, dtype=object)
        observations[slots] = [*self.shown(states)]
        info["final_obs"], info["_final_obs"] = observations, ended
        final_masks = np.zeros((self.num_envs, 4), np.bool_)
        final_masks[slots] = masks
        reached = self._live.copy()
        reached[slots] = states
        last = self._info(final_masks if self._action_mask else None, terminated.copy(), reached)
        info["final_info"] = _only(last, ended)
        info["_final_info"] = ended.copy()

    def _start(self, saved: tuple[Any, ...] | None) -> None:
        super()._start(saved)
        self._live, self._frames = self._open().live(), None

    def __getstate__(self) -> Info:
        return {**super().__getstate__(), "_live": None, "_frames": None}


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for each in AutoresetMode:
        if mode in (each.name, each.value):
            return each
    expected = ", ".join(each.name for each in AutoresetMode)
    raise ValueError(f"autoreset_mode: expected one of {expected}, got {mode!r}")


def _only(info: Info, chosen: Bools) -> Info:
    """The same info for the chosen slots, zeros for the others."""
    part: Info = {}
    for key, values in info.items():
        part[key] = (
            chosen.copy()
            if key.startswith("_")
            else np.where(chosen.reshape(-1, *[1] * (values.ndim - 1)), values, 0).astype(values.dtype)
        )
    return part
