"""What one environment and a vector of them share: options, levels, observations, and episodes in compiled code."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode

from recommit import _core
from recommit.envs import starts
from recommit.puzzles import checks, levels
from recommit.puzzles.frames import style

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.puzzles.frames import Frames
    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Info = dict[str, Any]

MAX_STEPS = 2**31 - 1
RENDER_MODES = ("rgb_array", "ansi")
_AUTORESET = {
    AutoresetMode.NEXT_STEP: _core.Autoreset.NEXT_STEP,
    AutoresetMode.SAME_STEP: _core.Autoreset.SAME_STEP,
    AutoresetMode.DISABLED: _core.Autoreset.DISABLED,
}


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Options of one environment."""

    size: int | tuple[int, int] | None = None
    """Rows and columns, or one number for both; None: 3x3 for sliding, 8x8 for the others, or that of ``levels``."""
    boxes: int | None = None
    """Boxes of a generated Sokoban level; None: two."""
    levels: starts.Source | None = None
    """Starts from a file or an array, instead of generated ones."""
    observation: str = "grid"
    """``"grid"`` (cell codes) or ``"rgb"``."""
    cell: int = 28
    """Pixels per cell of ``"rgb"`` observations and of ``render()``."""
    theme: str = "light"
    """``"light"`` or ``"dark"``."""
    crop: bool = False
    """Leave the constant outer wall out of the pictures."""
    max_steps: int = 200
    """Actions after which an episode is truncated."""
    bank_size: int = 1024
    """Levels in the generated bank."""
    bank_seed: int = 0
    """The seed that they come from."""
    length: starts.Length | None = None
    """Exact optimal length of every generated start, or (shortest, longest); None: as the generator draws."""
    info_distance: bool = False
    """Adds ``distance`` to ``info``: the exact number of actions to the goal, -1 where there is no way."""
    render_mode: str | None = None
    """None, ``"rgb_array"`` or ``"ansi"``."""


@dataclass(frozen=True, kw_only=True)
class VectorOptions(EnvOptions):
    """Options of a vector of environments."""

    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP
    """NEXT_STEP, SAME_STEP or DISABLED."""
    copy: bool = True
    """False: observations are a read-only window on the live states, valid until the next call."""
    action_mask: bool = True
    """False leaves ``action_mask`` out of ``info``."""
    threads: int | None = None
    """At most this many threads; None for all cores. Results do not depend on it."""


class View:
    """Turns ``uint8[N, rows, columns]`` into observations and frames of one style (cell size, theme, crop)."""

    def __init__(self, task: Puzzle, bank: _core.LevelBank, options: EnvOptions) -> None:
        checks.choice("observation", options.observation, ("grid", "rgb"))
        self.task = task
        self.shape = bank.shape
        self.rgb = options.observation == "rgb"
        style(options.cell, options.theme, options.crop)
        if options.crop and not bank.walled:
            raise ValueError("crop: expected levels with walls all around, got others; nothing can be left out")
        self.cell, self.theme, self.crop = options.cell, options.theme, options.crop

    def space(self) -> spaces.Box:
        """The space of one observation."""
        if not self.rgb:
            return spaces.Box(0, self.task.highest, self.shape, np.uint8)
        rows, cols = (side - 2 if self.crop else side for side in self.shape)
        return spaces.Box(0, 255, (rows * self.cell, cols * self.cell, 3), np.uint8)

    def persistent(self, states: Bytes, threads: int | None) -> Frames:
        """Pictures that are brought up to date in place."""
        return self.task.frames(states, self.cell, theme=self.theme, crop=self.crop, threads=threads)

    def frames(self, states: Bytes, threads: int | None = None) -> Bytes:
        """One fresh picture per state."""
        return self.task.render(states, self.cell, theme=self.theme, crop=self.crop, threads=threads)


class Episodes:
    """The episodes of some slots. A copy (``copy``, ``deepcopy``, ``pickle``) goes on exactly as they would, and leaves
    them alone."""

    #: The puzzle that is played.
    kind: ClassVar[type[Puzzle]]

    def _prepare(self, options: EnvOptions, slots: int, threads: int | None, autoreset: AutoresetMode) -> None:
        """Check the options, and make the levels and the episodes."""
        self.task, states = starts.task_and_states(self.kind, options.size, options.boxes, options.levels)
        if options.render_mode is not None:
            checks.choice("render_mode", options.render_mode, RENDER_MODES)
        self.render_mode = options.render_mode
        self.max_steps = checks.integer("max_steps", options.max_steps, 1, MAX_STEPS)
        self._bank = starts.bank(self.task, states, options.bank_size, options.bank_seed, options.length)
        self._view = View(self.task, self._bank.core, options)
        self._info_distance = options.info_distance
        self._seeded = False
        self._slots, self.threads, self.autoreset_mode = slots, threads, autoreset
        self._start(None)

    def _start(self, saved: tuple[Any, ...] | None) -> None:
        """Make the episodes, or go on from saved ones."""
        episodes: _core.Episodes = self.task.core.make_episodes(
            self._bank.core,
            slots=self._slots,
            max_steps=self.max_steps,
            autoreset=_AUTORESET[self.autoreset_mode],
            threads=self.threads,
        )
        if saved is not None:
            episodes.restore(*saved)
        self._episodes: _core.Episodes | None = episodes

    def _open(self) -> _core.Episodes:
        if self._episodes is None:
            raise ClosedEnvironmentError("env: expected an open environment, got one that was closed")
        return self._episodes

    def set_length(self, length: starts.Length | None) -> None:
        """Later episodes start from a bank of this exact optimal length; those that run go on."""
        self._bank = self._bank.of_length(length)
        self._open().draw_from(self._bank.core)

    def _distances(self, states: Bytes) -> NDArray[np.int64]:
        return self.task.distance(states, threads=self.threads).astype(np.int64)

    def _rendered(self) -> list[str] | Bytes | None:
        """A text or a picture per slot."""
        states = self._open().grids()
        if self.render_mode == "ansi":
            return [levels.format_levels(state[None], task=self.task.task).strip("\n") + "\n" for state in states]
        return None if self.render_mode is None else self._view.frames(states, self.threads)

    def __copy__(self) -> Self:
        return deepcopy(self)  # a copy that shared its episodes would be no copy

    def __getstate__(self) -> Info:
        return {**self.__dict__, "_episodes": None if self._episodes is None else self._episodes.save()}

    def __setstate__(self, state: Info) -> None:
        self.__dict__.update(state)
        if state["_episodes"] is not None:
            self._start(state["_episodes"])
