"""One step of reinforcement: play, judge, learn.

1. Play from fresh start states, and judge what was committed: ``collect.py``. Sampled commitments are compared within
   groups by a reward (``reward.py``); with exact credit depths have exact values (``graph/policy_evaluation.py``).
2. With exact credit the depth head may move alone, many times on the same graph: ``depth_head_optimizer.py``.
3. Learn: batches of ``GrpoBatch`` (``batch.py``) through the clipped loss on both heads (``loss.py``), then a log line.

What differs from textbook GRPO, and why: a commitment has two heads, so depths and plans are judged apart, each with
its own ratio; groups are commitments of one state rather than answers to one prompt, since a state can be copied; KL
and entropies are exact sums over four outcomes; and exact credit needs no group at all, since greedy plans make
episodes walks in a graph whose values can be computed. Phases (``settings/phases.py``) say which of this a step does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from recommit import rng
from recommit.data.starts import sampling
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import play
from recommit.policy.policy import CommitPolicy
from recommit.policy.transfer import to_device, to_host
from recommit.rollout.sampling import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import RunDirectory
from recommit.runs.progress import Clock
from recommit.storage import errors
from recommit.train import initial_policy, targets, validate
from recommit.train.engine.base import schedule
from recommit.train.grpo import log_line
from recommit.train.grpo import loss as objective
from recommit.train.grpo.collect import ExactCollector, SampledCollector
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.grpo.learner import prepared
from recommit.train.grpo.settings.credit import ExactCredit
from recommit.train.loop import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.data.spec import DataSpec
    from recommit.runs.ranks import Team
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import GrpoConfig
    from recommit.train.grpo.learner import Learner
    from recommit.train.grpo.log_line import Signals
    from recommit.train.grpo.settings.phases import GrpoPhase
    from recommit.train.validate import ValidationTask

T = TypeVar("T")


class Grpo(Trainer):
    """Groups of commitments, compared; see ``recommit.train.grpo.reward`` and ``recommit.graph.values``."""

    kind = "grpo"
    steps_between_trims = 5
    config: GrpoConfig

    def __init__(
        self,
        config: GrpoConfig,
        policy: CommitPolicy,
        spec: DataSpec,
        folder: RunDirectory,
        team: Team,
        *,
        quiet: bool,
        learner: Learner | None = None,
    ) -> None:
        if policy.config.budget_conditioned and config.credit.group == "exact":
            raise ValueError(
                "credit.group: expected state, episode or branch with a policy that is told the decisions left "
                "(show_budget): the exact program gives a state one plan whatever is left; got exact"
            )
        super().__init__(config, folder, team, quiet=quiet)
        self.variant = variant(config.variant)
        self.spec, self.policy, self.task = _instances(spec, config), policy, spec.puzzle()
        share, rest = divmod(config.optim.batch, team.world)
        if rest or config.rollout.instances % team.world:
            raise ValueError(
                f"optim.batch and rollout.instances: expected multiples of {team.world} ranks, "
                f"got {config.optim.batch} and {config.rollout.instances}"
            )
        self.share, self.micro = share, config.optim.micro_batch or share
        shared = learner or prepared(config, policy, [self.task], team, -(-share // self.micro))
        self.engine, self.reference = shared.engine, shared.reference if config.objective.kl > 0 else None
        self._clock = Clock()
        self.actor = Actor(
            policy,
            self.task,
            self.variant,
            seed=config.run.seed,
            run_pass=self._run_pass,
            max_over_ranks=team.largest,
        )
        self.watched = validate.watched(self.task.task, self.spec, config.validation)
        self._recent: list[dict[str, Any]] = []

    def _run_pass(self, work: Callable[[], T]) -> T:
        with self._clock("model"):
            return self.engine.run(work)

    @property
    def tokens(self) -> float:
        """See ``Trainer``."""
        return self.policy.tokens(self.task, self.spec.size)

    def _starts(self) -> NDArray[np.uint8]:
        """The start states of this step, of all ranks, which no validation or test set contains."""
        first, many = self.config.shards_before(self.at.step), self.config.shards(self.phase)
        shards = range(first, first + many)
        return np.ascontiguousarray(np.concatenate([self._drawn(shard) for shard in shards]))

    def _drawn(self, shard: int) -> NDArray[np.uint8]:
        """One shard's start states."""
        states = sampling.starts(self.spec, "train", shard).states
        if self.config.rollout.augment and self.task.turns:
            number = np.uint64(shard * self.config.rollout.instances) + np.arange(len(states), dtype=np.uint64)
            states = targets.turned(states, targets.symmetries(self.config.run.seed, number))
        return states

    @property
    def phase(self) -> GrpoPhase:
        """What holds in the step that is under way."""
        return self.config.phase_at(self.at.step)

    def _step(self) -> dict[str, Any]:
        """Play, compare, learn."""
        batch, notes = self.played()
        learned = self._learn(batch)
        self.at.step += 1
        return log_line.line_of(notes, learned)

    def played(self) -> tuple[GrpoBatch, Signals]:
        """What this step learns from, and what there is to tell of it."""
        batch, notes = self._collector()(self._starts(), self.at.step)
        self.at.states += len(batch)
        return batch.where(slice(0)) if self.phase.head_only else batch, notes

    def _collector(self) -> ExactCollector | SampledCollector:
        """What plays and judges in this step."""
        config, credit, moves = self.config, self.config.credit_at(self.at.step), self.phase.head_updates
        if not isinstance(credit, ExactCredit):
            return SampledCollector(self.actor, credit, config.rollout, self.team)
        mover = (
            DepthHeadOptimizer(self.policy, self.engine, credit, config.objective, self._head_lr(), moves)
            if moves
            else None
        )
        return ExactCollector(self.actor, credit, config.rollout, self._graph, mover, self.team)

    def _learn(self, batch: GrpoBatch) -> dict[str, float]:
        """Move the weights, ``optim.batch`` states of all ranks at a time."""
        size = self.config.optim.batch
        measured, norms = [], []
        scale = schedule(self.config.optim, self.at.step)
        for epoch in range(self.config.objective.epochs):
            order = self.order(batch, epoch)
            for begin in range(0, len(batch), size):
                measured.append(self.gradient(batch, order[begin : begin + size], fresh=epoch == begin == 0))
                with self._clock("model"):
                    norms.append(self.engine.step(scale))
                self._watch_for_nan(norms[-1])
        return self.learned(measured, norms)

    def order(self, batch: GrpoBatch, epoch: int) -> NDArray[np.intp]:
        """In which the states of a step are learned from."""
        number = self.at.step * self.config.objective.epochs + epoch
        places = np.uint64(number << 32) + np.arange(len(batch), dtype=np.uint64)
        return np.argsort(rng.draw(rng.streams(self.config.run.seed, rng.Purpose.ORDER, places), 0))

    def gradient(self, batch: GrpoBatch, whole: NDArray[np.intp], *, fresh: bool, among: int = 1) -> Tensor:
        """Add the gradient of some states of all ranks, as the mean over them, divided by ``among`` puzzles; see
        ``_move``.
        """
        mine = whole[self.team.rank :: self.team.world]
        # A rank without states goes through the policy as the others do, with one that weighs nothing.
        part = (batch.where(mine) if len(mine) else batch.where(slice(0, 1)).nothing()).padded(self.share)
        return self._move(part, among * objective.total_weight(batch.where(whole)), fresh=fresh)

    def learned(self, measured: list[Tensor], norms: list[float]) -> dict[str, float]:
        """Sums over a step of ``objective.MEASURES``, with the loss and the norm of the gradient."""
        sums = self._read(measured)
        over_ranks = [*self.team.total(sums[:-1].tolist()), float(sums[-1])]
        named = dict(zip(objective.MEASURES, over_ranks, strict=True))
        return {
            **named,
            "norm": float(np.mean(norms or [0.0])),
            "loss": -named["surrogate"] / max(named["states"], 1e-9),
        }

    def _move(self, part: GrpoBatch, weight: float, *, fresh: bool) -> Tensor:
        """Gradients of this rank's part of a batch of a ``weight``; ``objective.MEASURES`` of each of its pieces, which
        nobody waits for yet."""
        divisor = max(weight, 1e-12) / self.team.world
        pieces = []
        for begin in range(0, self.share, self.micro):
            piece = part.where(slice(begin, begin + self.micro))
            against = self._against(piece)
            loss, measures = self._run_pass(partial(self._loss, piece, divisor, against, fresh=fresh))
            with self._clock("model"):
                self.engine.backward(loss, last=begin + self.micro >= self.share)
            pieces.append(measures)
        return torch.stack(pieces)

    def _loss(
        self, piece: GrpoBatch, divisor: float, against: tuple[Tensor, Tensor] | None, *, fresh: bool
    ) -> tuple[Tensor, Tensor]:
        config = self.config.objective
        loss, measures = objective.grpo_loss(self.policy, self.task, piece, config, divisor, against, fresh=fresh)
        return loss + self.policy.idle(self.task), measures

    def _read(self, measured: list[Tensor]) -> NDArray[np.float64]:
        """The measures of all moves together: the only time that a step asks the device for them."""
        if not measured:
            return np.zeros(len(objective.MEASURES))
        with self._clock("model"):
            (moves,) = to_host(torch.stack(measured))
        return objective.totals(objective.totals(pieces) for pieces in moves.astype(np.float64))

    def _against(self, piece: GrpoBatch) -> tuple[Tensor, Tensor] | None:
        """Logits of the warm start."""
        reference = self.reference
        if reference is None:
            return None
        actions, depths = (to_device(each, self.team.device) for each in (piece.actions, piece.plan_depth))
        return self._run_pass(lambda: reference(self.task, piece.states, actions, depths, piece.remaining))

    def _summary(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        self._recent = (self._recent + steps)[-20:]
        for warning in log_line.warnings(
            steps[-1], self._recent, len(self.policy.config.depths), head=self.variant.head
        ):
            self._say(f"step {self.at.step:,}: {warning}")
        return steps[-1] if len(steps) == 1 else log_line.averaged(steps)

    def _more(self) -> dict[str, Any]:
        return {"recent": self._recent}

    def _take_up(self, more: dict[str, Any]) -> None:
        self._recent = more["recent"]

    def _times(self) -> dict[str, Any]:
        return {"stages": self._clock.take()}

    @torch.no_grad()
    def _measure(self, watched: ValidationTask) -> dict[str, Any]:
        """The variant's own agents, and how well plans still imitate."""
        config, instances = watched.config, watched.instances
        graph = self._graph(self.policy.config.depths if not self.variant.depth else (self.variant.depth,))
        agents = validate.agents(graph, self.variant, instances.starts, config.budget)
        budgets = sorted({config.budget, *self.config.validation.budgets})
        choose = validate.own_agent(graph, self.variant)
        played = [play(graph, graph.nodes(instances.starts, budget), budget, choose) for budget in budgets]
        imitated = validate.imitation(self.policy, self.task, instances.states, self.engine)
        judged = {str(budget): round(one.solve_rate, 4) for budget, one in zip(budgets, played, strict=True)}
        worth = validate.worth(played, self.config.last_prices)
        return {**imitated, **validate.rates(agents), "judged": judged, "worth": round(worth, 5)}

    def _fixed_depth(self) -> int | None:
        return self.variant.depth or None

    def _graph(self, depths: tuple[int, ...]) -> PolicyGraph:
        keep = any(phase.head_updates for phase in self.config.phases)
        together = self.engine.together
        return PolicyGraph(
            self.policy, self.task, depths, run_pass=self._run_pass, team=self.team, together=together, keep_inputs=keep
        )

    def _head_lr(self) -> float:
        config = self.config.optim
        return self.phase.head_lr or (config.depth_lr or config.head_lr) * schedule(config, self.at.step)

    def _introduction(self) -> str:
        return f"{initial_policy.described(self.policy, self.team)}; {self.variant.name}, {self.introduction}"

    @property
    def introduction(self) -> str:
        """How the puzzle is played and judged."""
        kl = "no KL" if self.reference is None else f"KL {self.config.objective.kl} to the warm start"
        return (
            f"{self.config.credit.group} credit, {self.config.rollout.instances} instances of "
            f"{self.config.rollout.budget} decisions per step, {kl}"
        )


def _instances(spec: DataSpec, config: GrpoConfig) -> DataSpec:
    """The recipe of the warm start's data, with a step's instances as a shard."""
    wanted = spec.of_length(config.rollout.length)
    if not wanted.difficulties:
        raise errors.WrongDataSpec("rollout.length: expected the lengths to play, since the data names none")
    return replace(wanted, shard=config.rollout.instances, count=config.starts, states="")
