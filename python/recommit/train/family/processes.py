"""Runs as launched processes of their own: started where there is a slot, watched, and stopped so that they can go on.

Ctrl-C lets what has begun save itself and begins nothing else; a second one ends everything at once. Where one fails,
what runs beside it goes on to its end, and the rest is not begun.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.runs import rank_watchdog
from recommit.runs.progress import Board, Interrupt, last_step
from recommit.storage import files, safe_open
from recommit.storage.terminal_text import say
from recommit.train.family import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.train.family.launch import Fleet, Slot
    from recommit.train.family.runs import Run

FAILED, INTERRUPTED = 1, 130
#: Seconds between looks at what runs, and those that a launcher of one's own has to end its ranks.
PAUSE, PATIENCE = 0.25, 15.0
#: Lines of a log that are shown when its run failed.
SHOWN = 12


@dataclass(frozen=True)
class Job:
    """What one set of processes does."""

    name: str
    module: str
    words: tuple[str, ...]
    #: Is its result there, whole? That decides, not the launcher's status, which may be another one when a rank has a
    #: mishap on its way out.
    done: Callable[[], bool]
    #: How much is done, and how much there is to do.
    progress: Callable[[], tuple[int, int]] = lambda: (0, 0)


def train(fleet: Fleet, runs: Sequence[Run], logs: Path, *, quiet: bool = False) -> int:
    """Train what is missing; recipes and logs of the runs lie in ``logs``."""
    check(fleet, runs)
    write_recipes(runs, logs)
    return run(fleet, [job(each, logs) for each in runs if not each.skipped()], logs, quiet=quiet)


def check(fleet: Fleet, runs: Sequence[Run]) -> None:
    """Refuse what ranks cannot share, before anything begins."""
    for each in runs:
        if fleet.ranks > 1 and each.config.engine.kind == "plain":
            raise ValueError(f"gpus-per-run: expected 1 for {each.name} with engine.kind plain, got {fleet.ranks}")


def write_recipes(runs: Sequence[Run], logs: Path) -> None:
    """A file per run, by which it can also be started by hand."""
    for folder in (logs, *(each.folder for each in runs)):
        files.own_folder(folder)
    files.make_folders(files.Files(), logs)
    for each in runs:
        files.replace(files.Files(), recipe(logs, each), each.recipe())


def recipe(logs: Path, run: Run) -> Path:
    """Where the configuration of a run is written."""
    return logs / f"{run.name}.yaml"


def job(run: Run, logs: Path) -> Job:
    """What trains a run."""
    words = ("--recipe", str(recipe(logs, run)), *run.flags)
    return Job(run.name, f"recommit.train.{run.verb}", words, lambda: run.finished, partial(_progress, run))


def _progress(run: Run) -> tuple[int, int]:
    return last_step(run.folder), run.config.optim.steps


def run(fleet: Fleet, jobs: Sequence[Job], logs: Path, *, quiet: bool = False) -> int:
    """Do all jobs, as many at a time as there are slots; 0, or ``FAILED``, or ``INTERRUPTED``."""
    files.make_folders(files.Files(), logs)
    waiting, slots, running, status = list(jobs), list(fleet.slots), list[_Running](), 0
    board, stopped = Board(len(jobs), quiet=quiet), False
    with Interrupt() as interrupt:
        try:
            while running or (waiting and not status):
                while waiting and slots and not status:
                    running.append(_Running(fleet, slots.pop(0), waiting.pop(0), logs))
                if interrupt.number and not stopped:
                    stopped, status = True, INTERRUPTED
                    board.say("interrupted: what has begun saves itself after its step; Ctrl-C again ends it at once")
                    for each in running:
                        each.stop()
                board.show([(each.job.name, *each.job.progress()) for each in running])
                time.sleep(PAUSE)
                for each in [each for each in running if each.process.poll() is not None]:
                    each.let_go()
                    running.remove(each)
                    slots.append(each.slot)
                    status = max(status, _judged(each, board, stopped=stopped))
        finally:
            for each in running:
                each.end()
    return status


def _judged(ended: _Running, board: Board, *, stopped: bool) -> int:
    """Say what became of a job; the status that follows from it."""
    status = ended.process.returncode
    if ended.job.done():
        board.finished(ended.job.name)
        if status:
            board.say(f"{ended.job.name}: all of it is there, but its processes ended with {status}; see {ended.log}")
        return 0
    if stopped or status == INTERRUPTED:
        board.say(f"{ended.job.name}: interrupted; the same command goes on")
        return INTERRUPTED
    lines = ended.lines_of_log()
    reason = next((line.strip() for line in lines if "recommit: " in line), f"ended with status {status}")
    say("".join(f"  {line}\n" for line in lines[-SHOWN:]) + f"{ended.job.name}: {reason}; see {ended.log}")
    return FAILED


class _Running:
    """The processes of one job, and what they say."""

    def __init__(self, fleet: Fleet, slot: Slot, job: Job, logs: Path) -> None:
        self.slot, self.job = slot, job
        self.log = logs / f"{job.name}.log"
        #: Does a byte reach the ranks? Those of other machines are reached by what their launcher makes of SIGTERM.
        self._tethered = not fleet.launcher
        words = fleet.command(slot, job.module, job.words)
        tether = {rank_watchdog.TETHER: "1"} if self._tethered else {}
        with os.fdopen(safe_open.append(self.log), "ab") as log:
            log.write(f"$ {shlex.join(words)}\n".encode())
            self._begin = log.tell()
            log.flush()
            self.process = subprocess.Popen(
                launch.program(words),
                bufsize=0,
                stdin=subprocess.PIPE if self._tethered else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**fleet.environment(slot, os.environ), **tether},
                start_new_session=True,  # a terminal's Ctrl-C is for us: launchers would kill their ranks
            )

    def lines_of_log(self) -> list[str]:
        """Since it was started, up to what torchrun adds of its own when a rank has failed."""
        with safe_open.reading(self.log) as log:
            log.seek(self._begin)
            lines = log.read().decode("utf-8", "replace").splitlines()
        added = (i for i, line in enumerate(lines) if "torch/distributed/elastic/" in line)
        return lines[: next(added, None)]

    def stop(self) -> None:
        """Let it save itself."""
        if not self._tethered:
            self.process.terminate()
            return
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b".")
        except BrokenPipeError:
            return  # it has just ended by itself

    def let_go(self) -> None:
        """Whatever rank is left ends now."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def end(self) -> None:
        """At once; nothing that was saved is lost."""
        self.let_go()
        if not self._tethered:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                say(f"{self.job.name}: its launcher does not end; it is killed")
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # nobody is left
        self.process.wait()
