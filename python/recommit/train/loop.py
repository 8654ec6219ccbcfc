"""The training loop: what every run does besides its own step.

``Trainer.run`` takes up the newest checkpoint and then repeats: one ``_step`` of the subclass (``sft/run.py``,
``grpo/step.py``), a log line every ``run.log_every`` steps, a validation every ``validation.every``, a checkpoint
after each validation and every ``run.save_every``. Ctrl-C ends it after a step, on all ranks together. A checkpoint
holds weights, the optimiser, the place in the data, every generator's state and how long the logs were: a resumed run
cuts its logs there and ends in the bits of one that never stopped.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recommit.runs import process
from recommit.runs.progress import Curves, Progress
from recommit.storage import verified
from recommit.storage.files import Files, replace
from recommit.storage.jsonl import JsonLines, NoLines
from recommit.storage.terminal_text import say
from recommit.train import examples, validate
from recommit.train.config import plain
from recommit.train.engine.base import schedule
from recommit.train.meter import Meter

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.checkpoints import Checkpoint
    from recommit.runs.directory import RunDirectory
    from recommit.runs.progress import Interrupt
    from recommit.runs.ranks import Team
    from recommit.train.engine.base import Engine
    from recommit.train.validate import ValidationTask

#: So many steps in a row whose gradient is not finite end a run.
PATIENCE_WITH_NAN = 10


#: What a run says of its steps, of the machine, and of a few decisions.
LOGS = ("metrics", "timing", "samples")


class Diverged(RuntimeError):
    """Gradients stopped being finite; the checkpoints are from before that."""


@dataclass
class Progressed:
    """Where a run is: everything that a checkpoint holds besides weights, feed and randomness."""

    step: int = 0
    states: int = 0
    skipped: int = 0
    #: ``validate.score`` and step of the best validation, and how many came since.
    best: dict[str, Any] = field(default_factory=dict)
    stale: int = 0


class Trainer(ABC):
    """One run in one process (or on one rank). A subclass makes ``policy`` and ``engine`` and takes the steps."""

    #: The verb, and the prefix of its curves.
    kind: str
    #: After so many steps memory goes back to the system: seldom enough to cost nothing.
    steps_between_trims = 100
    policy: CommitPolicy
    engine: Engine
    #: What is validated on; nothing if nobody asked for it.
    watched: list[ValidationTask]
    samples: JsonLines

    def __init__(self, config: Any, folder: RunDirectory, team: Team, *, quiet: bool) -> None:
        self.config, self.folder, self.team, self.quiet = config, folder, team, quiet
        self.at, self.meter = Progressed(), Meter()

    @abstractmethod
    def _step(self) -> dict[str, float]:
        """One step; sums and values for ``_summary``. Counts ``at.step`` and ``at.states`` up."""

    @abstractmethod
    def _summary(self, steps: list[dict[str, float]]) -> dict[str, Any]:
        """What a log line says of the steps since the last one; ``loss`` is in it."""

    @abstractmethod
    def _introduction(self) -> str:
        """What is trained on what."""

    @abstractmethod
    def _more(self) -> dict[str, Any]:
        """What else a checkpoint must hold."""

    @abstractmethod
    def _take_up(self, more: dict[str, Any]) -> None:
        """Back to ``_more``."""

    def _validate(self) -> dict[str, Any]:
        """How good the policy is."""
        return validate.together({each.name: self._measure(each) for each in self.watched})

    def _measure(self, watched: ValidationTask) -> dict[str, Any]:
        """How good the policy is in one puzzle."""
        return validate.measure(self.policy, watched.task, watched.instances, watched.config, self.engine)

    def _sample(self, watched: ValidationTask) -> None:
        """Write down what the policy decides in the first few states of the validation."""
        shown = watched.instances.states[: watched.config.samples]
        if not len(shown):
            return
        training = self.policy.training
        self.policy.eval()
        samples = examples.decisions(
            self.policy,
            watched.task,
            shown.states,
            shown.distance,
            self.engine.run,
            self._fixed_depth(),
            watched.config.budget,
        )
        self.policy.train(training)
        for sample in samples:
            self.samples.add({"step": self.at.step, "task": watched.task.task, **sample})

    def _fixed_depth(self) -> int | None:
        """The depth of a policy that does not choose."""
        return None

    def close(self) -> None:
        """Let go of the policy."""
        self.engine.close()

    def run(self, interrupt: Interrupt) -> int:
        """Until the last step, an early stop, or an interruption; the exit status."""
        with ExitStack() as logs:
            log, timing, self.samples = (logs.enter_context(self._log(name)) for name in LOGS)
            self._resume(log)
            progress = Progress(self.config.optim.steps, self.at.step, quiet=self.quiet)
            status = self._steps(log, timing, interrupt, progress)
        if status == 0:
            self.folder.seal()
            progress.say(f"finished: {self.folder.folder / 'best.json'} names the best policy")
        return status

    def _log(self, name: str) -> JsonLines:
        return (JsonLines if self.team.is_main_process else NoLines)(
            self.folder.folder / f"{name}.jsonl", durable=False
        )

    def _steps(self, log: JsonLines, timing: JsonLines, interrupt: Interrupt, progress: Progress) -> int:
        run = self.config.run
        curves = Curves(
            self.folder.folder if self.team.is_main_process else None,
            tensorboard=run.tensorboard,
            wandb=run.wandb,
            whole=plain(self.config),
            step=self.at.step,
        )
        progress.say(self._introduction())
        self.meter = meter = Meter(self.meter.steps)  # its clock begins here
        try:
            while self.at.step < self.config.optim.steps and not self._stopped_early():
                states = self.at.states
                meter.add(self._step(), self.at.states - states)
                self._tell(meter, log, timing, curves, progress)
                if self.at.step % self.steps_between_trims == 0:
                    process.trim()
                due = self._due(log, curves, progress)
                if self.team.all_reduce_max(interrupt.number):
                    self._save(log)
                    progress.say(f"interrupted after step {self.at.step:,}; the same command goes on from there")
                    return 130
                if due:
                    self._save(log)
        finally:
            curves.close()
        if self.at.skipped:
            raise Diverged(f"step {self.at.step}: the gradient of the last step was not finite; lower optim.lr")
        return 0

    def _watch_for_nan(self, norm: float) -> None:
        if math.isfinite(norm):
            self.at.skipped = 0
            return
        self.at.skipped += 1
        if self.at.skipped >= PATIENCE_WITH_NAN:
            raise Diverged(f"step {self.at.step}: {self.at.skipped} gradients in a row were not finite; lower optim.lr")

    def _tell(self, meter: Meter, log: JsonLines, timing: JsonLines, curves: Curves, progress: Progress) -> None:
        """JsonLines every few steps."""
        if self.at.step % self.config.run.log_every and self.at.step < self.config.optim.steps:
            progress.between(self.at.step)
            return
        line = self._summary(meter.take())
        values = {
            "step": self.at.step,
            "states": self.at.states,
            "lr_scale": schedule(self.config.optim, self.at.step - 1),
            **line,
        }
        pace = meter.pace()
        tokens = pace["states_per_s"] * self.tokens
        log.add(values)
        timing.add({"step": self.at.step, **pace, "tokens_per_s": round(tokens, 1), **self._times()})
        curves.add(self.at.step, {**line, "states_per_s": pace["states_per_s"]}, self.kind)
        progress.show(self.at.step, pace["states_per_s"], tokens, line["loss"])

    @property
    @abstractmethod
    def tokens(self) -> float:
        """What the language model reads of a state, on average."""

    def _times(self) -> dict[str, Any]:
        """What depends on the machine, since the last line."""
        return {}

    def _due(self, log: JsonLines, curves: Curves, progress: Progress) -> bool:
        """Validate if it is time to; is it time for a checkpoint?"""
        last = self.at.step == self.config.optim.steps
        if self.at.skipped:
            return last  # weights that may not be finite are neither judged nor kept
        validated = self.at.step % self.config.validation.every == 0 or last
        if validated and self.watched:
            with self.engine.judged():
                validation = self._validate()
                for each in self.watched:
                    self._sample(each)
            log.add({"step": self.at.step, "validation": validation})
            curves.add(self.at.step, validation, "validation")
            progress.say(f"step {self.at.step:,}  validation: {validate.line_of(validation)}")
            score = list(validate.score(validation))
            better = not self.at.best or score > self.at.best["score"]
            self.at.stale = 0 if better else self.at.stale + 1
            if better:
                self.at.best = {"step": self.at.step, "score": score, "validation": validation}
        elif not self.watched:
            self.at.best = {"step": self.at.step, "score": [], "validation": None}
        return last or validated or self.at.step % self.config.run.save_every == 0 or self._stopped_early()

    def _stopped_early(self) -> bool:
        return 0 < self.config.validation.patience <= self.at.stale

    def _save(self, log: JsonLines) -> None:
        def write(folder: Path) -> None:
            self.engine.save(folder)
            with self.engine.judged(), self.engine.whole(self.policy):
                if self.team.is_main_process:
                    self.policy.save_pretrained(folder / "policy")
            replace(
                Files(), folder / f"random-{self.team.rank}.json", json.dumps(process.capture_random_state()).encode()
            )
            if self.team.is_main_process:
                sizes = {"log": log.size(), "samples": self.samples.size()}
                logs = {**sizes, "unlogged": self.meter.steps, "logs_sha256": self.folder.log_digests()}
                rest = {"at": vars(self.at), **self._more(), **logs}
                replace(Files(), folder / "state.json", json.dumps(rest).encode())

        if self.at.skipped:
            return  # weights of a step that was not finite are never kept
        if not self.at.best:
            self.at.best = {"step": self.at.step, "score": [], "validation": None}
        self._settle(
            self.folder.checkpoints.save(
                self.at.step, write, is_main_process=self.team.is_main_process, barrier=self.team.barrier
            )
        )

    def _settle(self, newest: Checkpoint) -> None:
        """What follows from a checkpoint: which policy is the best, and which checkpoints go. After every save, and
        again when a run goes on, since the last one may have died between the two."""
        if not self.team.is_main_process:
            return
        policy = f"checkpoints/step-{self.at.best['step']:08d}/policy"
        pointer = {**self.at.best, "policy": policy, "last": newest.folder.name}
        if (self.folder.folder / policy).is_dir():
            self.folder.write("best.json", pointer)
        self.folder.checkpoints.prune(self.config.run.keep, {self.at.best["step"]})

    def _resume(self, log: JsonLines) -> None:
        newest = self.folder.checkpoints.newest(self._say)
        if newest is None:
            log.cut(0)
            self.samples.cut(0)
            return
        state = verified.values(newest.folder, "state.json", {"at": dict, "log": int, "samples": int})
        self.engine.load(newest.folder)
        self.at, self.meter = Progressed(**state["at"]), Meter(state.get("unlogged", ()))
        self._take_up(state)
        log.cut(state["log"])
        self.samples.cut(state["samples"])
        self.folder.check_logs(state.get("logs_sha256", {}), newest.folder)  # older checkpoints do not note them
        self._restore_randomness(newest.folder / f"random-{self.team.rank}.json")
        self.at.best = self.at.best or {"step": newest.step, "score": [], "validation": None}
        self._settle(newest)
        self._say(f"going on after step {newest.step:,}")

    def _restore_randomness(self, path: Path) -> None:
        """A rank that was not there before begins a stream of its own."""
        if path.is_file():
            process.restore_random_state(verified.values(path.parent, path.name))
        else:
            process.seed_everything(self.config.run.seed + self.team.rank + (self.at.step << 16))

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)
