"""``recommit reproduce``: run a preset's commands on the slots of a fleet, with progress, resumably.

A command starts once all its inputs are written. It is skipped if its output exists and was made by the same command
from the same inputs; otherwise it is run, and resumes or refuses existing output. Ctrl-C lets running commands save and
starts no others; a second one ends all at once. If a command fails, those running beside it finish, and no others
start.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.estimate.machine import HIGH, LOW, Machine
from recommit.reproduce import launch, preset, worker
from recommit.results.table import NONE, Grid
from recommit.rollout.variants import variant
from recommit.runs.directory import of_tasks
from recommit.runs.progress import TETHER, Board, Interrupt, Progress, clock, last_line
from recommit.storage import errors, files, ownership, safe_open, verified
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say
from recommit.train.config import RunConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.reproduce.launch import Fleet
    from recommit.reproduce.options import ReproduceOptions
    from recommit.reproduce.preset import Line

FAILED, INTERRUPTED = 1, 130
#: Polling interval, and time for a custom launcher to end its ranks, in seconds.
PAUSE, PATIENCE = 0.25, 15.0
#: Log lines shown when a command fails.
SHOWN = 12
#: Files up to this size are stamped by content, larger ones by size: their digests are in small files beside them.
SMALL = 1 << 16
#: Subfolder for the records and logs of commands.
LOGS = "launch"


@dataclass(frozen=True)
class Job:
    """One command of a reproduction."""

    name: str
    words: tuple[str, ...]
    #: Output path, and inputs from other jobs.
    out: Path
    inputs: tuple[Path, ...] = ()

    @classmethod
    def of(cls, line: Line, root: Path, fleet: Fleet) -> Job:
        """The job of a preset's command, with the fleet's common flags."""
        words = (*line.verb.split(), *line.words, *fleet.told(line.verb))
        return cls(line.out.relative_to(root).as_posix(), words, line.out, line.inputs)

    @property
    def trains(self) -> bool:
        """True for training runs."""
        return self.words[:2] in (("train", "sft"), ("train", "grpo"))

    @property
    def sealed(self) -> int:
        """Time at which a training run was sealed (mtime in ns); 0 if it is not finished."""
        seal = self.out / verified.DIGESTS
        return seal.stat().st_mtime_ns if self.trains and "best.json" in verified.digests(self.out) else 0

    def made(self, status: int, before: int) -> bool:
        """True if all output exists. A training run needs a seal newer than ``before``, whatever its launcher's status:
        a rank may crash on exit, and a launcher may start no rank at all."""
        if self.trains:
            return self.sealed not in (0, before)
        return status == 0 and os.path.lexists(self.out)

    def record(self, root: Path) -> dict[str, Any]:
        """Command, inputs and output of the job, independent of the location of ``root``."""
        return {
            "command": [word.replace(str(root), ".") for word in self.words],
            "inputs": [stamp(path) for path in self.inputs],
            "out": stamp(self.out),
        }


def stamp(path: Path) -> str:
    """A hash of an output: names, sizes, and the content of small files, which include digests of the others."""
    if path.is_file():
        return files.file_sha256(path)
    parts = []
    for each in sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")):
        size = each.stat().st_size
        parts.append(f"{each.relative_to(path).as_posix()} {files.file_sha256(each) if size <= SMALL else size}")
    return files.sha256("\n".join(parts).encode()) if parts else ""


def shown(options: ReproduceOptions) -> str:
    """The commands of a preset as a shell script."""
    out, fleet = options.out.absolute() if options.out else Path("OUT"), options.fleet(elsewhere=True)
    jobs = [Job.of(line, out, fleet) for line in preset.load(options.preset, out, options.set)]
    return "".join(f"{shlex.join(fleet.command(fleet.slots[0], job.words))}\n" for job in jobs)


def planned(options: ReproduceOptions, card: str, progress: Callable[[str], None]) -> str:
    """A table of estimates for the training runs of a preset, grouped by configuration, with every rank on a ``card``;
    the total time on the reproduction's GPUs, and the number of runs that do not fit."""
    from recommit.estimate.costs import estimate, gib

    fleet, specs, kinds = options.fleet(elsewhere=True), dict[Path, list[Any]](), dict[str, list[Any]]()
    models, hours, rows = dict[Path, Any](), [0.0, 0.0], list[list[str]]()
    for line in preset.load(options.preset, Path("OUT"), options.set):
        own, config = line.options, line.config
        if line.verb == "data build":
            specs[line.out] = [own.spec()]
        if config is None:
            continue
        data = [spec for place in own.data for spec in specs[place]] or specs[own.init]
        specs[line.out] = data = of_tasks(data, config.tasks) if getattr(config, "tasks", ()) else data
        models[line.out] = model = models.get(own.init) or config.model
        name, config = f"{line.verb} {own.recipe}", replace(config, run=RunConfig())
        if line.verb == "train sft":
            config = replace(config, targets=replace(config.targets, depths=()))
        else:
            fixed = variant(config.variant).depth > 0
            name = f"{name}, {'fixed' if fixed else config.variant}, budget {config.rollout.budget}"
            config = replace(config, variant="fixed-1") if fixed else config
        kinds.setdefault(f"{config} {data}", [name, 0, config, model, data])[1] += 1
    machine, pace, large = Machine(card, fleet.ranks), Progress(len(kinds), 0), list[tuple[int, int, Any]]()

    def counted(what: str) -> None:
        if pace.due():
            progress(f"[{len(rows)}/{len(kinds)}] {what}  {pace.left(len(rows))}")

    for name, many, config, model, data in kinds.values():
        puzzles = [spec.puzzle() for spec in data]
        found = estimate(config, model, puzzles, machine, counted)
        step, (low, high) = found.phases[0], found.seconds or (0.0, 0.0)
        hours = [hours[0] + many * low / 3600, hours[1] + many * high / 3600]
        states = " + ".join(str(each) for _, each, _ in step.passes.get("learn", [])) or NONE
        counts = many, step.tokens, sum(step.kernels.values()), sum(step.launches.values())
        times = (clock(each) if each else NONE for each in (low, high))
        large += [] if found.fits else [(found.memory.peak, many, (config, model, puzzles))]
        size = gib(found.memory.peak) + ", DOES NOT FIT" * (not found.fits)
        rows.append([name, states, *map("{:,}".format, counts), size, *times])
    head = "run | states of a learning pass | runs | tokens of a step | kernels | compiled | GiB of a rank"
    whole, each = (" to ".join(f"{n * by:.2f}" for n in hours) for by in (1 / len(fleet.slots), fleet.ranks))
    fit = f"all fit {gib(machine.limit)} GiB"
    if large:  # estimate with checkpointing
        config, model, puzzles = max(large, key=itemgetter(0))[2]
        engine = replace(config.engine, checkpointing=True, compile="none")
        less = gib(estimate(replace(config, engine=engine), model, puzzles, machine, counted).memory.peak)
        short = f"{sum(many for _, many, _ in large)} of {sum(kind[1] for kind in kinds.values())} DO NOT FIT"
        less = f"with --set engine.checkpointing=true the largest takes {less} GiB"
        fit = f"{short} {gib(machine.limit)} GiB: {less}"
    return (
        f"{Grid.of(f'{head} | low, m:ss | high, m:ss', rows).markdown()}\n\n"
        f"low: {LOW.text} (assumed)\nhigh: {HIGH.text} (assumed)\n"
        f"All runs take {whole} hours of {len(fleet.slots) * fleet.ranks} x {card}, {each} GPU-hours; evaluations are "
        f"not included; {fit}.\n"
    )


