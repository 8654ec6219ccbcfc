"""Where people watch: a window made with what Python brings along, or else the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    def show(self, picture: NDArray[np.uint8], text: str) -> None:
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
