"""What ``reset`` takes beside a seed: which slots, and where they start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.puzzles import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit import _core
    from recommit.envs.banks import Bank

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Info = dict[str, Any]


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
    starts = _starts(bank, options, len(chosen))
    if starts is None:
        return
    try:
        episodes.place(np.ascontiguousarray(starts[chosen]), chosen)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("levels:", "state:", 1)) from None


def _starts(bank: Bank, options: Info, slots: int) -> Bytes | None:
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


def seeds(seed: int | Sequence[int | None], slots: int) -> list[int | None]:
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
