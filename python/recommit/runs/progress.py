"""User interface of a run: progress line, curves, Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recommit.storage.errors import install
from recommit.storage.files import sha256
from recommit.storage.safe_open import reading
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import FrameType

    from typing_extensions import Self


#: Set for ranks whose stdin is a pipe held by the command that launched them.
TETHER = "RECOMMIT_TETHER"


class Interrupt:
    """Handler of Ctrl-C and SIGTERM: end a run after the current step; a second Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self.number = 0
        self._old: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._old = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.number and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.number = number


def hold_tether() -> None:
    """If a command launched this rank, exit when that command ends: it holds the other end of our stdin.

    A byte means Ctrl-C, whichever rank reads it, since ranks synchronise interrupts after every step; end of file means
    exit at once. Signals to a group or to the launcher would not work: launchers kill ranks half a minute after a
    signal, too early for a long step, and torchrun's ranks are not in our process group.
    """
    if os.environ.pop(TETHER, ""):  # once, and not inherited by subprocesses
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
        threading.Thread(target=_obey, daemon=True).start()


def _obey() -> None:
    while os.read(0, 1):
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)


class Progress:
    """A progress line on stderr, rewritten in place on a terminal, and printed every ``pause`` seconds elsewhere."""

    def __init__(self, total: int, first: int, *, pause: float = 20.0, quiet: bool = False) -> None:
        self.total, self.first, self.quiet = total, first, quiet
        self.live = sys.stderr.isatty()
        self.pause = 0.2 if self.live else pause
        self._begin = self._last = time.monotonic()

    def show(self, step: int, states_per_second: float, loss: float) -> None:
        if not self.due() and (self.quiet or step < self.total):
            return
        pace = f"loss {loss:.4f}  {states_per_second:,.0f} states/s"
        self.write(f"step {step:,}/{self.total:,}  {pace}  {self.left(step)}")

    def between(self, step: int) -> None:
        """Report an unlogged step: with few, long steps the run would otherwise be silent."""
        if step < self.total and self.due():
            self.write(f"step {step:,}/{self.total:,}  {self.left(step)}")

    def left(self, step: int) -> str:
        each = (time.monotonic() - self._begin) / max(step - self.first, 1)
        return f"{clock(each * (self.total - step))} left"

    def due(self) -> bool:
        """True if a new line is due; then restarts the interval."""
        now = time.monotonic()
        if self.quiet or now - self._last < self.pause:
            return False
        self._last = now
        return True

    def write(self, line: str) -> None:
        say(line, over=self.live, end="" if self.live else "\n")

    def say(self, text: str) -> None:
        if not self.quiet:
            say(text, over=self.live)


def clock(seconds: float) -> str:
    """Format a duration as 1:02:03 or 4:05."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Board:
    """Progress of jobs in other processes: one live line, and a permanent line per finished job."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._line = Progress(total, 0, quiet=quiet)
        self.total, self.ended = total, 0
        #: Start time by job name.
        self._begun: dict[str, float] = {}

    def show(self, running: list[tuple[str, str]]) -> None:
        """Report running jobs as (name, last line of the job's own progress)."""
        for name, _ in running:
            self._begun.setdefault(name, time.monotonic())
        if running and self._line.due():
            each = "; ".join(f"{name} {self._took(name)} {said}".rstrip() for name, said in running)
            self._line.write(f"[{self.ended}/{self.total}] {each}")

    def finished(self, name: str) -> None:
        self.ended += 1
        self.say(f"[{self.ended}/{self.total}] {name}: finished in {self._took(name)}")

    def say(self, text: str) -> None:
        self._line.say(text)

    def _took(self, name: str) -> str:
        return clock(time.monotonic() - self._begun.get(name, time.monotonic()))


def last_line(log: Path) -> str:
    """The last complete line of a log, truncated; empty if there is no file."""
    try:
        with reading(log) as opened:
            opened.seek(max(opened.seek(0, 2) - 4096, 0))
            lines = opened.read().rpartition(b"\n")[0].splitlines()
    except OSError:
        return ""
    return lines[-1].decode("utf-8", "replace").strip()[:60] if lines and not lines[-1].startswith(b"$ ") else ""


def refuse_missing(projects: Mapping[str, str]) -> None:
    """Refuse trackers that cannot be imported, before any work is done."""
    for package in (name for name, project in projects.items() if project):
        try:
            _tracker(package)
        except (ImportError, AttributeError):  # a local folder ``wandb`` is importable too, without init
            raise ValueError(
                f"{package}: expected the package {package} (pip install {package}, or with the rest of recommit "
                f"{install(package)}), got none"
            ) from None


def _tracker(package: str) -> Any:
    return import_module(package).init


class Curves:
    """Logs curves to TensorBoard, if installed, and to trackers (project by name).

    The run's name and group are derived from its folder.
    """

    def __init__(
        self, folder: Path | None, *, tensorboard: bool, projects: Mapping[str, str], whole: dict[str, Any], step: int
    ) -> None:
        self._board: Any = None
        self._tracked: list[Any] = []
        if folder is None:
            return
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter

                self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)
            except ImportError:
                self._board = None
        place = folder.absolute()  # the path, since two puzzles may have runs of the same name
        number = sha256(os.fsencode(place))[:16]
        name, group = "/".join(place.parts[-3:]), "/".join(place.parts[-3:-1])
        for package in (each for each, project in projects.items() if project):
            # trackio identifies a resumed run by its name alone.
            own = {"id": number, "dir": str(folder), "name": name} if package == "wandb" else {}
            run = {"project": projects[package], "name": f"{name} {number[:6]}", "group": group, **own}
            self._tracked.append(_tracker(package)(**run, config=whole, resume="allow"))

    def add(self, step: int, values: dict[str, Any], prefix: str = "") -> None:
        """Log all numbers in ``values``, nested ones by path."""
        flat = dict(_flat(values, prefix))
        if self._board is not None:
            for name, value in flat.items():
                self._board.add_scalar(name, value, step)
        for run in self._tracked:
            run.log(flat, step=step)

    def close(self) -> None:
        if self._board is not None:
            self._board.close()
        for run in self._tracked:
            run.finish()


def _flat(values: Any, name: str) -> list[tuple[str, float]]:
    if isinstance(values, dict):
        return [pair for key, value in values.items() for pair in _flat(value, f"{name}/{key}".lstrip("/"))]
    if isinstance(values, list | tuple):
        return [pair for i, value in enumerate(values) for pair in _flat(value, f"{name}/{i + 1}")]
    return [(name, float(values))] if isinstance(values, int | float) else []
