"""What agents and people see of a state: its cells, a picture, a text, or a window."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from recommit.puzzles import levels
from recommit.puzzles.frames import style
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit import _core
    from recommit.envs.options import EnvOptions
    from recommit.puzzles.frames import Frames
    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]

MAX_STEPS = 2**31 - 1
#: Keys for up, down, left and right: letters, and arrows by the numbers that SDL, and so pygame, has for them.
KEYS: tuple[tuple[str | int, ...], ...] = (("w", "s", "a", "d"), (1073741906, 1073741905, 1073741904, 1073741903))


class View:
    """Turns ``uint8[N, rows, columns]`` into observations and frames of one style (cell size, theme, crop)."""

    def __init__(self, task: Puzzle, bank: _core.LevelBank, options: EnvOptions) -> None:
        if options.observation not in ("grid", "rgb"):
            raise ValueError(f"observation: expected 'grid' or 'rgb', got {options.observation!r}")
        self.task = task
        self.shape = bank.shape
        self.rgb = options.observation == "rgb"
        style(options.cell, options.theme, options.crop)
        if options.crop and not bank.walled:
            raise ValueError("crop: expected levels with walls all around, got others; nothing can be left out")
        self.cell, self.theme, self.crop = options.cell, options.theme, options.crop

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


class Window:
    """Shows one state after the other, at most ``pace`` in a second; once it is closed it stays closed.

    Without tkinter (often a package called python3-tk), or without a display, states are written to the terminal.
    """

    def __init__(self, title: str, pace: float) -> None:
        self._root, self._label, self._make_picture = _opened(title)
        if self._root is not None:
            self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._closed, self._picture = False, None
        self._pause, self._next = 1 / pace, 0.0

    def show(self, picture: Bytes, text: str) -> None:
        """Shows the picture, or the text, when the one before has been there long enough."""
        if self._closed:
            return
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self._pause
        if self._root is None:
            tell(text)
            return
        height, width, _ = picture.shape
        self._picture = self._make_picture(data=b"P6 %d %d 255\n" % (width, height) + picture.tobytes(), format="PPM")
        self._label.configure(image=self._picture)
        self._root.update()

    def close(self) -> None:
        """Closes it; closing twice is fine."""
        if self._root is not None and not self._closed:
            self._root.destroy()
        self._closed = True


def _opened(title: str) -> tuple[Any, Any, Any]:
    """A window, its label, and how pictures are made; three times None where there can be none."""
    try:
        import tkinter
    except ImportError:
        return None, None, None
    try:
        root = tkinter.Tk()
    except tkinter.TclError:
        return None, None, None
    root.title(title)
    label = tkinter.Label(root, borderwidth=0)
    label.pack()
    return root, label, tkinter.PhotoImage
