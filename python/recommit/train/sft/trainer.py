"""The supervised warm start: ``recommit train sft``, or ``deepspeed ... --module recommit.train.sft`` with its flags.

One step: a batch of labelled states from the data sets (``data/loading.py``), their optimal actions (``targets.py``),
one pass of the policy, and the loss over all admissible commitments at once. A plan is trained together with its
prefixes, since every depth commits to a prefix of one plan. Differences from usual behaviour cloning: soft targets
maximise the total probability of all optimal actions, and ``paths: resample`` draws a new optimal path at every visit
of a state. The depth head gets no target and no gradient: only GRPO trains it.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import recommit.data
from recommit import rng
from recommit.data import loading
from recommit.data.dataset import Dataset
from recommit.data.spec import set_names
from recommit.policy.backbones.backbone import given_backbone, given_class
from recommit.policy.backbones.conv import ConvBackbone
from recommit.policy.checkpoint import weights_of
from recommit.policy.policy import CommitPolicy
from recommit.policy.tensors import to_device, to_host
from recommit.policy.vision import group
from recommit.runs import process
from recommit.runs.directory import recipes_of
from recommit.storage.schema import refuse
from recommit.train import initial_policy, validation
from recommit.train.config import plain
from recommit.train.optim import lr_schedule
from recommit.train.sft import loss, targets
from recommit.train.sft.dagger import Episodes
from recommit.train.trainer import Trainer, make_engine, opened_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from recommit.data.loading import Portion
    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle
    from recommit.runs.directory import RunDirectory
    from recommit.runs.distributed import Team
    from recommit.train.config import SftConfig, TargetConfig
    from recommit.train.sft.targets import Targets


def train(
    config: SftConfig,
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    init: str | Path | None = None,
    backbone: str | Path | None = None,
    backbone_class: Any = None,
    trackers: Mapping[str, str] | None = None,
    puzzles: Sequence[str] = (),
    quiet: bool = False,
) -> int:
    """Run or resume a warm start on one data set or several; returns 0 when finished and 130 when interrupted.

    ``init`` is a run (its best policy is used) or a saved policy to start from, instead of ``config.model``;
    ``backbone`` is the place of one that is neither listed nor random; ``backbone_class`` loads one of no known family;
    ``trackers`` maps wandb and trackio to a project; ``puzzles`` are the allowed ones (default: all).
    """
    datasets = opened(data, init)
    initial_policy.refuse_others([dataset.spec for dataset in datasets], puzzles)
    given = given_backbone(backbone, backbone_class)
    with given, opened_run(config, out, trackers or {}) as (team, folder, interrupt):
        begun = {"kind": "sft", "ranks": team.world, **plain(config), "data": described(datasets)}
        begin, found = initial_policy.warm_start(init, folder, team) if init else None, None
        if begin is not None:
            begun["init"] = weights_of(begin)
        else:
            found = initial_policy.place_of(config.model, folder, team, backbone)
            begun |= {"commit": found[1]} if found[1] else {}
            begun |= {"backbone_class": own.__name__} if (own := given_class()) else {}
        folder.begin(begun)
        quiet = quiet or not team.is_main_process
        with closing(SftTrainer(config, datasets, folder, team, begin=begin, found=found, quiet=quiet)) as run:
            run.trackers = trackers or {}
            return run.run(interrupt)


def opened(data: str | Path | Sequence[str | Path], init: str | Path | None = None) -> list[Dataset]:
    """Open the data sets to train on; refuses duplicates, and splits unlike each other's or those of ``init``."""
    folders = [data] if isinstance(data, str | Path) else list(data)
    datasets = [recommit.data.open(folder, "train") for folder in folders]
    if not datasets:
        raise ValueError("data: expected at least one data set, got none")
    contents = [dataset.manifest.content for dataset in datasets]
    for dataset in datasets:
        if (times := contents.count(dataset.manifest.content)) > 1:
            raise ValueError(f"data: expected each data set once, got {dataset.folder} {times} times")
    specs = [dataset.spec for dataset in datasets]
    with suppress(ValueError):  # a policy without its run has no recipes
        specs = [*(recipes_of(init) if init else []), *specs]
    _refuse_leaks(specs)
    return datasets


def _refuse_leaks(specs: Sequence[DataSpec]) -> None:
    """Refuse sets of one puzzle and size with different splits: test instances of one may be training data of
    another."""
    ways: dict[str, str] = {}
    for spec in specs:
        name = f"{spec.task}-{spec.size[0]}x{spec.size[1]}"
        if not spec.published and ways.setdefault(name, spec.disjoint) != spec.disjoint:
            raise ValueError(
                f"data: expected sets of {name} with one disjoint, since each has splits of its own, got "
                f"{ways[name]} and {spec.disjoint} (recommit data build --disjoint {ways[name]} makes another)"
            )


