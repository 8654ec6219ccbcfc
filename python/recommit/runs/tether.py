"""Ranks that a command launched live no longer than it does: it holds the other end of their stdin.

A byte from there means Ctrl-C, to whichever rank reads it: ranks agree after every step. The end of it means the end,
at once. Neither a signal to a group nor to the launcher would do: launchers answer signals by killing ranks after half
a minute, which is too short for a long step, and torchrun's ranks are in no group of ours.
"""

from __future__ import annotations

import os
import signal
import threading

#: Set for ranks whose stdin is such an end.
VARIABLE = "RECOMMIT_TETHER"


def hold() -> None:
    """Begin to listen, if a command launched this process."""
    if os.environ.get(VARIABLE):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        threading.Thread(target=_listen, daemon=True).start()


def _listen() -> None:
    while os.read(0, 1):
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)
