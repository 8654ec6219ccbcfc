"""What an agent sees of a state: its cells, or a picture of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from recommit.puzzles import levels
from recommit.puzzles.frames import style

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit import _core
    from recommit.puzzles.frames import Frames
    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]

MAX_STEPS = 2**31 - 1
#: Keys for up, down, left and right: letters, and arrows by the numbers that SDL, and so pygame, has for them.
KEYS: tuple[tuple[str | int, ...], ...] = (("w", "s", "a", "d"), (1073741906, 1073741905, 1073741904, 1073741903))


class View:
    """Turns ``uint8[N, rows, columns]`` into observations and frames of one style (cell size, theme, crop)."""

    def __init__(
        self, task: Puzzle, bank: _core.LevelBank, observation: str, cell: int, theme: str, crop: bool
    ) -> None:
        if observation not in ("grid", "rgb"):
            raise ValueError(f"observation: expected 'grid' or 'rgb', got {observation!r}")
        self.task = task
        self.shape = bank.shape
        self.rgb = observation == "rgb"
        style(cell, theme, crop)
        if crop and not bank.walled:
            raise ValueError("crop: expected levels with walls all around, got others; nothing can be left out")
        self.cell, self.theme, self.crop = cell, theme, crop

    def space(self, highest: int) -> spaces.Box:
        """The space of one observation; ``highest`` is the largest cell code."""
        if not self.rgb:
            return spaces.Box(0, highest, self.shape, np.uint8)
        rows, cols = (side - 2 if self.crop else side for side in self.shape)
        return spaces.Box(0, 255, (rows * self.cell, cols * self.cell, 3), np.uint8)

    def persistent(self, states: Bytes, threads: int | None) -> Frames:
        """Pictures that are brought up to date in place."""
        return self.task.frames(states, self.cell, theme=self.theme, crop=self.crop, threads=threads)

    def frames(self, states: Bytes, threads: int | None = None) -> Bytes:
        """One fresh picture per state."""
        return self.task.render(states, self.cell, theme=self.theme, crop=self.crop, threads=threads)


def text(task: Puzzle, state: Bytes) -> str:
    """The state as a level file has it."""
    return levels.format_levels(state[None], task=task.task).strip("\n") + "\n"


def check_render_mode(render_mode: str | None, modes: tuple[str, ...]) -> str | None:
    """``None`` or one of the modes."""
    if render_mode not in (None, *modes):
        raise ValueError(f"render_mode: expected None or one of {', '.join(modes)}, got {render_mode!r}")
    return render_mode
