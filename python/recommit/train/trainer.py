"""The training loop shared by all runs.

``Trainer.run`` loads the newest checkpoint and then repeats: one ``_step`` of the subclass (``sft/trainer.py``,
``grpo/trainer.py``), a log line every ``run.log_every`` steps, a validation every ``validation.every``, a checkpoint
after each validation and every ``run.save_every``. Ctrl-C ends it after a step, on all ranks together. A checkpoint
holds weights, optimizer, position in the data, all generator states and the length of the logs: a resumed run truncates
its logs there and is bitwise identical to an uninterrupted one.
"""

from __future__ import annotations

import faulthandler
import json
import math
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from recommit.policy.checkpoint import fingerprint_of
from recommit.policy.threads import threads
from recommit.runs import distributed, process
from recommit.runs.directory import RunDirectory
from recommit.runs.progress import Curves, Interrupt, Progress, refuse_missing
from recommit.storage import verified
from recommit.storage.errors import Damaged
from recommit.storage.files import Files, replace
from recommit.storage.jsonl import JsonLines, NoLines
from recommit.storage.recipe_text import cut
from recommit.storage.schema import refuse
from recommit.storage.terminal_text import say
from recommit.train import validation
from recommit.train.config import plain
from recommit.train.engine.base import Diverged, Engine
from recommit.train.optim import lr_schedule, parameter_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.checkpoints import Checkpoint
    from recommit.runs.distributed import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.validation import ValidationTask

#: Number of consecutive non-finite gradients that ends a run.
PATIENCE_WITH_NAN = 10
#: Fields of state.json common to all runs.
SAVED: verified.Fields = {
    "state": {"step": int, "states": int, "skipped": int, "best": dict},
    "log": int,
    "unlogged": [dict],
    "logs_sha256": dict,
}


@contextmanager
def opened_run(
    config: Any, out: str | Path, trackers: Mapping[str, str]
) -> Iterator[tuple[Team, RunDirectory, Interrupt]]:
    """Context of a run: its ranks, its locked folder, and the Ctrl-C handler, which ends it after a step."""
    refuse_missing(trackers)
    join = distributed.join if config.engine.kind == "deepspeed" else distributed.meet
    with process.torch_settings(config.run.threads):
        team = join(config.run.device)
        opened = RunDirectory(out, is_main_process=team.is_main_process)
        with opened as folder, Interrupt() as interrupt:
            yield team, folder, interrupt


@dataclass
class TrainerState:
    """Progress of a run: the part of a checkpoint besides weights, data position and random state."""

    step: int = 0
    states: int = 0
    skipped: int = 0
    #: ``validation.score`` and step of the best validation.
    best: dict[str, Any] = field(default_factory=dict)


class Meter:
    """Throughput of a run, and the measurements since the last log line."""

    def __init__(self, steps: Sequence[dict[str, float]] = ()) -> None:
        #: Steps not yet logged; checkpointed, so that the next line equals that of an uninterrupted run.
        self.steps = list(steps)
        self._wall, self._cpu, self._states = time.monotonic(), time.process_time(), 0

    def add(self, step: dict[str, float], states: int) -> None:
        """Record one step."""
        self.steps.append(step)
        self._states += states

    def take(self) -> list[dict[str, float]]:
        """Measurements of the steps since the last call."""
        steps, self.steps = self.steps, []
        return steps

    def pace(self) -> dict[str, float]:
        """Wall time, CPU time and states per second since the last call."""
        wall, cpu = time.monotonic() - self._wall, time.process_time() - self._cpu
        states, self._states = self._states, 0
        self._wall, self._cpu = time.monotonic(), time.process_time()
        return {"wall_s": round(wall, 4), "cpu_s": round(cpu, 4), "states_per_s": round(states / max(wall, 1e-9), 1)}


