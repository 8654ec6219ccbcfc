"""A run and its user: a line of progress, curves, times by stage, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recommit.storage.errors import install
from recommit.storage.files import sha256
from recommit.storage.safe_open import reading
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import FrameType

    from typing_extensions import Self


#: Set for ranks whose stdin is the other end of a pipe that the command which launched them holds.
TETHER = "RECOMMIT_TETHER"


class Interrupt:
    """Ctrl-C and SIGTERM end a run after the step that is under way; a second Ctrl-C ends it at once."""

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
    """End with the command that launched this rank, if one did: it holds the other end of our stdin.

    A byte from there means Ctrl-C, to whichever rank reads it: ranks agree after every step. Its end means the end, at
    once. Signals to a group or to the launcher would not do: launchers kill ranks half a minute after a signal, too
    early for a long step, and torchrun's ranks are in no group of ours.
    """
    if os.environ.get(TETHER):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        threading.Thread(target=_obey, daemon=True).start()


def _obey() -> None:
    while os.read(0, 1):
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)


class Progress:
    """One line on stderr, rewritten on a terminal and repeated every ``pause`` seconds elsewhere."""

    def __init__(self, total: int, first: int, *, pause: float = 20.0, quiet: bool = False) -> None:
        self.total, self.first, self.quiet = total, first, quiet
        self.live = sys.stderr.isatty()
        self.pause = 0.2 if self.live else pause
        self._begin = self._last = time.monotonic()

    def show(self, step: int, states_per_second: float, tokens_per_second: float, loss: float) -> None:
        if not self.due() and (self.quiet or step < self.total):
            return
        pace = f"loss {loss:.4f}  {states_per_second:,.0f} states/s  {tokens_per_second:,.0f} tokens/s"
        self.write(f"step {step:,}/{self.total:,}  {pace}  {self._left(step)}")

    def between(self, step: int) -> None:
        """Report a step that is not logged: few and long ones would leave the run silent."""
        if step < self.total and self.due():
            self.write(f"step {step:,}/{self.total:,}  {self._left(step)}")

    def _left(self, step: int) -> str:
        each = (time.monotonic() - self._begin) / max(step - self.first, 1)
        return f"{clock(each * (self.total - step))} left"

    def due(self) -> bool:
        """True if the last line is old enough; restarts the clock then."""
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
    """For example 1:02:03 or 4:05."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Board:
    """Progress of jobs of other processes: one line, and a line that stays for each that ended."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._line = Progress(total, 0, quiet=quiet)
        self.total, self.ended = total, 0
        #: Name -> when progress was first seen, and how much.
        self._first: dict[str, tuple[float, int]] = {}
        self._begun: dict[str, float] = {}

    def show(self, running: list[tuple[str, int, int]]) -> None:
        """Report running jobs: name, steps done, and steps in all (0: not yet known)."""
        for name, _done, _whole in running:
            self._begun.setdefault(name, time.monotonic())
        if running and self._line.due():
            each = "  ".join(f"{name} {self._where(name, done, whole)}" for name, done, whole in running)
            self._line.write(f"[{self.ended}/{self.total}] {each}")

    def finished(self, name: str) -> None:
        self.ended += 1
        took = clock(time.monotonic() - self._begun.get(name, time.monotonic()))
        self.say(f"[{self.ended}/{self.total}] {name}: finished in {took}")

    def say(self, text: str) -> None:
        self._line.say(text)

    def _where(self, name: str, done: int, whole: int) -> str:
        if not done:
            return "begins"
        now = time.monotonic()
        since, first = self._first.setdefault(name, (now, done))
        remaining = "" if done == first else f" {clock((now - since) / (done - first) * (whole - done))} left"
        return f"{done:,}/{whole:,}{remaining}"


def last_step(folder: Path) -> int:
    """The step in the last whole line of a run's ``timing.jsonl``; 0 if there is none."""
    whole = [line for line in _end(folder / "timing.jsonl") if line.startswith(b"{") and line.endswith(b"\n")]
    try:
        return int(json.loads(whole[-1])["step"]) if whole else 0
    except (ValueError, KeyError, TypeError):
        return 0  # a line that is shown while a run goes on is not worth its end


def last_agent(log: Path) -> tuple[int, int]:
    """Agents that an evaluation has played, and all of its agents, by the last such line of its log."""
    lines = b"".join(_end(log)).rpartition(b"\n$ ")[2]
    counts = re.findall(rb"(\d+)/(\d+) \S+: [\d.]+ s\n", lines)
    return (int(counts[-1][0]), int(counts[-1][1])) if counts else (0, 0)


def _end(file: Path) -> list[bytes]:
    """The last lines of a file, the first perhaps cut; none if there is no file."""
    try:
        with reading(file) as opened:
            opened.seek(max(opened.seek(0, 2) - 4096, 0))
            return opened.read().splitlines(keepends=True)
    except OSError:
        return []


def refuse_missing(projects: Mapping[str, str]) -> None:
    """Refuse a tracker that cannot be imported; asked before anything is built."""
    for package in (name for name, project in projects.items() if project):
        try:
            _tracker(package)
        except (ImportError, AttributeError):  # a folder of W&B's runs is imported by the same name, and has no init
            raise ValueError(
                f"{package}: expected the package {package} (pip install {package}, or with the rest of recommit "
                f"{install(package)}), got none"
            ) from None


def _tracker(package: str) -> Any:
    return import_module(package).init


class Curves:
    """TensorBoard, silent where it is not installed, and trackers: by name the project of each, or none.

    The run's name and group there are those of its folder.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        tensorboard: bool,
        projects: Mapping[str, str],
        whole: dict[str, Any],
        step: int,
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
        place = folder.absolute()  # two puzzles may have runs of one name, and a run goes on in its own folder
        number = sha256(os.fsencode(place))[:16]
        name, group = "/".join(place.parts[-3:]), "/".join(place.parts[-3:-1])
        for package in (each for each, project in projects.items() if project):
            # trackio knows a run again by its name alone.
            own = {"id": number, "dir": str(folder), "name": name} if package == "wandb" else {}
            run = {"project": projects[package], "name": f"{name} {number[:6]}", "group": group, **own}
            self._tracked.append(_tracker(package)(**run, config=whole, resume="allow"))

    def add(self, step: int, values: dict[str, Any], prefix: str = "") -> None:
        """Log every number in ``values``, nested ones by path."""
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


class Clock:
    """CPU and wall seconds by stage; the rest of a step is everything outside of them."""

    def __init__(self) -> None:
        self._wall: dict[str, float] = {}
        self._cpu: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a stage."""
        wall, cpu = time.monotonic(), time.process_time()
        yield
        self._wall[stage] = self._wall.get(stage, 0.0) + time.monotonic() - wall
        self._cpu[stage] = self._cpu.get(stage, 0.0) + time.process_time() - cpu

    def take(self) -> dict[str, float]:
        seconds = {f"{name}_wall_s": round(value, 4) for name, value in self._wall.items()}
        seconds |= {f"{name}_cpu_s": round(value, 4) for name, value in self._cpu.items()}
        self._wall, self._cpu = {}, {}
        return seconds
