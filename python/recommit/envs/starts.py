"""Where episodes start: banks of levels, made once so that no reset waits for a generator, and options of ``reset``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.puzzles import checks
from recommit.puzzles.levels import Levels, read_levels
from recommit.puzzles.puzzle import Instances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit import _core
    from recommit.puzzles.puzzle import Puzzle

    States = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Info = dict[str, Any]

#: What ``levels`` may be: a file, levels that were read, generated instances, or states.
Source = str | os.PathLike[str] | Levels | Instances | Any
#: An exact optimal length of every start, or (shortest, longest).
Length = int | tuple[int, int]
MAX_BANK = 2**24
LONGEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Bank:
    """The starts of an environment: ``states``, or else those that (task, size, seed, length) generate."""

    task: Puzzle
    states: States | None
    size: int
    seed: int
    length: tuple[int, int] | None

    @property
    def core(self) -> _core.LevelBank:
        """The bank as compiled code reads it; generated ones are made once in a process."""
        if self.states is not None:
            own: _core.LevelBank = self.task.core.make_bank(self.states)
            return own
        return _generated(self.task, self.size, self.seed, self.length)

    def __len__(self) -> int:
        return self.size if self.states is None else len(self.states)

    def state(self, level: int) -> States:
        """Start number ``level``."""
        if self.states is not None:
            own: States = self.states[level]
            return own
        drawn: States = self.task.generate(1, seed=self.seed, length=self.length, start=level).states[0]
        return drawn

    def of_length(self, length: Length | None) -> Bank:
        """The same number of starts from the same seed, of another length."""
        if self.states is not None:
            raise ValueError(f"length: expected None where levels are given, got {length}")
        return replace(self, length=_window(length))

    def __deepcopy__(self, memo: object) -> Bank:
        return self  # nothing here ever changes


def bank(task: Puzzle, states: States | None, size: object, seed: object, length: Length | None) -> Bank:
    """The bank that ``states`` make, or the one that is generated."""
    size = checks.integer("bank_size", size, 1, MAX_BANK)
    seed = checks.integer("bank_seed", seed, 0, checks.MAX_SEED)
    if states is not None and length is not None:
        raise ValueError(f"length: expected None where levels are given, got {length}")
    return Bank(task, states, size, seed, _window(length))


def task_and_states(
    kind: type[Puzzle], size: int | tuple[int, int] | None, boxes: int | None, levels: Source | None
) -> tuple[Puzzle, States | None]:
    """The task, and the start states where the caller brings some; sizes must not contradict each other."""
    if boxes is not None and (levels is not None or not kind.most_boxes):
        where = "where levels are given" if levels is not None else f"for {kind.task}"
        raise ValueError(f"boxes: expected None {where}, got {boxes}")
    wanted: Any = None if size is None else checks.pair("size", size)
    if levels is None:
        return kind.of(wanted or kind.usual.size, 2 if boxes is None else boxes), None
    states = _states(kind.task, levels)
    shape = states.shape[1:]
    if wanted not in (None, shape):
        raise ValueError(f"levels: expected states of {wanted[0]}x{wanted[1]}, got {shape[0]}x{shape[1]}")
    return kind.of_states(shape), states


@lru_cache(maxsize=64)
def _generated(task: Puzzle, size: int, seed: int, length: tuple[int, int] | None) -> _core.LevelBank:
    bank: _core.LevelBank = task.core.make_bank(task.generate(size, seed=seed, length=length).states)
    return bank


def _window(length: Length | None) -> tuple[int, int] | None:
    return None if length is None else checks.window(length, 1, LONGEST)


def _states(task: str, source: Source) -> States:
    """Start states; what is wrong with them is a ``ValueError``, since ``gymnasium.make`` repeats all arguments, arrays
    among them, in a ``TypeError``."""
    levels = read_levels(source) if isinstance(source, (str, os.PathLike)) else source
    if isinstance(levels, (Levels, Instances)):
        if levels.task != task:
            raise ValueError(f"levels: expected {task} levels, got {levels.task} levels")
        return np.ascontiguousarray(levels.states)
    if not isinstance(levels, np.ndarray):
        expected = "a path, Levels, Instances or a numpy array"
        raise ValueError(f"levels: expected {expected}, got {type(levels).__name__}")  # noqa: TRY004
    if levels.dtype != np.uint8:
        raise ValueError(f"levels: expected dtype uint8, got {levels.dtype}")
    if levels.ndim != 3:
        raise ValueError(f"levels: expected states of shape [N, rows, columns], got shape {levels.shape}")
    return levels


def check_names(options: Info | None, names: tuple[str, ...]) -> Info:
    """The options, none of which may have another name; a state and a level exclude each other."""
    options = options or {}
    for name in options:
        checks.choice("options", name, names)
    if "state" in options and "level" in options:
        raise ValueError("options: expected either state or level, got both")
    return options


def place(episodes: _core.Episodes, bank: Bank, options: Info, chosen: Bools) -> None:
    """Starts the chosen slots where ``options`` say, if they do; an error leaves them where their episode starts."""
    states = _wanted(bank, options, len(chosen))
    if states is None:
        return
    try:
        episodes.place(np.ascontiguousarray(states[chosen]), chosen)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("levels:", "state:", 1)) from None


def _wanted(bank: Bank, options: Info, slots: int) -> States | None:
    """A state per slot."""
    if "state" in options:
        state = np.asarray(options["state"])
        if state.ndim not in (2, 3) or state.shape[:-2] not in ((), (slots,)):
            raise ValueError(f"state: expected one state, or one for each of {slots} slots, got shape {state.shape}")
        return np.broadcast_to(state, (slots, *state.shape[-2:]))
    if "level" not in options:
        return None
    numbers = np.asarray(options["level"])
    if numbers.shape not in ((), (slots,)):
        raise ValueError(f"level: expected one number, or {slots}, got shape {numbers.shape}")
    levels = [checks.integer("level", each, 0, len(bank) - 1) for each in np.broadcast_to(numbers, (slots,))]
    return np.stack([bank.state(each) for each in levels])


def slot_seeds(seed: int | Sequence[int | None], slots: int) -> list[int | None]:
    """One seed per slot; a number s stands for s, s + 1, and so on."""
    if isinstance(seed, (int, np.integer)):
        first = checks.integer("seed", seed, 0, checks.MAX_SEED - slots + 1)
        return list(range(first, first + slots))
    listed = [None if each is None else checks.integer("seed", each, 0, checks.MAX_SEED) for each in seed]
    if len(listed) != slots:
        raise ValueError(f"seed: expected {slots} seeds, one per slot, got {len(listed)}")
    return listed


def check_mask(mask: object, slots: int) -> Bools:
    """Which slots start anew, at least one."""
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        got = f"dtype {mask.dtype}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise TypeError(f"reset_mask: expected a numpy array of dtype bool, got {got}")
    if mask.shape != (slots,):
        raise ValueError(f"reset_mask: expected shape ({slots},), got {mask.shape}")
    if not mask.any():
        raise ValueError("reset_mask: expected at least one True, got none")
    return mask
