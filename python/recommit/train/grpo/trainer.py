"""GRPO on one puzzle or jointly on several: each plays and is scored as it would be alone, and every optimizer step
follows the mean of their losses.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch.profiler import record_function

from recommit import rng
from recommit.data.spec import set_names
from recommit.policy import pretrained
from recommit.policy.backbones.backbone import given_backbone
from recommit.policy.checkpoint import weights_of
from recommit.policy.policy import CommitPolicy
from recommit.policy.reference import ReferencePolicy
from recommit.rollout.variants import variant
from recommit.runs import distributed, process
from recommit.runs.checkpoints import Checkpoints
from recommit.runs.directory import RunDirectory, of_tasks, recipes_of
from recommit.runs.process import configure_torch, preserved_torch_state
from recommit.runs.progress import Clock, Interrupt, refuse_missing
from recommit.runs.rank_watchdog import watched
from recommit.storage.errors import NeedsFlag
from recommit.storage.files import file_sha256
from recommit.train import initial_policy
from recommit.train.config import plain
from recommit.train.grpo import metrics
from recommit.train.grpo.puzzle import PuzzleLearner
from recommit.train.grpo.reward import OwnReward, own_reward
from recommit.train.optim import lr_schedule
from recommit.train.sft.trainer import opened
from recommit.train.trainer import Trainer, make_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle
    from recommit.runs.distributed import Team
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import GrpoConfig
    from recommit.train.grpo.reward import Spans
    from recommit.train.validation import ValidationTask


@preserved_torch_state()
def train(
    config: GrpoConfig,
    init: str | Path,
    out: str | Path,
    *,
    data: str | Path | Sequence[str | Path] | None = None,
    reward: str | Path | None = None,
    backbone: str | Path | None = None,
    trackers: Mapping[str, str] | None = None,
    tasks: tuple[str, ...] = (),
    quiet: bool = False,
) -> int:
    """Run, or go on with, a GRPO run; 0 when it is finished and 130 when it was interrupted.

    ``init`` is a run (its best policy is taken) or a saved policy; instances are made by the recipes of the data that
    it was trained on, or of ``data``. Where these are of several puzzles, ``config.tasks`` says which; other puzzles
    than ``tasks``, those of a recipe, are refused if there are any of these. ``reward`` is a file of Python, which is
    run, ``backbone`` the place of one that is neither listed nor random, ``trackers`` the project of wandb and of
    trackio.
    """
    refuse_missing(trackers or {})
    configure_torch(config.run.threads)
    every = [each.spec for each in opened(data)] if data else _recipes(init, Path(out))
    parts = puzzles_of(config, chosen(every, config.tasks, data or init))
    initial_policy.refuse_others([part.spec.task for part in parts], tasks)
    parts = with_reward(parts, own_reward(reward)) if reward else parts  # before anything is trained
    team = (
        distributed.join(config.run.device)
        if config.engine.kind == "deepspeed"
        else distributed.alone(config.run.device)
    )
    with (
        watched(team),
        given_backbone(backbone),
        RunDirectory(out, is_main_process=team.is_main_process) as folder,
        Interrupt() as interrupt,
    ):
        begin = initial_policy.warm_start(init, folder, team)
        content = [{"recipe": part.spec.to_dict()} for part in parts]
        begun: dict[str, Any] = {"init": weights_of(begin), "data": content if content[1:] else content[0]}
        begun |= {"reward": file_sha256(Path(reward))} if reward else {}
        if not reward and "reward" in (folder.read("config.json") or {}):
            raise NeedsFlag("reward: expected the file by whose rewards the run was begun, got none", "--reward FILE")
        folder.begin({"kind": "grpo", "ranks": team.world, **plain(config), **begun})
        policy = CommitPolicy.from_pretrained(begin, device=team.device)
        initial_policy.note_puzzles(policy, [part.spec for part in parts])
        if config.head is not None or config.depths:
            policy.replace_head(config.head or policy.config.head, seed=config.run.seed, depths=config.depths)
        quiet = quiet or not team.is_main_process
        with closing(GrpoTrainer(config, parts, policy, folder, team, quiet=quiet)) as run:
            run.trackers = trackers or {}
            return run.run(interrupt)


def _recipes(init: str | Path, out: Path) -> list[DataSpec]:
    """Those of the warm start. A run keeps its own, whatever becomes of the other one: where something is trained, or
    the other one is gone; before that another start may take its place."""
    gone = (out / "config.json").is_file() and not pretrained.find(init).is_dir()
    return recipes_of(out if gone or Checkpoints(out / "checkpoints").any() else init)


def chosen(specs: list[DataSpec], tasks: tuple[str, ...], source: Any) -> list[DataSpec]:
    """Those that ``tasks`` names. Nobody need say it if there is one puzzle, whatever its sizes."""
    choices = ", ".join(set_names(specs))
    for task in tasks:
        if not of_tasks(specs, (task,)):
            raise ValueError(f"tasks: expected some of {choices} of {source}, got {task}")
    if not tasks and len({spec.task for spec in specs}) > 1:
        raise ValueError(f"tasks: expected one or several of {choices} of {source}, got none")
    return of_tasks(specs, tasks) if tasks else specs


@dataclass(frozen=True)
class PuzzlePart:
    """One puzzle of a run."""

    name: str
    spec: DataSpec
    #: With its own values; of several puzzles with its share of ``optim.batch`` and a seed of its own.
    config: GrpoConfig


def puzzles_of(config: GrpoConfig, specs: list[DataSpec]) -> list[PuzzlePart]:
    """The puzzles of a run, checked."""
    each = [PuzzlePart(*pair, config.of(pair[1].task)) for pair in zip(set_names(specs), specs, strict=True)]
    if len(each) == 1:
        return each
    share, rest = divmod(config.optim.batch, len(each))
    if rest:
        raise ValueError(f"optim.batch: expected a multiple of {len(each)} puzzles, got {config.optim.batch}")
    for part in each:
        if (every := part.config.validation.every) != config.validation.every:
            raise ValueError(
                f"by_task.{part.spec.task}.validation.every: expected {config.validation.every}, as validation.every, "
                f"with several puzzles, which are validated together, got {every}"
            )
    for i, phase in enumerate(config.phases):
        if phase.head_updates:
            raise ValueError(
                f"phases[{i}].head_updates: expected 0 with several puzzles, since the depth head would be updated for "
                f"each in turn, got {phase.head_updates}"
            )
    seeds = [rng.derived_seed(config.run.seed, rng.Purpose.GAME, number) for number in range(len(each))]
    return [
        replace(
            part,
            config=replace(part.config, optim=replace(config.optim, batch=share), run=replace(config.run, seed=seed)),
        )
        for part, seed in zip(each, seeds, strict=True)
    ]


def with_reward(parts: list[PuzzlePart], function: Callable[[Spans], Any]) -> list[PuzzlePart]:
    """The same, with commitments scored by a function."""
    return [
        replace(
            part, config=replace(part.config, advantage=OwnReward(**vars(part.config.advantage), function=function))
        )
        for part in parts
    ]


class GrpoTrainer(Trainer):
    """One policy and one engine, and a ``PuzzleLearner`` for each puzzle."""

    kind = "grpo"
    steps_between_trims = 5
    config: GrpoConfig

    def __init__(
        self,
        config: GrpoConfig,
        parts: list[PuzzlePart],
        policy: CommitPolicy,
        folder: RunDirectory,
        team: Team,
        *,
        quiet: bool,
    ) -> None:
        super().__init__(config if parts[1:] else parts[0].config, folder, team, quiet=quiet)
        for part in parts:
            _check(part.config, policy, team)
        self.policy, self.variant, self.clock = policy, variant(config.variant), Clock()
        process.seed_everything(config.run.seed)
        _freeze(policy, [part.spec.puzzle() for part in parts], config)
        policy.backbone.recompute = config.engine.checkpointing
        policy.eval()  # no dropout: what is compared must differ by its weights alone
        reference = ReferencePolicy(policy) if any(part.config.objective.kl > 0 for part in parts) else None
        self.engine = make_engine(policy, config.optim, config.engine, team, _micro_batches(parts, team))
        self.puzzles = [
            PuzzleLearner(part.name, part.spec, part.config, policy, self.engine, reference, self.clock)
            for part in parts
        ]
        self.validation_tasks = [task for puzzle in self.puzzles for task in puzzle.validation_tasks]

    @property
    def tokens(self) -> float:
        """See ``Trainer``."""
        return sum(puzzle.tokens for puzzle in self.puzzles) / len(self.puzzles)

    def _step(self) -> dict[str, Any]:
        """Every puzzle plays; then the policy learns from all of them."""
        step = self.state.step
        with record_function("rollout"):
            collected = [puzzle.collect(step) for puzzle in self.puzzles]
        if self.puzzles[1:]:
            self._refuse_empty([batch for batch, _ in collected])
        self.state.states += sum(len(batch) for batch, _ in collected)
        head_only = self.config.phase_at(step).head_only
        batches = [batch.where(slice(0)) if head_only else batch for batch, _ in collected]
        with record_function("update"):
            measured, norms = self._learn(batches)
        self.state.step += 1
        return {
            puzzle.name: puzzle.line_of(signals, own, norms)
            for puzzle, (_, signals), own in zip(self.puzzles, collected, measured, strict=True)
        }

    def _refuse_empty(self, batches: list[GrpoBatch]) -> None:
        """Refuse a step in which a puzzle has nothing to learn from, on every rank alike: every optimizer step goes
        through states of all puzzles. With exact values nothing is learned where nobody could reach the goal."""
        for puzzle, batch in zip(self.puzzles, batches, strict=True):
            if not len(batch):
                budget, task = puzzle.config.rollout.budget, puzzle.spec.task
                raise ValueError(
                    f"rollout.budget: expected states of {puzzle.name} to learn from in step {self.state.step + 1}, "
                    f"got none: no start of it can be solved in {budget} decisions; give it a larger budget or shorter "
                    f"instances (by_task.{task}: rollout.budget, rollout.length)"
                )

    def _learn(self, batches: list[GrpoBatch]) -> tuple[list[list[Any]], list[float]]:
        """As many optimizer steps as the puzzle with the most states needs; what was measured by puzzle, and the norms
        of the gradients."""
        orders = [puzzle.order(batch, self.state.step) for puzzle, batch in zip(self.puzzles, batches, strict=True)]
        sizes = [puzzle.config.optim.batch for puzzle in self.puzzles]
        count = max(-(-len(order) // size) for order, size in zip(orders, sizes, strict=True))
        if len(orders) == 1:  # batches are full, but for the last one
            portions = [[orders[0][i * sizes[0] : (i + 1) * sizes[0]] for i in range(count)]]
        else:  # every puzzle has a part in every optimizer step
            portions = [np.array_split(order, max(count, 1)) for order in orders]
        pairs = zip(self.puzzles, batches, portions, strict=True)
        batches = [puzzle.recompute_old(batch, rows) for puzzle, batch, rows in pairs]
        scale = lr_schedule(self.config.optim, self.state.step)
        measured: list[list[Any]] = [[] for _ in batches]
        norms: list[float] = []
        for i in range(count):
            for puzzle, batch, rows, own in zip(self.puzzles, batches, portions, measured, strict=True):
                own.append(puzzle.backward(batch, rows[i], fresh=i == 0, puzzles=len(batches)))
            with self.clock("model"):
                norms.append(self.engine.step(scale))
            self._watch_for_nan(norms[-1])
        return measured, norms

    def _measure(self, task: ValidationTask) -> dict[str, Any]:
        (puzzle,) = (puzzle for puzzle in self.puzzles if puzzle.name == task.name)
        return puzzle.validate(task)

    def _summary(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        """Of several puzzles the means, and each of them."""
        own = {}
        for puzzle in self.puzzles:
            own[puzzle.name], warnings = puzzle.summary([step[puzzle.name] for step in steps])
            for warning in warnings:
                self.progress.say(f"step {self.state.step:,}: {warning}")
        lines = list(own.values())
        return {**metrics.averaged(lines), "sets": own} if lines[1:] else lines[0]

    def state_dict(self) -> dict[str, Any]:
        """See ``Trainer``."""
        return {"puzzles": {puzzle.name: puzzle.state_dict() for puzzle in self.puzzles}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See ``Trainer``."""
        for puzzle in self.puzzles:
            puzzle.load_state_dict(state["puzzles"][puzzle.name])

    def _times(self) -> dict[str, Any]:
        return {"stages": self.clock.take()}

    def _introduction(self) -> str:
        each = "; ".join(f"{puzzle.name}: {puzzle.introduction}" for puzzle in self.puzzles)
        return f"{initial_policy.described(self.policy, self.team)}; {self.variant.name}; {each}"