def reproduce(options: ReproduceOptions, *, quiet: bool = False) -> int:
    """Run the missing commands of a preset; returns 0, or the status of a failure."""
    if options.out is None:
        raise ValueError("out: expected a folder, got none")
    folder = options.out.absolute()
    lines, fleet = preset.load(options.preset, folder, options.set), options.fleet()
    places = [place for line in lines for place in (line.out, *line.inputs)]
    marks = {place.relative_to(folder).parts[0] for place in places}
    ownership.refuse_foreign(folder, (*marks, LOGS), "a reproduction of this preset")
    files.make_folders(files.Files(), folder)
    with Lock(folder, work="reproduction"):  # two would remove each other's temporary files
        for place in {parent for line in lines for parent in line.out.parents if folder in parent.parents}:
            files.own_folder(place)
            files.make_folders(files.Files(), place)
        return run(fleet, [Job.of(line, folder, fleet) for line in lines], folder / LOGS, quiet=quiet)


def run(fleet: Fleet, jobs: Sequence[Job], logs: Path, *, quiet: bool = False) -> int:
    """Run all jobs, one per slot at a time; returns 0, ``FAILED`` or ``INTERRUPTED``. Records and logs are in
    ``logs``."""
    for folder in (logs, *(job.out for job in jobs)):
        files.own_folder(folder)
    files.make_folders(files.Files(), logs)
    files.sweep(files.Files(), logs)
    waiting, places, status = list(jobs), [_Place(fleet, i, logs) for i in range(len(fleet.slots))], 0
    board, stopped = Board(len(jobs), quiet=quiet), False
    running: Callable[[], list[_Place]] = lambda: [each for each in places if each.job is not None]
    with Interrupt() as interrupt:
        try:
            while running() or (waiting and not status):
                while (free := [each for each in places if each.job is None]) and not status:
                    if (ready := _next(waiting, [each.job for each in places if each.job is not None])) is None:
                        break
                    waiting.remove(ready)
                    if _stands(ready, logs):
                        board.finished(ready.name)
                    else:
                        free[0].begin(ready)
                if interrupt.number and not stopped:
                    stopped, status = True, INTERRUPTED
                    board.say("interrupted: what has begun saves itself after its step; Ctrl-C again ends it at once")
                    for each in running():
                        each.stop()
                board.show([(each.job.name, last_line(each.log)) for each in running() if each.job is not None])
                time.sleep(PAUSE if running() else 0.0)
                for each in [each for each in running() if each.status is not None]:
                    status = max(status, _judged(each, board, logs, stopped=stopped))
        finally:
            for each in places:
                each.end()
    return status


