"""Common base of single and vector environments: options, start states, and episodes in compiled code.

Start states form a bank, generated once, so that no reset waits for a generator.
"""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

from recommit import _core, checks
from recommit.puzzles.frames import THEMES, style
from recommit.puzzles.levels import Levels, format_levels, read_levels
from recommit.puzzles.puzzle import Instances

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Info = dict[str, Any]

#: Types of ``levels``: a file, parsed levels, generated instances, or states.
Source = str | os.PathLike[str] | Levels | Instances | Any
#: An exact optimal length of starts, or (shortest, longest).
Length = int | tuple[int, int]
MAX_BANK = 2**24
MAX_STEPS = 2**31 - 1
RENDER_MODES = ("rgb_array", "ansi")


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Options of one environment."""

    size: int | tuple[int, int] | None = None
    """Rows and columns, or one number for both; None: 3x3 for sliding, 8x8 for the others, or that of ``levels``."""
    boxes: int | None = None
    """Boxes of a generated Sokoban level; None: two."""
    levels: Source | None = None
    """Starts from a file or an array, instead of generated ones."""
    observation: str = "grid"
    """``"grid"`` (cell codes), ``"onehot"`` (a plane of 0 and 1 per code, planes first) or ``"rgb"``."""
    cell: int = 28
    """Pixels per cell of ``"rgb"`` observations and of ``render()``."""
    max_steps: int = 200
    """Actions after which an episode is truncated."""
    bank_size: int = 1024
    """Levels in the generated bank."""
    bank_seed: int = 0
    """The seed that they come from."""
    length: Length | None = None
    """Exact optimal length of every generated start, or (shortest, longest); None: as the generator draws."""
    info_distance: bool = False
    """Adds ``distance`` to ``info``: the exact number of actions to the goal, -1 where there is no way."""
    render_mode: str | None = None
    """None, ``"rgb_array"`` or ``"ansi"``."""

    @classmethod
    def of(cls, options: Info) -> Self:
        """The options of a call, with their names checked."""
        for name in options:
            checks.choice("option", name, tuple(field.name for field in fields(cls)))
        return cls(**options)


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
    """At most this many threads; None for all cores. Up to 4,096 environments step on one. Results do not depend on
    it."""


@dataclass(frozen=True, eq=False)
class Bank:
    """The starts of an environment: ``states``, or if None those generated from (task, size, seed, length)."""

    task: Puzzle
    states: Bytes | None
    size: int
    seed: int
    length: tuple[int, int] | None

    @property
    def core(self) -> _core.LevelBank:
        """The bank for compiled code; generated ones are cached per process."""
        return (
            _generated(self.task, self.size, self.seed, self.length)
            if self.states is None
            else self.task.core.make_bank(self.states)
        )

    def __len__(self) -> int:
        return self.size if self.states is None else len(self.states)

    def state(self, level: int) -> Bytes:
        drawn = (
            self.task.generate(1, seed=self.seed, length=self.length, start=level).states[0]
            if self.states is None
            else self.states[level]
        )
        return np.asarray(drawn)

    def of_length(self, length: Length | None) -> Bank:
        """A bank with another length, and the same size and seed."""
        if length is not None and self.states is not None:
            raise ValueError(f"length: expected None where levels are given, got {length}")
        return replace(self, length=None if length is None else checks.window(length, 1, MAX_STEPS))


@lru_cache(maxsize=64)
def _generated(task: Puzzle, size: int, seed: int, length: tuple[int, int] | None) -> _core.LevelBank:
    return task.core.make_bank(task.generate(size, seed=seed, length=length).states)


def _bank(kind: type[Puzzle], options: EnvOptions) -> Bank:
    """The bank for the options, refusing contradictory sizes."""
    size, boxes, levels = options.size, options.boxes, options.levels
    if boxes is not None and (levels is not None or not kind.most_boxes):
        where = "where levels are given" if levels is not None else f"for {kind.task}"
        raise ValueError(f"boxes: expected None {where}, got {boxes}")
    wanted: Any = None if size is None else checks.pair("size", size)
    states = None if levels is None else _states(kind.task, levels)
    if states is None:
        task = kind.of(wanted or kind.usual.size, 2 if boxes is None else boxes)
    else:
        shape = states.shape[1:]
        if wanted not in (None, shape):
            raise ValueError(f"levels: expected states of {wanted[0]}x{wanted[1]}, got {shape[0]}x{shape[1]}")
        task = kind.of_states(shape)
    count = checks.integer("bank_size", options.bank_size, 1, MAX_BANK)
    seed = checks.integer("bank_seed", options.bank_seed, 0, checks.MAX_SEED)
    return Bank(task, states, count, seed, None).of_length(options.length)


def _states(task: str, source: Source) -> Bytes:
    """Start states; a wrong type is a ``ValueError``: ``gymnasium.make`` repeats all arguments in a ``TypeError``."""
    levels = read_levels(source) if isinstance(source, (str, os.PathLike)) else source
    if isinstance(levels, (Levels, Instances)):
        if levels.task != task:
            raise ValueError(f"levels: expected {task} levels, got {levels.task} levels")
        return np.ascontiguousarray(levels.states)
    if not isinstance(levels, np.ndarray):
        expected = "a path, Levels, Instances or a numpy array"
        raise ValueError(f"levels: expected {expected}, got {type(levels).__name__}")  # noqa: TRY004
    if levels.dtype != np.uint8 or levels.ndim != 3:
        raise ValueError(
            f"levels: expected uint8 states of shape [N, rows, columns], got {levels.dtype} of shape {levels.shape}"
        )
    return levels


class Episodes:
    """The episodes of one or more slots. A copy (``copy``, ``deepcopy``, ``pickle``) continues identically and
    independently."""

    #: The puzzle class.
    kind: ClassVar[type[Puzzle]]

    def _prepare(self, options: EnvOptions, slots: int, threads: int | None, autoreset: AutoresetMode) -> spaces.Box:
        """Make the levels and the episodes; returns the observation space."""
        self._bank = _bank(self.kind, options)
        self.task, core = self._bank.task, self._bank.core
        if options.render_mode is not None:
            checks.choice("render_mode", options.render_mode, RENDER_MODES)
        checks.choice("observation", options.observation, ("grid", "onehot", "rgb"))
        self._look: dict[str, Any] = style(options.cell, THEMES[0], crop=False)
        self.render_mode, self.observation = options.render_mode, options.observation
        self.max_steps = checks.integer("max_steps", options.max_steps, 1, MAX_STEPS)
        self._info_distance = options.info_distance
        self._seeded = False
        self._slots, self.threads, self.autoreset_mode = slots, threads, autoreset
        self._start(None)
        if self.observation == "grid":
            return spaces.Box(0, self.task.highest, core.shape, np.uint8)
        if self.observation == "onehot":
            return spaces.Box(0, 1, (self.task.highest + 1, *core.shape), np.uint8)
        rows, cols = core.shape
        return spaces.Box(0, 255, (rows * options.cell, cols * options.cell, 3), np.uint8)

    def _start(self, saved: tuple[Any, ...] | None) -> None:
        """Make the episodes, or restore saved ones."""
        episodes: _core.Episodes = self.task.core.make_episodes(
            self._bank.core,
            slots=self._slots,
            max_steps=self.max_steps,
            autoreset=getattr(_core.Autoreset, self.autoreset_mode.name),
            threads=self.threads,
        )
        if saved is not None:
            episodes.restore(*saved)
        self._episodes: _core.Episodes | None = episodes

    def _open(self, *, running: bool = False) -> _core.Episodes:
        if self._episodes is None:
            raise ClosedEnvironmentError("env: expected an open environment, got one that was closed")
        if running and not self._seeded:
            raise ResetNeeded("env: expected a call of reset first, got none")
        return self._episodes

    def set_length(self, length: Length | None) -> None:
        """Start later episodes from a bank of this optimal length; running episodes are unaffected."""
        self._bank = self._bank.of_length(length)
        self._open().draw_from(self._bank.core)

    def _options(self, options: Info | None, *names: str) -> Info:
        """Check the options of ``reset``: their names, and that state and level are not both given."""
        options = options or {}
        for name in options:
            checks.choice("options", name, (*names, "state", "level"))
        if "state" in options and "level" in options:
            raise ValueError("options: expected either state or level, got both")
        return options

    def _place(self, options: Info, chosen: Bools) -> None:
        """Start the chosen slots at the state or level in ``options``, if any; an error leaves their usual start."""
        if not {"state", "level"} & {*options}:
            return
        states = self._wanted(options, len(chosen))
        try:
            self._open().place(np.ascontiguousarray(states[chosen]), chosen)
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("levels:", "state:", 1)) from None

    def _wanted(self, options: Info, slots: int) -> Bytes:
        if "state" in options:
            state = np.asarray(options["state"])
            if state.ndim not in (2, 3) or state.shape[:-2] not in ((), (slots,)):
                raise ValueError(
                    f"state: expected one state, or one for each of {slots} slots, got shape {state.shape}"
                )
            return np.broadcast_to(state, (slots, *state.shape[-2:]))
        numbers = np.asarray(options["level"])
        if numbers.shape not in ((), (slots,)):
            raise ValueError(f"level: expected one number, or {slots}, got shape {numbers.shape}")
        last = len(self._bank) - 1
        levels = [checks.integer("level", each, 0, last) for each in np.broadcast_to(numbers, (slots,))]
        return np.stack([self._bank.state(each) for each in levels])

    def shown(self, states: Bytes) -> Bytes:
        """Observations of states."""
        if self.observation == "onehot":
            planes = np.empty((len(states), self.task.highest + 1, *states.shape[1:]), np.bool_)
            for code in range(planes.shape[1]):  # ten times as fast as one broadcast comparison
                np.equal(states, np.uint8(code), out=planes[:, code])
            return planes.view(np.uint8)
        return self._frames(states) if self.observation == "rgb" else states

    def _frames(self, states: Bytes) -> Bytes:
        return self.task.render(states, **self._look, threads=self.threads)

    def _distances(self, states: Bytes) -> NDArray[np.int64]:
        return self.task.distance(states, threads=self.threads).astype(np.int64)

    def _rendered(self) -> list[str] | Bytes | None:
        states = self._open().grids()
        if self.render_mode == "ansi":
            return [format_levels(state[None], task=self.task.task).strip("\n") + "\n" for state in states]
        return None if self.render_mode is None else self._frames(states)

    def __copy__(self) -> Self:
        return deepcopy(self)  # a shallow copy would share the episodes

    def __getstate__(self) -> Info:
        return {**self.__dict__, "_episodes": None if self._episodes is None else self._episodes.save()}

    def __setstate__(self, state: Info) -> None:
        self.__dict__.update(state)
        if state["_episodes"] is not None:
            self._start(state["_episodes"])