def described(datasets: Sequence[Dataset]) -> dict[str, Any] | list[dict[str, Any]]:
    """The data's entry in a run's configuration; a list for several sets."""
    each = [{"content_sha256": d.manifest.content, "recipe": d.spec.to_dict()} for d in datasets]
    return each if each[1:] else each[0]


def _refuse_idle(config: TargetConfig, task: Puzzle, name: str, most: int) -> None:
    """Refuse dense or DAgger targets that would have no effect, for a data set with at most ``most`` rows per batch."""
    rows, cols = task.shape
    many, least = targets.dense(task) and config.dense >= rows * cols, f"--set targets.dagger={1 / most:.3g}"
    one = f"0, or one at least of the {most} states that a rank takes of {name} in a step ({least}), or a larger batch"
    refuse(
        (many, "targets.dense", f"at most {rows * cols - 1}, the other cells of {name}", config.dense),
        (config.dagger and not round(config.dagger * most), "targets.dagger", one, config.dagger),
    )


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch of data set ``number``."""

    number: int
    task: Puzzle
    batch: Targets


class SftTrainer(Trainer):
    """Imitation of exact labels, for all admissible depths of a state in one pass."""

    kind = "sft"
    config: SftConfig

    def __init__(
        self,
        config: SftConfig,
        data: Dataset | Sequence[Dataset],
        folder: RunDirectory,
        team: Team,
        *,
        begin: Path | None = None,
        found: tuple[Path, str] | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__(config, folder, team, quiet=quiet)
        self.datasets = [data] if isinstance(data, Dataset) else list(data)
        recipes = [dataset.spec for dataset in self.datasets]
        self.tasks, self.names = [recipe.puzzle() for recipe in recipes], set_names(recipes)
        share, rest = divmod(config.optim.batch, team.world)
        if rest:
            raise ValueError(f"optim.batch: expected a multiple of {team.world} ranks, got {config.optim.batch}")
        self.feed = loading.Mixture(
            self.datasets, share, weights=config.mix, seed=config.run.seed, rank=team.rank, world=team.world
        )
        for each in zip(self.tasks, self.names, self.feed.most, strict=True):
            _refuse_idle(config.targets, *each)
        #: Micro-batches per step by data set, the same on every rank.
        self.micro_batches = [-(-most // (config.optim.micro_batch or most)) for most in self.feed.most]
        #: Threads for labelling states: one, unless configured.
        self.labellers = max(config.run.threads, 1)
        #: The policy's own episodes by data set; only with ``targets.dagger``.
        self.episodes: list[Episodes] = [
            Episodes(recipe, round(config.targets.dagger * most), config.targets.budget, self.labellers)
            for recipe, most in zip(recipes, self.feed.most, strict=True)
            if config.targets.dagger
        ]
        process.seed_everything(config.run.seed)
        if begin is not None:
            self.policy = CommitPolicy.from_pretrained(begin, device=team.device)
        else:
            self.policy = initial_policy.new_policy(config.model, folder.folder, config.run.seed, team, found)
        self.config = replace(config, targets=config.targets.of(self.policy.config))
        initial_policy.note_puzzles(self.policy, recipes)
        self.policy.train_only(*self.tasks, depth_head=False)
        if isinstance(backbone := self.policy.backbone, ConvBackbone):
            backbone.early = backbone.rounds > 1
        self.policy.train()
        self.policy.vision.together = group(min(max(self.feed.most), config.optim.micro_batch or config.optim.batch))
        #: Data sets whose micro-batches share a pass.
        self.groups = self.policy.together(self.tasks)
        passes = sum(max(self.micro_batches[number] for number in numbers) for numbers in self.groups)
        self.engine = make_engine(self.policy, config.optim, config.engine, team, passes)
        process.seed_everything(config.run.seed + team.rank)  # ranks share initial weights, but not dropout masks
        pairs = zip(self.names, recipes, strict=True)
        length = self.policy.config.plan_length
        self.validation_tasks = [
            each
            for pair in pairs
            for each in validation.tasks_of(*pair, config.validation, length, budget=config.targets.budget)
        ]

    def state_dict(self) -> dict[str, Any]:
        """See ``Trainer``."""
        return {"feed": self.feed.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See ``Trainer``."""
        self.feed.load_state_dict(state["feed"])

    def _step(self) -> dict[str, Any]:
        batches = list(map(self._targets, self.tasks, next(self.feed), self.episodes or repeat(None)))
        weights = self.team.all_reduce_sum([loss.total_weight(batch, self.config.targets) for batch in batches])
        # Engines average gradients over ranks; the loss is an average over all actions of all data sets and ranks.
        divisor = max(sum(weights), 1.0) / self.team.world
        passes, measured = self._split(batches), []
        for parts in passes:
            value, *own = self.engine.run(partial(self._loss, parts, divisor))
            self.engine.backward(value)
            measured += own
        norm = self.engine.step(lr_schedule(self.config.optim, self.state.step))
        self._watch_for_nan(norm)
        self._follow(batches)
        self.state.step += 1
        self.state.states += self.config.optim.batch
        return {**self._sums([*chain(*passes)], torch.stack(measured), weights), "norm": norm}

    def _targets(self, task: Puzzle, portion: Portion, episodes: Episodes | None) -> Targets:
        """The targets of a data set's part of a batch; if that is empty, one state of weight 0, so that all ranks run
        the same passes and every trained weight gets a gradient."""
        config, seed = self.config.targets, self.config.run.seed
        among, length = episodes.among if episodes else None, self.policy.config.plan_length
        batch = targets.make(
            task,
            portion.rows,
            config,
            seed=seed,
            first=portion.first,
            length=length,
            among=among,
            threads=self.labellers,
        )
        return batch if portion.count else targets.nothing(batch)

    def _follow(self, batches: list[Targets]) -> None:
        """Advance every DAgger episode by one commitment."""
        seed, most = self.config.run.seed, max(self.feed.most)
        for number, (episodes, batch) in enumerate(zip(self.episodes, batches, strict=bool(self.episodes))):
            rank = (self.state.step * len(batches) + number) * self.team.world + self.team.rank
            stream = rng.streams(seed, rng.Purpose.OWN_STATES, rank * most + np.arange(most))
            episodes.follow(self.policy, self.engine, batch, stream)

    def _split(self, batches: list[Targets]) -> list[list[MicroBatch]]:
        """The micro-batches of each pass, equally many on every rank: missing ones are filled with a state of weight
        0."""
        parts = []
        for number, (task, batch) in enumerate(zip(self.tasks, batches, strict=True)):
            size = self.config.optim.micro_batch or len(batch)
            own = [batch[begin : begin + size] for begin in range(0, len(batch), size)]
            own += [targets.nothing(batch)] * (self.micro_batches[number] - len(own))
            parts.append([MicroBatch(number, task, each) for each in own])
        rows = (zip_longest(*(parts[number] for number in numbers)) for numbers in self.groups)
        return [[part for part in row if part] for every in rows for row in every]

    def _loss(self, parts: list[MicroBatch], divisor: float) -> tuple[Tensor, ...]:
        """The total loss of a pass, and ``_measured`` of each micro-batch."""
        with self.policy.encoded([(part.task, part.batch.states, part.batch.remaining) for part in parts]):
            found = [loss.sft_loss(self.policy, part.task, part.batch, self.config.targets, divisor) for part in parts]
        measured = (_measured(*each, part.batch) for each, part in zip(found, parts, strict=True))
        return sum((value for value, _ in found[1:]), start=found[0][0]), *measured

    def _sums(self, parts: list[MicroBatch], measured: Tensor, weights: list[float]) -> dict[str, Any]:
        """Sums of ``_measured`` over the micro-batches of all ranks: in total, and by data set."""
        (each,) = to_host(measured)
        sums = np.zeros((len(self.tasks), 3))
        for part, values in zip(parts, each.astype(np.float64), strict=True):
            sums[part.number] += values
        sums[:, 0] /= self.team.world
        every = np.reshape(self.team.all_reduce_sum(sums.ravel().tolist()), sums.shape)
        loss, right, live = every.sum(axis=0).tolist()
        together = {"loss": loss, "right": right, "live": live}
        if len(every) == 1:
            return together
        own = np.column_stack([every[:, 0] * sum(weights), weights, every[:, 1:]])
        return {**together, "sets": dict(zip(self.names, own.tolist(), strict=True))}

    def _summary(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        line = {
            "epoch": round(self.state.states / self.feed.total, 4),
            "loss": round(sum(f["loss"] for f in steps) / len(steps), 6),
            "optimal": round(sum(f["right"] for f in steps) / max(sum(f["live"] for f in steps), 1), 4),
            "gradient_norm": round(sum(f["norm"] for f in steps) / len(steps), 5),
        }
        own = {name: _rates([f["sets"][name] for f in steps]) for name in steps[0].get("sets", ())}
        return {**line, "sets": own} if own else line

    def _introduction(self) -> str:
        of = f" of {', '.join(self.names)}, {':'.join(map(str, self.feed.weights))}" if self.names[1:] else ""
        return f"{initial_policy.described(self.policy, self.team)}, on {self.feed.total:,} states{of}"


def _rates(steps: list[list[float]]) -> dict[str, float]:
    """A data set's loss per action, and its share of optimal first actions."""
    loss, weight, right, live = np.sum(steps, axis=0)
    return {"loss": round(float(loss / max(weight, 1)), 6), "optimal": round(float(right / max(live, 1)), 4)}


@torch.no_grad()
def _measured(value: Tensor, logits: Tensor, part: Targets) -> Tensor:
    """A micro-batch's loss, number of states with an optimal first action predicted, and number that have one; left on
    the device, since reading it waits for the whole queue."""
    right, live = loss.accuracy(logits[:, :1], to_device(part.optimal[:, :1], logits.device))
    return torch.stack([each.float() for each in (value, right[0], live[0])])
