"""``recommit reproduce``: the commands of a preset, run in processes of their own: started where there is a slot,
watched, and stopped so that they can go on.

Each begins once all that it reads is written. One whose output stands, and was made by the same command from the same
inputs, is skipped; any other is run, and its verb resumes or refuses what is there. Ctrl-C lets what has begun save
itself and begins nothing else; a second one ends everything at once. Where one fails, what runs beside it goes on to
its end, and the rest is not begun.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce import launch, preset
from recommit.runs.progress import TETHER, Board, Interrupt, last_line
from recommit.storage import errors, files, ownership, safe_open, verified
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.reproduce.launch import Fleet, Slot
    from recommit.reproduce.options import ReproduceOptions
    from recommit.reproduce.preset import Line

FAILED, INTERRUPTED = 1, 130
#: Seconds between looks at what runs, and those that a launcher of one's own has to end its ranks.
PAUSE, PATIENCE = 0.25, 15.0
#: Lines of a log that are shown when its command failed.
SHOWN = 12
#: Files of up to this many bytes count by their content, larger ones by their size: a digest of them lies beside them.
SMALL = 1 << 16
#: Below the folder of a reproduction: records and logs of its commands.
LOGS = "launch"


@dataclass(frozen=True)
class Job:
    """One command."""

    name: str
    words: tuple[str, ...]
    #: What it writes, and what it reads of other jobs.
    out: Path
    inputs: tuple[Path, ...] = ()

    @classmethod
    def of(cls, line: Line, root: Path, fleet: Fleet) -> Job:
        """A command of a preset, with what the call says of every command."""
        words = (*line.verb.split(), *line.words, *fleet.told(line.verb))
        return cls(line.out.relative_to(root).as_posix(), words, line.out, line.inputs)

    @property
    def trains(self) -> bool:
        """True of a training run, on ranks."""
        return self.words[:2] in (("train", "sft"), ("train", "grpo"))

    @property
    def sealed(self) -> int:
        """When a training run sealed its files; 0 if it has not."""
        seal = self.out / verified.DIGESTS
        return seal.stat().st_mtime_ns if self.trains and "best.json" in verified.digests(self.out) else 0

    def made(self, status: int, before: int) -> bool:
        """True once all of its output is there. Of a run that is a seal that is not the one ``before``, whatever its
        launcher's status: a rank may have a mishap on its way out, and a launcher may start none."""
        if self.trains:
            return self.sealed not in (0, before)
        return status == 0 and os.path.lexists(self.out)

    def record(self, root: Path) -> dict[str, Any]:
        """What it was made by and of, and what it is, wherever the folder of all has moved."""
        return {
            "command": [word.replace(str(root), ".") for word in self.words],
            "inputs": [stamp(path) for path in self.inputs],
            "out": stamp(self.out),
        }


def stamp(path: Path) -> str:
    """Tells one output from another: names, sizes, and the content of small files, which hold digests of the others."""
    if path.is_file():
        return files.file_sha256(path)
    parts = []
    for each in sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")):
        size = each.stat().st_size
        parts.append(f"{each.relative_to(path).as_posix()} {files.file_sha256(each) if size <= SMALL else size}")
    return files.sha256("\n".join(parts).encode()) if parts else ""


def shown(options: ReproduceOptions) -> str:
    """The commands of a preset as a shell would run them, one after the other."""
    out, fleet = options.out.absolute() if options.out else Path("OUT"), options.fleet(elsewhere=True)
    jobs = [Job.of(line, out, fleet) for line in preset.load(options.preset, out)]
    return "".join(f"{shlex.join(fleet.command(fleet.slots[0], job.words))}\n" for job in jobs)


def reproduce(options: ReproduceOptions, *, quiet: bool = False) -> int:
    """Run what is missing of a preset; 0, or the status of what failed."""
    if options.out is None:
        raise ValueError("out: expected a folder, got none")
    folder = options.out.absolute()
    lines, fleet = preset.load(options.preset, folder), options.fleet()
    for line in lines:
        if (config := line.config) is not None:
            fleet.check(line.out.name, config.engine.kind)
    places = [place for line in lines for place in (line.out, *line.inputs)]
    marks = {place.relative_to(folder).parts[0] for place in places}
    ownership.refuse_foreign(folder, (*marks, LOGS), "a reproduction of this preset")
    files.make_folders(files.Files(), folder)
    with Lock(folder, work="reproduction"):  # two would sweep each other's files away
        for place in {parent for line in lines for parent in line.out.parents if folder in parent.parents}:
            files.own_folder(place)
            files.make_folders(files.Files(), place)
        return run(fleet, [Job.of(line, folder, fleet) for line in lines], folder / LOGS, quiet=quiet)