def _next(waiting: Sequence[Job], running: Sequence[Job]) -> Job | None:
    """The first waiting job whose inputs are not written by a running or earlier waiting job."""
    for number, job in enumerate(waiting):
        missing = [each.out for each in (*running, *waiting[:number])]
        if not any(out == path or path in out.parents or out in path.parents for out in missing for path in job.inputs):
            return job
    return None


def _file(job: Job, logs: Path, ending: str) -> Path:
    return logs / f"{job.name.replace('/', '.')}.{ending}"


def _stands(job: Job, logs: Path) -> bool:
    """True if output and inputs are unchanged since the same command finished."""
    record = _file(job, logs, "json")
    if not record.is_file() or not os.path.lexists(job.out):
        return False
    try:
        return verified.values(record.parent, record.name) == job.record(logs.parent)
    except errors.Damaged:
        return False


def _judged(place: _Place, board: Board, logs: Path, *, stopped: bool) -> int:
    """Report how a job ended, and record its output; returns the resulting status."""
    status, job, made = place.ended()
    if made:
        record = json.dumps(job.record(logs.parent), indent=2) + "\n"
        files.replace(files.Files(), _file(job, logs, "json"), record.encode())
        board.finished(job.name)
        if status:
            board.say(f"{job.name}: all of it is there, but its processes ended with {status}; see {place.log}")
        return 0
    if stopped or status == INTERRUPTED:
        board.say(f"{job.name}: interrupted; the same command goes on")
        return INTERRUPTED
    lines = place.lines_of_log()
    reason = next((line.strip() for line in lines if "recommit: " in line), f"ended with status {status}")
    say("".join(f"  {line}\n" for line in lines[-SHOWN:]) + f"{job.name}: {reason}; see {place.log}")
    return FAILED