def _check(config: GrpoConfig, policy: CommitPolicy, team: Team) -> None:
    if policy.config.budget_conditioned and config.advantage.estimator == "exact":
        raise ValueError(
            "advantage.estimator: expected state, episode or branch with a policy that is told the remaining decisions "
            "(show_budget): exact values give a state one plan whatever remains; got exact"
        )
    if (depth := variant(config.variant).depth) > (length := policy.config.plan_length):
        raise ValueError(f"variant: expected fixed-1 to fixed-{length}, as long as plans are, got fixed-{depth}")
    if config.optim.batch % team.world or config.rollout.instances % team.world:
        raise ValueError(
            f"optim.batch and rollout.instances: expected multiples of {team.world} ranks, "
            f"got {config.optim.batch} and {config.rollout.instances}"
        )


def _micro_batches(parts: list[PuzzlePart], team: Team) -> int:
    """How many make an optimizer step."""
    shares = [(part.config.optim.batch // team.world, part.config.optim.micro_batch) for part in parts]
    return sum(-(-share // (micro or share)) for share, micro in shares)


def _freeze(policy: CommitPolicy, tasks: Sequence[Puzzle], config: GrpoConfig) -> None:
    """Freeze what the variant does not train."""
    own = variant(config.variant)
    policy.train_only(*tasks, depth_head=own.head)
    vision = {id(p) for p in policy.backbone.vision_parameters()}
    for parameter in policy.parameters():
        if (id(parameter) in vision and not config.optim.vision_lr) or not own.rest:
            parameter.requires_grad_(False)
    if not own.rest:
        policy.depth_head.requires_grad_(True)