def run(fleet: Fleet, jobs: Sequence[Job], logs: Path, *, quiet: bool = False) -> int:
    """Do all jobs, as many at a time as there are slots; 0, or ``FAILED``, or ``INTERRUPTED``. Records and logs lie in
    ``logs``."""
    for folder in (logs, *(job.out for job in jobs)):
        files.own_folder(folder)
    files.make_folders(files.Files(), logs)
    files.sweep(files.Files(), logs)
    waiting, slots, running, status = list(jobs), list(fleet.slots), list[_Running](), 0
    board, stopped = Board(len(jobs), quiet=quiet), False
    with Interrupt() as interrupt:
        try:
            while running or (waiting and not status):
                while slots and not status and (ready := _next(waiting, [each.job for each in running])):
                    waiting.remove(ready)
                    if _stands(ready, logs):
                        board.finished(ready.name)
                    else:
                        running.append(_Running(fleet, slots.pop(0), ready, logs))
                if interrupt.number and not stopped:
                    stopped, status = True, INTERRUPTED
                    board.say("interrupted: what has begun saves itself after its step; Ctrl-C again ends it at once")
                    for each in running:
                        each.stop()
                board.show([(each.job.name, last_line(each.log)) for each in running])
                time.sleep(PAUSE if running else 0.0)
                for each in [each for each in running if each.process.poll() is not None]:
                    each.let_go()
                    running.remove(each)
                    slots.append(each.slot)
                    status = max(status, _judged(each, board, logs, stopped=stopped))
        finally:
            for each in running:
                each.end()
    return status


def _next(waiting: Sequence[Job], running: Sequence[Job]) -> Job | None:
    """The first that reads nothing of what an earlier one is still to write."""
    for number, job in enumerate(waiting):
        missing = [each.out for each in (*running, *waiting[:number])]
        if not any(out == path or path in out.parents or out in path.parents for out in missing for path in job.inputs):
            return job
    return None


def _file(job: Job, logs: Path, ending: str) -> Path:
    return logs / f"{job.name.replace('/', '.')}.{ending}"


def _stands(job: Job, logs: Path) -> bool:
    """True if the output is there as the same command left it, and so are its inputs."""
    record = _file(job, logs, "json")
    if not record.is_file() or not os.path.lexists(job.out):
        return False
    try:
        return verified.values(record.parent, record.name) == job.record(logs.parent)
    except errors.Damaged:
        return False


def _judged(ended: _Running, board: Board, logs: Path, *, stopped: bool) -> int:
    """Say what became of a job, and write down what was made; the status that follows from it."""
    status, job = ended.process.returncode, ended.job
    if job.made(status, ended.sealed):
        record = json.dumps(job.record(logs.parent), indent=2) + "\n"
        files.replace(files.Files(), _file(job, logs, "json"), record.encode())
        board.finished(job.name)
        if status:
            board.say(f"{job.name}: all of it is there, but its processes ended with {status}; see {ended.log}")
        return 0
    if stopped or status == INTERRUPTED:
        board.say(f"{job.name}: interrupted; the same command goes on")
        return INTERRUPTED
    lines = ended.lines_of_log()
    reason = next((line.strip() for line in lines if "recommit: " in line), f"ended with status {status}")
    say("".join(f"  {line}\n" for line in lines[-SHOWN:]) + f"{job.name}: {reason}; see {ended.log}")
    return FAILED


class _Running:
    """The processes of one job, and what they say."""

    def __init__(self, fleet: Fleet, slot: Slot, job: Job, logs: Path) -> None:
        self.slot, self.job, self.sealed = slot, job, job.sealed
        self.log = _file(job, logs, "log")
        #: Does a byte reach the ranks? Those of other machines are reached by what their launcher makes of SIGTERM.
        self._tethered = not fleet.launches(job.words)
        words = fleet.command(slot, job.words)
        tether = {TETHER: "1"} if self._tethered else {}
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
            return  # the whole group is gone
        self.process.wait()