class _Place:
    """A slot with its worker process and current job. The worker is reused for the next job, unless that needs other
    ranks, and exits when a job fails."""

    def __init__(self, fleet: Fleet, number: int, logs: Path) -> None:
        self.fleet, self.slot, self.logs = fleet, fleet.slots[number], logs
        self.queue, self.log = logs / f"worker-{number}", logs
        self.job: Job | None = None
        self.process: subprocess.Popen[bytes] | None = None
        #: Index of the job in the worker's queue, and True if the worker runs on ranks.
        self._number, self._on_ranks = 0, False

    def begin(self, job: Job) -> None:
        """Start a job."""
        on_ranks = self.fleet.on_ranks(self.slot, job.words)
        if self.process is not None and (on_ranks != self._on_ranks or worker.spent(self.queue, self._number)):
            self.end()
        self.job, self._sealed, self.log = job, job.sealed, _file(job, self.logs, "log")
        with os.fdopen(safe_open.append(self.log), "ab") as log:
            log.write(f"$ {shlex.join(self.fleet.command(self.slot, job.words))}\n".encode())
            self._begin = log.tell()
            log.flush()
            if self.process is not None:
                self._number += 1
                worker.put(self.queue, self._number, job.words, self.log)
                return
            shutil.rmtree(self.queue, ignore_errors=True)
            files.make_folders(files.Files(), self.queue)
            self._number, self._on_ranks = 0, on_ranks
            worker.put(self.queue, 0, job.words, self.log)
            #: True if ranks read our pipe; ranks of a custom launcher only get SIGTERM, through the launcher.
            self._tethered = not self.fleet.launches(job.words)
            self.process = subprocess.Popen(
                launch.program(self.fleet.worker(self.slot, self.queue, on_ranks=on_ranks)),
                bufsize=0,
                stdin=subprocess.PIPE if self._tethered else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self.fleet.environment(self.slot, os.environ), **({TETHER: "1"} if self._tethered else {})},
                start_new_session=True,  # or a terminal's Ctrl-C would make launchers kill their ranks
            )

    @property
    def status(self) -> int | None:
        """Exit status of the job, None while it runs."""
        assert self.process is not None
        return 0 if worker.done(self.queue, self._number) else self.process.poll()

    def ended(self) -> tuple[int, Job, bool]:
        """Free the slot; returns status, job, and whether its output is complete. Reaps an exited worker."""
        assert self.process is not None
        assert self.job is not None
        status, job, self.job = self.status or 0, self.job, None
        if self.process.poll() is not None:
            self.end()
        return status, job, job.made(status, self._sealed)

    def lines_of_log(self) -> list[str]:
        """The job's log lines, without those that torchrun appends when a rank fails."""
        with safe_open.reading(self.log) as log:
            log.seek(self._begin)
            lines = log.read().decode("utf-8", "replace").splitlines()
        added = (i for i, line in enumerate(lines) if "torch/distributed/elastic/" in line)
        return lines[: next(added, None)]

    def stop(self) -> None:
        """Ask the job to save and stop."""
        assert self.process is not None
        if not self._tethered:
            self.process.terminate()
            return
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b".")
        except BrokenPipeError:
            return  # it has just exited

    def end(self) -> None:
        """Kill the worker; saved state is not affected."""
        if (process := self.process) is None:
            return
        self.process = None
        if process.stdin is not None:
            process.stdin.close()
        if process.poll() is None and not self._tethered:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                say(f"{self.log}: its launcher does not end; it is killed")
        if process.poll() is None:
            with suppress(ProcessLookupError):  # the whole group is gone
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.queue, ignore_errors=True)
