"""Reinforcement of several puzzles at once: each plays and judges as it would alone, and every move of the weights adds
what all of them ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data.spec import set_names
from recommit.runs.directory import of_tasks
from recommit.train import initial_policy
from recommit.train.engine.base import schedule
from recommit.train.grpo import learner as learners
from recommit.train.grpo import log_line
from recommit.train.loop import Trainer

if TYPE_CHECKING:
    from recommit.data.spec import DataSpec
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import RunDirectory
    from recommit.runs.ranks import Team
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import GrpoConfig
    from recommit.train.grpo.learner import Learner
    from recommit.train.grpo.step import Grpo
    from recommit.train.validate import ValidationTask


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


def parts(config: GrpoConfig, specs: list[DataSpec]) -> list[PuzzlePart]:
    """The puzzles of a run, checked."""
    each = [PuzzlePart(*pair, config.of(pair[1].task)) for pair in zip(set_names(specs), specs, strict=True)]
    if len(each) == 1:
        return each
    share, rest = divmod(config.optim.batch, len(each))
    if rest:
        raise ValueError(f"optim.batch: expected a multiple of {len(each)} puzzles, got {config.optim.batch}")
    for part in each:
        _check(part, config)
    seeds = [rng.derived_seed(config.run.seed, rng.Purpose.GAME, number) for number in range(len(each))]
    return [
        replace(
            part,
            config=replace(part.config, optim=replace(config.optim, batch=share), run=replace(config.run, seed=seed)),
        )
        for part, seed in zip(each, seeds, strict=True)
    ]


def _check(part: PuzzlePart, config: GrpoConfig) -> None:
    own = part.config
    for i, phase in enumerate(own.phases):
        if phase.head_updates:
            raise ValueError(
                f"phases[{i}].head_updates: expected 0 with several puzzles, since the depth head would move for "
                "each in turn, "
                f"got {phase.head_updates}"
            )
    if own.objective.epochs != config.objective.epochs:
        raise ValueError(
            f"by_task.{part.spec.task}.objective.epochs: expected {config.objective.epochs} as for all, "
            f"got {own.objective.epochs}"
        )


def learner(config: GrpoConfig, every: list[PuzzlePart], policy: CommitPolicy, team: Team) -> Learner:
    """What all puzzles share."""
    batches = 0
    for part in every:
        share = part.config.optim.batch // team.world
        batches += -(-share // (config.optim.micro_batch or max(share, 1)))
    return learners.prepared(config, policy, [part.spec.puzzle() for part in every], team, batches)


class Joint(Trainer):
    """One policy, one engine, and a ``Grpo`` for each puzzle, none of which takes steps of its own."""

    kind = "grpo"
    steps_between_trims = 5
    config: GrpoConfig

    def __init__(
        self, config: GrpoConfig, members: dict[str, Grpo], folder: RunDirectory, team: Team, *, quiet: bool
    ) -> None:
        super().__init__(config, folder, team, quiet=quiet)
        self.members, first = members, next(iter(members.values()))
        self.policy, self.engine, self.variant = first.policy, first.engine, first.variant
        self.watched = [replace(watched, name=name) for name, member in members.items() for watched in member.watched]

    @property
    def tokens(self) -> float:
        """See ``Trainer``."""
        return sum(member.tokens for member in self.members.values()) / len(self.members)

    def _step(self) -> dict[str, Any]:
        """Every puzzle plays; then all of them learn from it together."""
        for member in self.members.values():
            member.at.step, member.at.states = self.at.step, 0
        played = {name: member.played() for name, member in self.members.items()}
        learned = self._learn({name: batch for name, (batch, _) in played.items()})
        self.at.step += 1
        self.at.states += sum(member.at.states for member in self.members.values())
        return {name: log_line.line_of(notes, learned[name]) for name, (_, notes) in played.items()}

    def _learn(self, batches: dict[str, GrpoBatch]) -> dict[str, dict[str, float]]:
        """As many moves for each puzzle as the one with the most states needs; the loss of a move is their mean."""
        moves = max(-(-len(batch) // self.members[name].config.optim.batch) for name, batch in batches.items())
        measured: dict[str, list[Any]] = {name: [] for name in batches}
        norms, scale = [], schedule(self.config.optim, self.at.step)
        for epoch in range(self.config.objective.epochs):
            orders = {
                name: np.array_split(self.members[name].order(batch, epoch), moves) for name, batch in batches.items()
            }
            for move in range(moves):
                fresh = epoch == move == 0
                for name, batch in batches.items():
                    gradient = self.members[name].gradient(
                        batch, orders[name][move], fresh=fresh, among=len(self.members)
                    )
                    measured[name].append(gradient)
                norms.append(self.engine.step(scale))
                self._watch_for_nan(norms[-1])
        return {name: member.learned(measured[name], norms) for name, member in self.members.items()}

    def _measure(self, watched: ValidationTask) -> dict[str, Any]:
        return self.members[watched.name]._measure(watched)

    def _fixed_depth(self) -> int | None:
        return self.variant.depth or None

    def _summary(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        """Means over the puzzles, and each of them."""
        for member in self.members.values():
            member.at.step = self.at.step
        own = {name: member._summary([each[name] for each in steps]) for name, member in self.members.items()}
        return {**log_line.averaged(list(own.values())), "sets": own}

    def _more(self) -> dict[str, Any]:
        return {"members": {name: member._more() for name, member in self.members.items()}}

    def _take_up(self, more: dict[str, Any]) -> None:
        for name, member in self.members.items():
            member._take_up(more["members"][name])

    def _times(self) -> dict[str, Any]:
        return {"stages": {name: member._times()["stages"] for name, member in self.members.items()}}

    def _introduction(self) -> str:
        each = "; ".join(f"{name}: {member.introduction}" for name, member in self.members.items())
        return f"{initial_policy.described(self.policy, self.team)}; {self.variant.name}; {each}"
