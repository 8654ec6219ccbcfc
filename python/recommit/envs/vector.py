"""Many puzzles as one Gymnasium vector environment, stepped together in compiled code."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from recommit import _core
from recommit.envs import banks, views
from recommit.envs.single import Options, PuzzleEnv
from recommit.puzzles import checks
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from recommit.puzzles.frames import Frames
    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Info = dict[str, Any]

MAX_ENVS = 2**24
_MODES = {
    AutoresetMode.NEXT_STEP: _core.Autoreset.NEXT_STEP,
    AutoresetMode.SAME_STEP: _core.Autoreset.SAME_STEP,
    AutoresetMode.DISABLED: _core.Autoreset.DISABLED,
}


class VectorOptions(Options, total=False):
    """What vector environments take beside that."""

    #: NEXT_STEP (default), SAME_STEP or DISABLED.
    autoreset_mode: AutoresetMode | str
    #: False: observations are a read-only window on the live states, valid until the next call.
    copy: bool
    #: False leaves ``action_mask`` out of ``info``.
    action_mask: bool
    #: At most this many threads; None for all cores. Results do not depend on it.
    threads: int | None


class PuzzleVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` puzzles; slot i is what ``PuzzleEnv`` reset with seed + i would be, episode by episode."""

    def __init__(
        self,
        num_envs: int,
        task: Puzzle,
        levels: Bytes | None,
        *,
        observation: str = "grid",
        cell: int = 28,
        theme: str = "light",
        crop: bool = False,
        max_steps: int = 200,
        bank_size: int = 1024,
        bank_seed: int = 0,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        action_mask: bool = True,
        threads: int | None = None,
    ) -> None:
        self.task = task
        self.num_envs = checks.integer("num_envs", num_envs, 1, MAX_ENVS)
        self.render_mode = views.check_render_mode(render_mode)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**PuzzleEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.max_steps = max_steps = checks.integer("max_steps", max_steps, 1, views.MAX_STEPS)
        bank = banks.bank(task, levels, bank_size, bank_seed)
        self._view = views.View(task, bank, observation, cell, theme, crop)
        self.single_observation_space = self._view.space(task.highest)
        self.single_action_space = spaces.Discrete(4)
        self._episodes: _core.Episodes | None = task.core.make_episodes(
            bank, slots=self.num_envs, max_steps=max_steps, autoreset=_MODES[self.autoreset_mode], threads=threads
        )
        self._live: Bytes = self._episodes.live()
        self._frames: Frames | None = None
        self.threads = self._threads = threads
        self.shows_pictures = self._view.rgb
        self._copy = copy
        self._copy_grids = copy and not self._view.rgb
        self._all = np.ones(self.num_envs, np.bool_)
        self._action_mask = action_mask
        self._seeded = False

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch; made when asked for, because its bounds are as large as two batches."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of one action per slot."""
        return batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Bytes, Info]:
        """Begin episode 0 of each slot's seed (an int s stands for s, s+1, ...), or each slot's next episode.

        ``options={"reset_mask": bool[num_envs]}`` leaves the other slots as they are.
        """
        episodes = self._open()
        mask = self._checked_mask((options or {}).get("reset_mask"))
        seeds = self._seeds(seed)
        episodes.reset(seeds, mask)
        self._seeded = True
        masks, solved = episodes.describe()
        info = self._info(masks if self._action_mask else None, solved)
        return self._observe(), info if mask is None else _only(info, mask)

    def step(self, actions: Any) -> tuple[Bytes, NDArray[np.float32], Bools, Bools, Info]:
        """One action per slot, of dtype uint8, int32 or int64; wrong ones are refused before anything changes."""
        episodes = self._open()
        if not self._seeded:
            raise ResetNeeded("step: expected a call of reset first, got none")
        if not isinstance(actions, np.ndarray):
            actions = np.asarray(actions)
        try:
            grids, rewards, terminated, truncated, masks = episodes.step(
                actions, grids=self._copy_grids, masks=self._action_mask
            )
        except _core.EpisodeOver as error:
            raise ResetNeeded(str(error)) from None
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            info = self._info(masks, np.zeros(self.num_envs, np.bool_))
            self._add_finals(info, episodes, terminated)
        else:
            info = self._info(masks, terminated.copy())
        return self._observe() if grids is None else grids, rewards, terminated, truncated, info

    def render(self) -> tuple[Bytes, ...] | None:
        """One frame per slot."""
        episodes = self._open()
        return None if self.render_mode is None else tuple(self._view.frames(episodes.grids(), self._threads))

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Free the episodes; windows on the live states stay valid."""
        self._episodes = None

    def _open(self) -> _core.Episodes:
        if self._episodes is None:
            raise ClosedEnvironmentError("env: expected an open environment, got one that was closed")
        return self._episodes

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            if self._seeded:
                return [None] * self.num_envs
            seed = int(self.np_random.integers(checks.MAX_SEED - self.num_envs))
        if isinstance(seed, (int, np.integer)):
            first = checks.integer("seed", seed, 0, checks.MAX_SEED - self.num_envs + 1)
            super().reset(seed=first)
            return list(range(first, first + self.num_envs))
        seeds = [None if each is None else checks.integer("seed", each, 0, checks.MAX_SEED) for each in seed]
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: expected {self.num_envs} seeds, one per slot, got {len(seeds)}")
        if not self._seeded:  # a slot without a seed has no episode to go on from
            seeds = [int(self.np_random.integers(checks.MAX_SEED)) if each is None else each for each in seeds]
        return seeds

    def _checked_mask(self, mask: object) -> Bools | None:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            got = f"dtype {mask.dtype}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise TypeError(f"reset_mask: expected a numpy array of dtype bool, got {got}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: expected shape ({self.num_envs},), got {mask.shape}")
        if not mask.any():
            raise ValueError("reset_mask: expected at least one True, got none")
        if not self._seeded:
            raise ResetNeeded("reset_mask: expected a reset of all slots first, got none")
        return mask

    def _observe(self) -> Bytes:
        if self._view.rgb:
            return self._draw()
        return self._open().grids() if self._copy else self._live

    def _draw(self) -> Bytes:
        if self._copy:
            return self._view.frames(self._live, self._threads)
        if self._frames is None:
            self._frames = self._view.persistent(self._live, self._threads)
        else:
            self._frames.update(self._live, threads=self._threads)
        return self._frames.images

    def _info(self, masks: Bools | None, solved: Bools) -> Info:
        info: Info = {}
        if masks is not None:
            info["action_mask"] = masks
            info["_action_mask"] = self._all.copy()
        info["solved"] = solved
        info["_solved"] = self._all.copy()
        return info

    def _add_finals(self, info: Info, episodes: _core.Episodes, terminated: Bools) -> None:
        """Where episodes ended in this step: their last observation and info, as SyncVectorEnv gives them."""
        slots, states, masks = episodes.finals()
        if len(slots) == 0:
            return
        ended = np.zeros(self.num_envs, np.bool_)
        ended[slots] = True
        observations = np.full(self.num_envs, None, dtype=object)
        observations[slots] = [*(self._view.frames(states, self._threads) if self._view.rgb else states)]
        info["final_obs"], info["_final_obs"] = observations, ended
        final_masks = np.zeros((self.num_envs, 4), np.bool_)
        final_masks[slots] = masks
        info["final_info"] = _only(self._info(final_masks if self._action_mask else None, terminated.copy()), ended)
        info["_final_info"] = ended.copy()


class SlidingVectorEnv(PuzzleVectorEnv):
    """``recommit/Sliding-v0``, ``num_envs`` of them; arguments as in ``SlidingEnv``."""

    def __init__(
        self,
        num_envs: int = 1,
        rows: int | None = None,
        cols: int | None = None,
        *,
        size: int | None = None,
        levels: banks.Source | None = None,
        **options: Unpack[VectorOptions],
    ) -> None:
        super().__init__(num_envs, *banks.sliding(rows, cols, size, levels), **options)


class SokobanVectorEnv(PuzzleVectorEnv):
    """``recommit/Sokoban-v0``, ``num_envs`` of them; arguments as in ``SokobanEnv``."""

    def __init__(
        self,
        num_envs: int = 1,
        size: int | tuple[int, int] | None = None,
        boxes: int | None = None,
        *,
        levels: banks.Source | None = None,
        **options: Unpack[VectorOptions],
    ) -> None:
        super().__init__(num_envs, *banks.grids(Sokoban, size, levels, boxes=boxes), **options)


class GridVectorEnv(PuzzleVectorEnv):
    """Any further puzzle, ``num_envs`` of them; arguments as in ``GridEnv``."""

    kind: ClassVar[type[Puzzle]]

    def __init__(
        self,
        num_envs: int = 1,
        size: int | tuple[int, int] | None = None,
        *,
        levels: banks.Source | None = None,
        **options: Unpack[VectorOptions],
    ) -> None:
        super().__init__(num_envs, *banks.grids(self.kind, size, levels), **options)


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