class Trainer(ABC):
    """One run in one process (or on one rank). A subclass makes ``policy`` and ``engine`` and takes the steps."""

    #: Name of the command, and prefix of its curves.
    kind: str
    #: Steps between ``process.trim``, which returns free memory to the system: rare enough to be negligible.
    steps_between_trims = 100
    policy: CommitPolicy
    engine: Engine
    #: This rank's running episodes, kept between steps and checkpointed per rank; new ranks start with none.
    episodes: Sequence[Any] = ()
    #: Empty without validation.
    validation_tasks: list[ValidationTask]
    #: Open during ``run``.
    log: JsonLines
    timing: JsonLines
    curves: Curves
    progress: Progress
    #: The project of each tracker.
    trackers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, config: Any, folder: RunDirectory, team: Team, *, quiet: bool) -> None:
        self.config, self.folder, self.team, self.quiet = config, folder, team, quiet
        self.state, self.meter = TrainerState(), Meter()

    @abstractmethod
    def _step(self) -> dict[str, float]:
        """Take one step, incrementing ``state.step`` and ``state.states``; returns sums and values for ``_summary``."""

    @abstractmethod
    def _summary(self, steps: list[dict[str, float]]) -> dict[str, Any]:
        """The values of a log line, including ``loss``, from the steps since the last one."""

    @abstractmethod
    def _introduction(self) -> str:
        """Trained parameters and data, in a sentence."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """The subclass's part of a checkpoint."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore ``state_dict``."""

    def _measure(self, task: ValidationTask) -> dict[str, Any]:
        """Validate the policy on one puzzle."""
        return validation.measure(self.policy, task, self.engine)

    def close(self) -> None:
        """Release the policy, and code compiled for it."""
        self.engine.close()
        if self.config.engine.compile != "none":
            torch.compiler.reset()

    def run(self, interrupt: Interrupt) -> int:
        """Train until the last step or an interruption; returns the exit status."""
        with threads(self.policy), self._log("metrics") as self.log, self._log("timing") as self.timing:
            self._resume_from_checkpoint()
            self.progress = Progress(self.config.optim.steps, self.state.step, quiet=self.quiet)
            status = self._steps(interrupt)
        if status == 0:
            self.folder.seal()
            self.progress.say(f"finished: {self.folder.folder / 'best.json'} names the best policy")
        return status

    def _log(self, name: str) -> JsonLines:
        return (JsonLines if self.team.is_main_process else NoLines)(
            self.folder.folder / f"{name}.jsonl", durable=False
        )

    def _steps(self, interrupt: Interrupt) -> int:
        run = self.config.run
        self.curves = Curves(
            self.folder.folder if self.team.is_main_process else None,
            tensorboard=run.tensorboard,
            projects=self.trackers,
            whole=plain(self.config),
            step=self.state.step,
        )
        self.progress.say(self._introduction())
        self.meter = Meter(self.meter.steps)  # its clock begins here
        try:
            while self.state.step < self.config.optim.steps:
                states = self.state.states
                self.team.watch()
                self.meter.add(self._step(), self.state.states - states)
                self._log_step()
                if self.state.step % self.steps_between_trims == 0:
                    process.trim()
                due = self._due()
                if self.team.all_reduce_max(interrupt.number):
                    self._save_checkpoint()
                    place = "the checkpoint before, as its gradient was not finite" if self.state.skipped else "there"
                    self.progress.say(
                        f"interrupted after step {self.state.step:,}; the same command goes on from {place}"
                    )
                    return 130
                if due:
                    self._save_checkpoint()
        finally:
            faulthandler.cancel_dump_traceback_later()
            self.curves.close()
        if self.state.skipped:
            raise Diverged(f"step {self.state.step}: the gradient of the last step was not finite; lower optim.lr")
        return 0

    def _watch_for_nan(self, norm: float) -> None:
        if math.isfinite(norm):
            self.state.skipped = 0
            return
        self.state.skipped += 1
        if self.state.skipped >= PATIENCE_WITH_NAN:
            raise Diverged(
                f"step {self.state.step}: {self.state.skipped} gradients in a row were not finite; lower optim.lr"
            )

    def _log_step(self) -> None:
        """Write log lines every few steps."""
        if self.state.step % self.config.run.log_every and self.state.step < self.config.optim.steps:
            self.progress.between(self.state.step)
            return
        line = self._summary(self.meter.take())
        values = {
            "step": self.state.step,
            "states": self.state.states,
            "lr_scale": lr_schedule(self.config.optim, self.state.step - 1),
            **line,
        }
        pace = self.meter.pace()
        self.log.add(values)
        self.timing.add({"step": self.state.step, **pace})
        self.curves.add(self.state.step, {**line, "states_per_s": pace["states_per_s"]}, self.kind)
        self.progress.show(self.state.step, pace["states_per_s"], line["loss"])

    def _due(self) -> bool:
        """Validate if due; returns True if a checkpoint is due."""
        last = self.state.step == self.config.optim.steps
        if self.state.skipped:
            return last  # after a non-finite gradient, neither validate nor save
        validated = self.state.step % self.config.validation.every == 0 or last
        if validated and self.validation_tasks:
            found = validation.mean_over_sets({each.name: self._measure(each) for each in self.validation_tasks})
            self.log.add({"step": self.state.step, "validation": found})
            self.curves.add(self.state.step, found, "validation")
            self.progress.say(f"step {self.state.step:,}  validation: {validation.line_of(found)}")
            score = list(validation.score(found))
            if not self.state.best or score > self.state.best["score"]:
                self.state.best = {"step": self.state.step, "score": score, "validation": found}
        elif not self.validation_tasks:
            self.state.best = {"step": self.state.step, "score": [], "validation": None}
        return last or validated or self.state.step % self.config.run.save_every == 0

    def _save_checkpoint(self) -> None:
        def write(folder: Path) -> None:
            self.engine.save(folder)
            with self.engine.whole(self.policy):
                if self.team.is_main_process:
                    self.policy.save_pretrained(folder / "policy")
            own = {**process.capture_random_state(), "episodes": [each.state_dict() for each in self.episodes]}
            replace(Files(), folder / f"random-{self.team.rank}.json", json.dumps(own).encode())
            if self.team.is_main_process:
                logs = {"log": self.log.size(), "unlogged": self.meter.steps, "logs_sha256": self.folder.log_digests()}
                rest = {"state": vars(self.state), **self.state_dict(), **logs}
                replace(Files(), folder / "state.json", json.dumps(rest).encode())

        if self.state.skipped:
            return  # never save after a non-finite step
        if not self.state.best:
            self.state.best = {"step": self.state.step, "score": [], "validation": None}
        self._update_best_and_prune(
            self.folder.checkpoints.save(
                self.state.step, write, is_main_process=self.team.is_main_process, barrier=self.team.barrier
            )
        )

    def _update_best_and_prune(self, newest: Checkpoint) -> None:
        """Update ``best.json`` and delete old checkpoints: after every save, and on resume, since a crash may have come
        between the two."""
        if not self.team.is_main_process:
            return
        policy = f"checkpoints/step-{self.state.best['step']:08d}/policy"
        pointer = {**self.state.best, "policy": policy, "last": newest.folder.name}
        if (self.folder.folder / policy).is_dir():
            self.folder.write("best.json", pointer)
        self.folder.checkpoints.prune(self.config.run.keep, {self.state.best["step"]})

    def _resume_from_checkpoint(self) -> None:
        newest = self.folder.checkpoints.newest(self._say)
        self.team.barrier()  # every rank has read them
        if self.team.is_main_process:
            self.folder.checkpoints.remove_after(newest.step if newest else 0)
        if newest is None:
            self.log.cut(0)
            return
        state = verified.values(newest.folder, "state.json", SAVED)
        own = TrainerState(**{name: state["state"][name] for name in SAVED["state"]})
        verified.expect(newest.folder / "state.json", own.best, {"step": int} if own.best else {}, "best")
        if own.step != newest.step:
            raise Damaged(f"{newest.folder / 'state.json'}: step: expected {newest.step}, got {own.step}")
        self.engine.load(newest.folder)
        self.state, self.meter = own, Meter(state["unlogged"])
        self.load_state_dict(state)
        self.log.cut(state["log"])
        self.folder.check_logs(state["logs_sha256"], newest.folder)
        self._restore_randomness(newest.folder / f"random-{self.team.rank}.json")
        self.state.best = self.state.best or {"step": newest.step, "score": [], "validation": None}
        self._update_best_and_prune(newest)
        self._say(f"going on after step {newest.step:,}")

    def _restore_randomness(self, path: Path) -> None:
        """Restore this rank's generators and episodes; a new rank seeds its own."""
        if not path.is_file():
            process.seed_everything(self.config.run.seed + self.team.rank + (self.state.step << 16))
            return
        state = verified.values(path.parent, path.name)
        try:
            process.restore_random_state(state)
            for episodes, saved in zip(self.episodes, state["episodes"], strict=True):
                episodes.load_state_dict(saved)
        except (LookupError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise Damaged(f"{path}: expected streams and episodes of this run, got others: {cut(str(error))}") from None

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)


def make_engine(policy: CommitPolicy, optim: OptimConfig, config: EngineConfig, team: Team, parts: int) -> Engine:
    """Make the configured engine, and set the policy's recomputation and compilation; ``parts`` micro-batches per
    optimizer step."""
    whole = config.compile != "none" and policy.config.lora is None
    refuse((whole, "engine.compile", "none for a backbone that is trained whole", config.compile))
    policy.backbone.recompute, policy.backbone.compiled = config.checkpointing, config.compile
    parameters = parameter_groups(policy, optim)
    if config.kind == "plain":
        return Engine(parameters, optim, team)
    from recommit.train.engine.deepspeed import ZeroEngine

    fingerprint_of(policy)  # cached while the frozen weights are unsharded
    return ZeroEngine(policy, parameters, optim, config, team, parts)
