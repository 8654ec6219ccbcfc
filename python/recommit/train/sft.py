"""The supervised warm start. Also ``deepspeed ... -m recommit.train.sft`` with the flags of ``recommit train sft``."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

import recommit.data
from recommit.policy.checkpoint import fingerprint_of
from recommit.train import losses, ranks, start, state, targets, validate
from recommit.train.config import plain
from recommit.train.engine import TorchEngine, groups, schedule
from recommit.train.rundir import Log, RunDirectory
from recommit.train.watch import Curves, Interrupt, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.data.dataset import Dataset
    from recommit.policy.policy import CommitPolicy
    from recommit.train.checkpoints import Checkpoint
    from recommit.train.config import SftConfig
    from recommit.train.engine import Engine
    from recommit.train.ranks import Team
    from recommit.train.targets import Targets

#: So many steps in a row whose gradient is not finite end a run.
PATIENCE_WITH_NAN = 10


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


def train(config: SftConfig, data: str | Path, out: str | Path, *, quiet: bool = False) -> int:
    """Run, or go on with, a warm start; 0 when it is finished and 130 when it was interrupted."""
    if config.run.threads:
        torch.set_num_threads(config.run.threads)
    dataset = recommit.data.open(data, "train")
    team = ranks.join(config.run.device) if config.engine.kind == "deepspeed" else ranks.alone(config.run.device)
    try:
        with RunDirectory(out, lead=team.lead) as folder, Interrupt() as interrupt:
            content = {"content_sha256": dataset.manifest.content, "recipe": dataset.recipe.to_dict()}
            folder.begin({"kind": "sft", "ranks": team.world, **plain(config), "data": content})
            return Sft(config, dataset, folder, team, quiet=quiet or not team.lead).run(interrupt)
    finally:
        ranks.leave()


def engine(policy: CommitPolicy, config: SftConfig, team: Team, parts: int) -> Engine:
    """The engine that the configuration asks for."""
    made = groups(policy, config.optim)
    if config.engine.kind == "plain":
        return TorchEngine(made, config.optim, team)
    from recommit.train.zero import ZeroEngine

    fingerprint_of(policy)  # while the frozen weights are whole
    return ZeroEngine(policy, made, config.optim, config.engine, team, parts)


class Sft:
    """One run in one process (or on one rank)."""

    def __init__(
        self,
        config: SftConfig,
        dataset: Dataset,
        folder: RunDirectory,
        team: Team,
        *,
        quiet: bool = False,
    ) -> None:
        self.config, self.dataset, self.folder, self.team, self.quiet = config, dataset, folder, team, quiet
        self.task = dataset.puzzle
        share, rest = divmod(config.optim.batch, team.world)
        if rest:
            raise ValueError(f"optim.batch: expected a multiple of {team.world} ranks, got {config.optim.batch}")
        self.parts = -(-share // (config.optim.micro_batch or share))
        state.seed(config.run.seed)
        self.policy: CommitPolicy = start.policy(config.model, folder.folder, config.run.seed, team)
        self.policy.train_only(self.task, depth_head=False)  # the depth head learns by reinforcement alone
        self.policy.backbone.recompute = config.engine.checkpointing
        self.policy.train()
        self.engine = engine(self.policy, config, team, self.parts)
        state.seed(config.run.seed + team.rank)  # dropout differs between ranks, the first weights do not
        self.feed = recommit.data.Feed(dataset, share, seed=config.run.seed, rank=team.rank, world=team.world)
        watched = config.validation.instances > 0
        self.instances = validate.instances(dataset.recipe, config.validation) if watched else None
        self.at = Progressed()

    def run(self, interrupt: Interrupt) -> int:
        """Until the last step, an early stop, or an interruption; the exit status."""
        log, timing = (
            Log(self.folder.folder / name, lead=self.team.lead) for name in ("metrics.jsonl", "timing.jsonl")
        )
        try:
            self._resume(log)
            return self._steps(log, timing, interrupt)
        finally:
            log.close()
            timing.close()

    def _steps(self, log: Log, timing: Log, interrupt: Interrupt) -> int:
        progress = Progress(self.config.optim.steps, self.at.step, quiet=self.quiet)
        curves = Curves(
            self.folder.folder if self.team.lead else None, self.config.run, plain(self.config), self.at.step
        )
        progress.say(self._introduction())
        meter = Meter()
        try:
            while self.at.step < self.config.optim.steps and not self._stopped_early():
                found = self._step()
                meter.add(found)
                self._tell(meter, log, timing, curves, progress)
                due = self._due(log, curves, progress)
                if self.team.largest(interrupt.asked):
                    self._save(log)
                    progress.say(f"interrupted after step {self.at.step:,}; the same command goes on from there")
                    return 130
                if due:
                    self._save(log)
        finally:
            curves.close()
        progress.say(f"finished: {self.folder.folder / 'best.json'} names the best policy")
        return 0

    def _step(self) -> dict[str, float]:
        """One step of the optimiser."""
        first = self.feed.position + self.team.rank * self.feed.batch
        batch = targets.make(
            self.task, next(self.feed), self.config.targets, seed=self.config.run.seed, first=first, threads=1
        )
        weight = losses.total_weight(batch, self.config.targets)
        whole = self.team.total([weight])[0]
        loss, right, live = 0.0, 0, 0
        parts = self._parts(batch)
        for i, part in enumerate(parts):
            # Engines average gradients over ranks; the loss is an average over all actions of all ranks.
            divisor = max(whole, 1.0) / self.team.world
            value, logits = self.engine.run(
                partial(losses.sft_loss, self.policy, self.task, part, self.config.targets, divisor)
            )
            self.engine.backward(value, last=i + 1 == len(parts))
            with torch.no_grad():
                hits, asked = losses.accuracy(logits[:, :1], torch.from_numpy(part.optimal[:, :1]).to(logits.device))
            loss, right, live = loss + float(value.detach()), right + int(hits), live + int(asked)
        norm = self.engine.step(schedule(self.config.optim, self.at.step))
        self._watch_for_nan(norm)
        self.at.step += 1
        self.at.states += self.config.optim.batch
        loss, right_, live_ = self.team.total([loss / self.team.world, float(right), float(live)])
        return {"loss": loss, "right": right_, "live": live_, "norm": norm}

    def _parts(self, batch: Targets) -> list[Targets]:
        """As many micro-batches on every rank, however many rows it got: a missing one weighs nothing."""
        size = self.config.optim.micro_batch or len(batch)
        parts = [batch[begin : begin + size] for begin in range(0, len(batch), size)]
        return parts + [targets.nothing(batch)] * (self.parts - len(parts))

    def _watch_for_nan(self, norm: float) -> None:
        if math.isfinite(norm):
            self.at.skipped = 0
            return
        self.at.skipped += 1
        if self.at.skipped >= PATIENCE_WITH_NAN:
            raise Diverged(f"step {self.at.step}: {self.at.skipped} gradients in a row were not finite; lower optim.lr")

    def _tell(self, meter: Meter, log: Log, timing: Log, curves: Curves, progress: Progress) -> None:
        """Log every few steps."""
        if self.at.step % self.config.run.log_every and self.at.step < self.config.optim.steps:
            return
        found = meter.take()
        values = {
            "step": self.at.step,
            "states": self.at.states,
            "epoch": round(self.at.states / self.feed.total, 4),
            "lr_scale": schedule(self.config.optim, self.at.step - 1),
            **found,
        }
        pace = meter.pace(self.config.optim.batch)
        tokens = pace["states_per_s"] * self.policy.tokens(self.task, self.dataset.recipe.size)
        log.add(values)
        timing.add({"step": self.at.step, **pace, "tokens_per_s": round(tokens, 1)})
        curves.add(self.at.step, {**found, "states_per_s": pace["states_per_s"]}, "sft")
        progress.show(self.at.step, pace["states_per_s"], tokens, found["loss"])

    def _due(self, log: Log, curves: Curves, progress: Progress) -> bool:
        """Validate if it is time to; is it time for a checkpoint?"""
        last = self.at.step == self.config.optim.steps
        if self.at.skipped:
            return last  # weights that may not be finite are neither judged nor kept
        validated = self.at.step % self.config.validation.every == 0 or last
        if validated and self.instances is not None:
            found = validate.measure(self.policy, self.task, self.instances, self.config.validation, self.engine)
            log.add({"step": self.at.step, "validation": found})
            curves.add(self.at.step, found, "validation")
            progress.say(f"step {self.at.step:,}  validation: {summary(found)}")
            score = list(validate.score(found))
            better = not self.at.best or score > self.at.best["score"]
            self.at.stale = 0 if better else self.at.stale + 1
            if better:
                self.at.best = {"step": self.at.step, "score": score, "validation": found}
        elif self.instances is None:
            self.at.best = {"step": self.at.step, "score": [], "validation": None}
        return last or validated or self.at.step % self.config.run.save_every == 0 or self._stopped_early()

    def _stopped_early(self) -> bool:
        return 0 < self.config.validation.patience <= self.at.stale

    def _save(self, log: Log) -> None:
        def write(folder: Path) -> None:
            self.engine.save(folder)
            with self.engine.whole(self.policy):
                if self.team.lead:
                    self.policy.save_pretrained(folder / "policy")
            (folder / f"random-{self.team.rank}.json").write_text(json.dumps(state.capture()), encoding="utf-8")
            if self.team.lead:
                rest = {"at": vars(self.at), "feed": self.feed.state_dict(), "log": log.size()}
                (folder / "state.json").write_text(json.dumps(rest), encoding="utf-8")

        if self.at.skipped:
            return  # weights of a step that was not finite are never kept
        made = self.folder.checkpoints.save(self.at.step, write, lead=self.team.lead, barrier=self.team.barrier)
        if not self.at.best:
            self.at.best = {"step": self.at.step, "score": [], "validation": None}
        if self.team.lead:
            self._point_to_best(made)
            self.folder.checkpoints.prune(self.config.run.keep, {self.at.best["step"]})

    def _point_to_best(self, made: Checkpoint) -> None:
        policy = f"checkpoints/step-{self.at.best['step']:08d}/policy"
        if (self.folder.folder / policy).is_dir():
            self.folder.write("best.json", {**self.at.best, "policy": policy, "last": made.folder.name})

    def _resume(self, log: Log) -> None:
        newest = self.folder.checkpoints.newest(self._say)
        if newest is None:
            log.cut(0)
            return
        kept = json.loads((newest.folder / "state.json").read_text(encoding="utf-8"))
        self.engine.load(newest.folder)
        self.at = Progressed(**kept["at"])
        self.feed.load_state_dict(kept["feed"])
        log.cut(kept["log"])
        state.restore(json.loads((newest.folder / f"random-{self.team.rank}.json").read_text(encoding="utf-8")))
        self._say(f"going on after step {newest.step:,}")

    def _say(self, text: str) -> None:
        if not self.quiet:
            sys.stderr.write(text + "\n")

    def _introduction(self) -> str:
        trained = sum(p.numel() for p in self.policy.parameters() if p.requires_grad)
        whole = sum(p.numel() for p in self.policy.parameters())
        lora = [n for n, p in self.policy.backbone.model.named_parameters() if p.requires_grad and "lora_" in n]
        adapter = f", {len(lora)} of them LoRA matrices matching {self.policy.backbone.lora_targets}" if lora else ""
        tensors = sum(1 for p in self.policy.parameters() if p.requires_grad)
        return (
            f"training {trained:,} of {whole:,} parameters ({tensors} tensors{adapter}) on {self.feed.total:,} states, "
            f"{self.team.world} x {self.team.device}, {torch.get_num_threads()} threads"
        )


class Meter:
    """Means since the last line, and the pace."""

    def __init__(self) -> None:
        self._found: list[dict[str, float]] = []
        self._wall, self._cpu, self._count = time.monotonic(), time.process_time(), 0

    def add(self, found: dict[str, float]) -> None:
        """One step."""
        self._found.append(found)

    def take(self) -> dict[str, float]:
        """Means of the steps since the last call."""
        found, self._found = self._found, []
        self._count = len(found)
        return {
            "loss": round(sum(f["loss"] for f in found) / len(found), 6),
            "optimal": round(sum(f["right"] for f in found) / max(sum(f["live"] for f in found), 1), 4),
            "gradient_norm": round(sum(f["norm"] for f in found) / len(found), 5),
        }

    def pace(self, batch: int) -> dict[str, float]:
        """Since the last call."""
        wall, cpu = time.monotonic() - self._wall, time.process_time() - self._cpu
        self._wall, self._cpu = time.monotonic(), time.process_time()
        states = self._count * batch
        return {"wall_s": round(wall, 4), "cpu_s": round(cpu, 4), "states_per_s": round(states / max(wall, 1e-9), 1)}


def summary(found: dict[str, Any]) -> str:
    """A validation in one line."""
    rates = "  ".join(
        f"h={depth}: {100 * rate:.1f}% at {found['actions'][depth]:.0f}" for depth, rate in found["solved"].items()
    )
    return f"solved {rates}  optimal {100 * found['optimal']:.1f}%  loss {found['loss']:.4f}"


if __name__ == "__main__":
    # The program is the command line's, which no module here may import; the launcher of DeepSpeed starts modules.
    sys.exit(import_module("recommit.cli").main(["train", "sft", *sys.argv[1:]]))
