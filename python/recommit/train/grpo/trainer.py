"""GRPO on one puzzle or jointly on several: each plays and is scored as it would be alone, and every optimizer step
follows the mean of their losses.

A step goes from rollouts (``rollout.py``) to advantages (``advantages.py``), whose batch (``batch.py``) is divided into
optimizer steps on the clipped loss of both heads (``loss.py``). With ``exact`` advantages the depth head may be updated
alone besides, many times on the same graph (``depth_head_optimizer.py``).

What differs from textbook GRPO, and why: a commitment has two heads, so depths and plans have advantages and ratios of
their own; groups are commitments of one state rather than answers to one prompt, since a state can be copied; KL and
entropies are exact sums over four outcomes; and exact values need no group at all, since greedy plans make episodes
walks in a graph.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from recommit import rng
from recommit.data.assignment import learnable
from recommit.data.spec import set_names
from recommit.graph.build import PolicyGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.backbones.backbone import given_backbone
from recommit.policy.checkpoint import weights_of
from recommit.policy.policy import CommitPolicy
from recommit.policy.reference import ReferencePolicy
from recommit.policy.tensors import to_device, to_host
from recommit.policy.vision import group
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs import process
from recommit.storage.errors import NeedsFlag
from recommit.storage.files import file_sha256
from recommit.storage.schema import refuse
from recommit.train import initial_policy, validation
from recommit.train.config import plain
from recommit.train.grpo import advantages, loss, metrics, rollout
from recommit.train.grpo.batch import micro_batches, optimizer_steps
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.grpo.reward import OwnReward, own_reward
from recommit.train.optim import lr_schedule
from recommit.train.sft.trainer import opened
from recommit.train.trainer import Trainer, make_engine, opened_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.variants import Variant
    from recommit.runs.directory import RunDirectory
    from recommit.runs.distributed import Team
    from recommit.train.grpo.batch import GrpoBatch, Rows
    from recommit.train.grpo.config import GrpoConfig, ObjectiveConfig
    from recommit.train.grpo.metrics import Signals
    from recommit.train.grpo.reward import Spans
    from recommit.train.validation import ValidationTask

T = TypeVar("T")


def train(
    config: GrpoConfig,
    init: str | Path,
    out: str | Path,
    *,
    data: str | Path | Sequence[str | Path] | None = None,
    reward: str | Path | None = None,
    backbone: str | Path | None = None,
    backbone_class: Any = None,
    trackers: Mapping[str, str] | None = None,
    puzzles: Sequence[str] = (),
    quiet: bool = False,
) -> int:
    """Run, or go on with, a GRPO run; 0 when it is finished and 130 when it was interrupted.

    ``init`` is a run (its best policy is taken) or a saved policy; instances are made by the recipes of the data that
    it was trained on, or of ``data``. Where these are of several puzzles, ``config.tasks`` says which. ``reward`` is a
    file of Python, which is run, ``backbone`` the place of one that is neither listed nor random, ``backbone_class``
    what reads one of no family, ``trackers`` the project of wandb and of trackio, ``puzzles`` what instances may be of.
    """
    every = [each.spec for each in opened(data, init)] if data else initial_policy.recipes(init, Path(out))
    specs = initial_policy.chosen(every, config.tasks, data or init)
    initial_policy.refuse_others(specs, puzzles)
    check_puzzles(config, specs)
    scored = own_reward(reward) if reward else None  # before anything is trained
    given = given_backbone(backbone, backbone_class)
    with given, opened_run(config, out, trackers or {}) as (team, folder, interrupt):
        begin = initial_policy.warm_start(init, folder, team)
        content = [{"recipe": spec.to_dict()} for spec in specs]
        begun: dict[str, Any] = {"init": weights_of(begin), "data": content if content[1:] else content[0]}
        begun |= {"reward": file_sha256(Path(reward))} if reward else {}
        if not reward and "reward" in (folder.read("config.json") or {}):
            raise NeedsFlag("reward: expected the file by whose rewards the run was begun, got none", "--reward FILE")
        folder.begin({"kind": "grpo", "ranks": team.world, **plain(config), **begun})
        policy = CommitPolicy.from_pretrained(begin, device=team.device)
        initial_policy.note_puzzles(policy, specs)
        quiet = quiet or not team.is_main_process
        with closing(GrpoTrainer(config, specs, policy, folder, team, reward=scored, quiet=quiet)) as run:
            run.trackers = trackers or {}
            return run.run(interrupt)


def check_puzzles(config: GrpoConfig, specs: list[DataSpec]) -> None:
    """Refuse a configuration that several puzzles cannot share: they are validated together, and a depth head would be
    updated for each in turn."""
    if not specs[1:]:
        return
    several, batch, usual = f"with {len(specs)} puzzles", config.optim.batch, config.validation.every
    refuse((batch % len(specs), "optim.batch", f"a multiple of {len(specs)} puzzles", batch))
    for spec in specs:
        every, name = config.of(spec.task).validation.every, f"by_task.{spec.task}.validation.every"
        refuse((every != usual, name, f"{usual}, as validation.every, {several}", every))
    for i, phase in enumerate(config.phases):
        refuse((phase.head_updates, f"phases[{i}].head_updates", f"0 {several}", phase.head_updates))


@dataclass(frozen=True)
class TrainedPuzzle:
    """One puzzle of a run."""

    name: str
    #: The recipe of its start states, with those of a step as a shard.
    spec: DataSpec
    #: With the puzzle's own values.
    config: GrpoConfig
    actor: Actor
    objective: ObjectiveConfig
    starts: rollout.NextStarts

    @property
    def task(self) -> Puzzle:
        """Its rules."""
        return self.actor.task


@dataclass(frozen=True)
class Part:
    """A micro-batch of a puzzle."""

    puzzle: TrainedPuzzle
    batch: GrpoBatch

    @property
    def seen(self) -> tuple[Puzzle, NDArray[np.uint8], NDArray[np.int64]]:
        """What a pass reads."""
        return self.puzzle.task, self.batch.states, self.batch.remaining

    def played(self, device: torch.device) -> tuple[Any, ...]:
        """Arguments of a policy for teacher forcing."""
        actions, depths = (to_device(each, device) for each in (self.batch.actions, self.batch.plan_depth))
        return self.puzzle.task, self.batch.states, actions, depths, self.batch.remaining


class GrpoTrainer(Trainer):
    """One policy and one engine for all puzzles of a run."""

    kind = "grpo"
    steps_between_trims = 5
    config: GrpoConfig

    def __init__(
        self,
        config: GrpoConfig,
        specs: list[DataSpec],
        policy: CommitPolicy,
        folder: RunDirectory,
        team: Team,
        *,
        reward: Callable[[Spans], Any] | None = None,
        quiet: bool,
    ) -> None:
        super().__init__(config if specs[1:] else config.of(specs[0].task), folder, team, quiet=quiet)
        self.reward = reward
        self.policy, self.variant = policy, variant(config.variant)
        optim, seed, head = self.config.optim, self.config.run.seed, self.config.head
        if head is not None or self.config.depths:
            policy.replace_head(head or policy.config.head, seed=seed, depths=self.config.depths)
        process.seed_everything(seed)
        seeds = [rng.derived_seed(seed, rng.Purpose.GAME, i) for i in range(len(specs))] if specs[1:] else [seed]
        self.puzzles = list(map(self._puzzle, set_names(specs), specs, seeds))
        freeze(self.policy, self.variant, [puzzle.task for puzzle in self.puzzles])
        any_kl = any(puzzle.objective.kl > 0 for puzzle in self.puzzles)
        self.reference = ReferencePolicy(policy) if any_kl else None
        #: Of one puzzle in an optimizer step: rows of all ranks, of this one, and of a micro-batch.
        self.rows = optim.batch // len(specs)
        self.share = -(-self.rows // team.world)
        self.micro_batch = optim.micro_batch or self.share
        policy.vision.together = group(max(puzzle.config.rollout.instances for puzzle in self.puzzles) // team.world)
        #: Puzzles whose micro-batches share a pass.
        self.groups = policy.together([puzzle.task for puzzle in self.puzzles])
        passes = len(self.groups) * -(-self.share // self.micro_batch)
        self.engine = make_engine(policy, optim, self.config.engine, team, passes)
        length = policy.config.plan_length
        self.validation_tasks = [
            task
            for each, spec in zip(self.puzzles, specs, strict=True)
            for task in validation.tasks_of(
                each.name, spec, each.config.validation, length, budget=each.config.rollout.budget
            )
        ]
        #: The last lines of each puzzle, for warnings.
        self._recent: dict[str, list[dict[str, Any]]] = {each.name: [] for each in self.puzzles}

    def _puzzle(self, name: str, spec: DataSpec, seed: int) -> TrainedPuzzle:
        config, most = self.config.of(spec.task), self.team.all_reduce_max
        if self.reward is not None:
            config = replace(config, advantage=OwnReward(**vars(config.advantage), function=self.reward))
        _check(config, self.variant, self.policy, self.team)
        actor = Actor(self.policy, spec.puzzle(), self.variant, seed=seed, run_pass=self.run_pass, max_over_ranks=most)
        objective = config.objective
        if not self.variant.head:  # an unused depth head sends no gradient into the backbone
            objective = replace(objective, entropy_depth=0.0, kl_depth=False)
        spec = rollout.instances_of(spec, config)
        return TrainedPuzzle(name, spec, config, actor, objective, rollout.NextStarts(spec, config, seed))

    def close(self) -> None:
        """See ``Trainer``."""
        for puzzle in self.puzzles:
            puzzle.starts.close()
        super().close()

    def run_pass(self, work: Callable[[], T]) -> T:
        """Run ``work``, which goes through the policy, by the engine."""
        return self.engine.run(work)

    def _step(self) -> dict[str, Any]:
        """Every puzzle plays; then the policy learns from all of them."""
        step = self.state.step
        collected = [self.collect(puzzle, step) for puzzle in self.puzzles]
        batches = [batch for batch, _ in collected]
        self._refuse_empty(batches)
        self.state.states += sum(map(len, batches))
        if self.config.phase_at(step).head_only:
            batches = [batch.where(slice(0)) for batch in batches]
        measured, norms = self._learn(batches)
        self.state.step += 1
        return {
            puzzle.name: self._line(signals, own, norms)
            for puzzle, (_, signals), own in zip(self.puzzles, collected, measured, strict=True)
        }

    def collect(self, puzzle: TrainedPuzzle, step: int) -> tuple[GrpoBatch, Signals]:
        """The batch of a step, and its metrics, on every rank the same as in one process, but for rounding."""
        actor, config = puzzle.actor, puzzle.config
        starts = puzzle.starts.of(step)
        if config.advantage.estimator != "exact":
            sampled = rollout.sample(actor, config, starts, step, self.team)
            batch, signals = advantages.of_samples(actor, config, sampled, step, self.team)
            return batch.where(np.flatnonzero(learnable(puzzle.spec, batch.states))), signals
        graph, phase = self._graph(puzzle), config.phase_at(step)
        roots = rollout.explore(actor, config, graph, starts)
        prices = config.prices_at(step)
        learned = np.zeros(len(graph), bool)
        learned[graph.rows] = learnable(puzzle.spec, graph.states[graph.rows])
        evaluation = PolicyEvaluation(graph, roots, config.rollout.budget, prices, phase.budgets, learned)
        if phase.head_updates:
            DepthHeadOptimizer(self.policy, self.engine, config, step)(evaluation)
        return advantages.of_graph(actor, config, evaluation, roots, step, self.team)

    def _graph(self, puzzle: TrainedPuzzle) -> PolicyGraph:
        """A new, empty graph of greedy plans for the depths of the variant."""
        depths = (self.variant.depth,) if self.variant.depth else self.policy.config.depths
        keep = any(phase.head_updates for phase in puzzle.config.phases)
        return PolicyGraph(
            self.policy,
            puzzle.task,
            depths,
            run_pass=self.run_pass,
            team=self.team,
            together=self.engine.equal_passes,
            keep_inputs=keep,
        )

    def _refuse_empty(self, batches: list[GrpoBatch]) -> None:
        """Refuse a step in which a puzzle has nothing to learn from, on every rank alike: every optimizer step goes
        through states of all puzzles. With exact values nothing is learned where no start can be solved."""
        several = bool(self.puzzles[1:])
        for puzzle, batch in zip(self.puzzles, batches, strict=True):
            if not len(batch) and (several or puzzle.config.advantage.estimator == "exact"):
                budget, task = puzzle.config.rollout.budget, f"by_task.{puzzle.spec.task}: " * several
                raise ValueError(
                    f"rollout.budget: expected states of {puzzle.name} to learn from in step {self.state.step + 1}, "
                    f"got none: no start of it can be solved in {budget} decisions; give it a larger budget or shorter "
                    f"instances ({task}rollout.budget, rollout.length)"
                )

    def _learn(self, batches: list[GrpoBatch]) -> tuple[list[list[Tensor]], list[float]]:
        """The optimizer steps on some batches; what was measured by puzzle, and the norms of the gradients."""
        seeds = [puzzle.actor.seed for puzzle in self.puzzles]
        portions = optimizer_steps(batches, self.rows, seeds, self.state.step)
        batches = self._recompute_old(batches, portions)
        scale = lr_schedule(self.config.optim, self.state.step)
        measured: list[list[Tensor]] = [[] for _ in batches]
        norms: list[float] = []
        for i, rows in enumerate(zip(*portions, strict=True)):
            for numbers in self.groups:
                for number, found in zip(numbers, self._backward(numbers, batches, rows, fresh=i == 0), strict=True):
                    measured[number].append(found)
            norms.append(self.engine.step(scale))
            self._watch_for_nan(norms[-1])
        return measured, norms

    def _passes(self, numbers: list[int], batches: list[GrpoBatch], rows: Sequence[Rows]) -> Iterator[list[Part]]:
        """The micro-batches of some puzzles that share each pass of an optimizer step."""
        every = (micro_batches(batches[n], rows[n], self.team, self.share, self.micro_batch) for n in numbers)
        for parts in zip(*every, strict=True):
            yield [Part(self.puzzles[number], part) for number, part in zip(numbers, parts, strict=True)]

    def _recompute_old(self, batches: list[GrpoBatch], portions: list[list[Rows]]) -> list[GrpoBatch]:
        """With old log probabilities by the passes that will learn from ``portions``, but for the first, whose ratios
        are 1 by construction. In bfloat16 those of sampling may differ by more than half of the paper's clip, since
        batches and kernels are others; in float32 by 2e-6, which needs no mending."""
        if not portions[0][1:] or next(self.policy.backbone.model.parameters()).dtype == torch.float32:
            return batches
        old = [(batch.depth_old.copy(), batch.action_old.copy()) for batch in batches]
        for rows in list(zip(*portions, strict=True))[1:]:
            for numbers in self.groups:
                passes = self._passes(numbers, batches, rows)
                found = [to_host(*self.run_pass(partial(self._old, parts))) for parts in passes]
                columns = [np.concatenate(each) for each in zip(*found, strict=True)]
                for number, *new in zip(numbers, columns[::2], columns[1::2], strict=True):
                    mine = rows[number][self.team.rank :: self.team.world]
                    for values, each in zip(old[number], new, strict=True):
                        values[mine] = each[: len(mine)]
        return [replace(b, depth_old=d, action_old=a) for b, (d, a) in zip(batches, old, strict=True)]

    def _old(self, parts: list[Part]) -> list[Tensor]:
        """Log probabilities of depths and of actions, of each part."""
        with self.policy.encoded([part.seen for part in parts]):
            return [each for part in parts for each in loss.old_log_probs(self.policy, part.puzzle.task, part.batch)]

    def _backward(
        self, numbers: list[int], batches: list[GrpoBatch], rows: Sequence[Rows], *, fresh: bool
    ) -> list[Tensor]:
        """Add the gradient of some states of all ranks, as their mean divided by the number of puzzles;
        ``loss.MEASURES`` of each micro-batch of this rank, by puzzle, still on the device."""
        weights = [len(self.puzzles) * loss.total_weight(batches[number].where(rows[number])) for number in numbers]
        divisors, measured = [max(weight, 1e-12) / self.team.world for weight in weights], []
        for parts in self._passes(numbers, batches, rows):
            of_start = self.reference_logits(parts)
            value, *measures = self.run_pass(partial(self._loss, parts, divisors, of_start, fresh=fresh))
            self.engine.backward(value)
            measured.append(measures)
        return [torch.stack(each) for each in zip(*measured, strict=True)]

    def _loss(
        self, parts: list[Part], divisors: list[float], of_start: list[Any], *, fresh: bool
    ) -> tuple[Tensor, ...]:
        """The loss of a pass, and ``loss.MEASURES`` of each part."""
        with self.policy.encoded([part.seen for part in parts]):
            found = [
                loss.grpo_loss(
                    self.policy, part.puzzle.task, part.batch, part.puzzle.objective, divisor, logits, fresh=fresh
                )
                for part, divisor, logits in zip(parts, divisors, of_start, strict=True)
            ]
        return sum((value for value, _ in found[1:]), start=found[0][0]), *(measures for _, measures in found)

    def reference_logits(self, parts: list[Part]) -> list[tuple[Tensor, Tensor] | None]:
        """Those of the warm start, of each part; None without a KL to it."""
        reference = self.reference
        if reference is None or not parts[0].puzzle.objective.kl:
            return [None] * len(parts)

        def logits() -> list[tuple[Tensor, Tensor]]:
            with reference.encoded([part.seen for part in parts]):
                return [reference(*part.played(self.team.device)) for part in parts]

        return [*self.run_pass(logits)]

    def _line(self, signals: Signals, measured: list[Tensor], norms: list[float]) -> dict[str, Any]:
        """The metrics of a step, by what ``_backward`` measured: the only time that a step waits for the device."""
        sums = np.zeros(len(loss.MEASURES))
        if measured:
            (each,) = to_host(torch.stack(measured))
            sums = loss.totals(loss.totals(parts) for parts in each.astype(np.float64))
        over_ranks = [*self.team.all_reduce_sum(sums[:-1].tolist()), max(self.team.gather(float(sums[-1])))]
        named = dict(zip(loss.MEASURES, over_ranks, strict=True))
        mean = -named["surrogate"] / max(named["states"], 1e-9)
        return metrics.line_of(signals, {**named, "norm": float(np.mean(norms or [0.0])), "loss": mean})

    @torch.no_grad()
    def _measure(self, task: ValidationTask) -> dict[str, Any]:
        """The variant's own agents, and how well plans still imitate."""
        (puzzle,) = (puzzle for puzzle in self.puzzles if puzzle.name == task.name)
        imitated, config = validation.imitation(self.policy, task, self.engine), puzzle.config
        graph, budgets = self._graph(puzzle), config.validation.budgets
        return {**imitated, **validation.of_variant(graph, self.variant, task, budgets, config.last_prices)}

    def _summary(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        """The mean of the steps since the last log line; of several puzzles the mean of theirs, and each of them."""
        own = {}
        for name, recent in self._recent.items():
            lines = [step[name] for step in steps]
            recent[:] = (recent + lines)[-20:]
            own[name] = lines[-1] if len(lines) == 1 else metrics.averaged(lines)
            for warning in metrics.warnings(lines[-1], recent, len(self.policy.config.depths), head=self.variant.head):
                self.progress.say(f"step {self.state.step:,}: {warning}")
        lines = list(own.values())
        return {**metrics.averaged(lines), "sets": own} if lines[1:] else lines[0]

    def state_dict(self) -> dict[str, Any]:
        """See ``Trainer``."""
        return {"puzzles": self._recent}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See ``Trainer``."""
        self._recent = {each.name: state["puzzles"][each.name] for each in self.puzzles}

    def _introduction(self) -> str:
        each = "; ".join(f"{puzzle.name}: {puzzle.config.introduction}" for puzzle in self.puzzles)
        return f"{initial_policy.described(self.policy, self.team)}; {self.variant.name}; {each}"


def freeze(policy: CommitPolicy, own: Variant, tasks: list[Puzzle]) -> None:
    """Freeze what a variant does not train."""
    policy.eval()  # no dropout: what is compared must differ by its weights alone
    policy.train_only(*tasks, depth_head=own.head)
    vision = {id(p) for p in policy.backbone.vision_parameters()}
    for parameter in policy.parameters():
        if id(parameter) in vision or not own.rest:
            parameter.requires_grad_(False)
    if not own.rest:
        policy.depth_head.requires_grad_(True)


def _check(config: GrpoConfig, own: Variant, policy: CommitPolicy, team: Team) -> None:
    length, told = policy.config.plan_length, policy.config.budget_conditioned
    sizes, many = (config.optim.batch, config.rollout.instances), config.advantage.group_size
    branch, most = config.advantage.estimator == "branch", rollout.EPISODES // 2 // rollout.TURNS // many
    exact = "state, episode or branch with show_budget, since exact values give a state one plan at every budget"
    refuse(
        (told and config.advantage.estimator == "exact", "advantage.estimator", exact, "exact"),
        (own.depth > length, "variant", f"fixed-1 to fixed-{length}, as long as plans are", own.name),
        (
            any(size % team.world for size in sizes),
            "optim.batch and rollout.instances",
            f"multiples of {team.world} ranks",
            sizes,
        ),
        (branch and sizes[1] > most, "rollout.instances", f"at most {most} in groups of {many} with branch", sizes[1]),
        (
            branch and config.rollout.budget >= rollout.TURNS,
            "rollout.budget",
            "at most 63 with branch",
            config.rollout.budget,
        ),
    )
