"""One puzzle as a Gymnasium environment."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from recommit import _core
from recommit.envs import banks, views
from recommit.puzzles import checks
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Info = dict[str, Any]


class Options(TypedDict, total=False):
    """What the environments of all puzzles take beside their sizes."""

    #: ``"grid"`` (cell codes, default) or ``"rgb"``.
    observation: str
    #: Pixels per cell of ``"rgb"`` observations and of ``render()``; default 28.
    cell: int
    #: ``"light"`` (default) or ``"dark"``.
    theme: str
    #: Leave the constant outer wall out of the pictures.
    crop: bool
    #: Actions after which an episode is truncated; default 200.
    max_steps: int
    #: Levels in the generated bank (default 1024), and the seed that they come from.
    bank_size: int
    bank_seed: int
    render_mode: str | None


class PuzzleEnv(gymnasium.Env[Any, Any]):
    """A puzzle; reward 1 for the action that solves it, else 0.

    Episode k after ``reset(seed=s)`` starts from a level that depends on (s, k) and the bank alone; ``reset()`` goes on
    to the next episode. ``info`` holds ``action_mask`` (which actions would change the state; blocked ones are
    allowed, and count) and ``solved``. An episode is truncated after ``max_steps`` actions unless the last one solved
    it.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(
        self,
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
    ) -> None:
        self.task = task
        self.render_mode = views.check_render_mode(render_mode)
        max_steps = checks.integer("max_steps", max_steps, 1, views.MAX_STEPS)
        bank = banks.bank(task, levels, bank_size, bank_seed)
        self._view = views.View(task, bank, observation, cell, theme, crop)
        self.observation_space = self._view.space(task.highest)
        self.action_space = spaces.Discrete(4)
        self._episodes: _core.Episodes | None = task.core.make_episodes(
            bank, slots=1, max_steps=max_steps, autoreset=_core.Autoreset.DISABLED, threads=1
        )
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Bytes, Info]:  # noqa: ARG002
        """Begin episode 0 of ``seed``, or the next episode. There are no options."""
        episodes = self._open()
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(checks.MAX_SEED))
        episodes.reset([None if seed is None else checks.integer("seed", seed, 0, checks.MAX_SEED)])
        self._seeded = True
        masks, solved = episodes.describe()
        return self._observe(episodes.grids()[0]), {"action_mask": masks[0], "solved": bool(solved[0])}

    def step(self, action: Any) -> tuple[Bytes, float, bool, bool, Info]:
        """One action: 0 up, 1 down, 2 left, 3 right."""
        episodes = self._open()
        if not self._seeded:
            raise ResetNeeded("step: expected a call of reset first, got none")
        try:
            grid, reward, terminated, truncated, mask = episodes.step_one(index(action))
        except TypeError:
            raise TypeError(f"action: expected an integer 0..3, got {type(action).__name__}") from None
        except _core.EpisodeOver:
            raise ResetNeeded("step: expected a running episode, got one that is over; call reset first") from None
        return self._observe(grid), reward, terminated, truncated, {"action_mask": mask, "solved": terminated}

    def render(self) -> Bytes | None:
        """The state as ``uint8[height, width, 3]``."""
        episodes = self._open()
        return None if self.render_mode is None else self._view.frames(episodes.grids(), 1)[0]

    def close(self) -> None:
        """Free the episodes; closing twice is fine."""
        self._episodes = None

    def _open(self) -> _core.Episodes:
        if self._episodes is None:
            raise ClosedEnvironmentError("env: expected an open environment, got one that was closed")
        return self._episodes

    def _observe(self, grid: Bytes) -> Bytes:
        return self._view.frames(grid[None], 1)[0] if self._view.rgb else grid


class SlidingEnv(PuzzleEnv):
    """``recommit/Sliding-v0``: boards of ``rows`` by ``cols`` (3x3; ``size`` sets both), or those of ``levels``."""

    def __init__(
        self,
        rows: int | None = None,
        cols: int | None = None,
        *,
        size: int | None = None,
        levels: banks.Source | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(*banks.sliding(rows, cols, size, levels), **options)


class SokobanEnv(PuzzleEnv):
    """``recommit/Sokoban-v0``: generated levels of ``size`` with ``boxes``, or ``levels`` from a file or an array."""

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        boxes: int | None = None,
        *,
        levels: banks.Source | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(*banks.grids(Sokoban, size, levels, boxes=boxes), **options)


class GridEnv(PuzzleEnv):
    """Any further puzzle, ``kind``: generated levels of ``size``, or ``levels`` from a file or an array."""

    kind: ClassVar[type[Puzzle]]

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        levels: banks.Source | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(*banks.grids(self.kind, size, levels), **options)
