"""One puzzle of a GRPO run: its start states, rollouts, gradients, metrics and validation.

A step first plays from fresh start states and scores what was committed (``collect.py``). Sampled commitments are
compared within groups by a reward (``reward.py``); with ``exact`` every depth has its exact value instead
(``graph/values.py``), and the depth head may be updated alone, many times on the same graph
(``depth_head_optimizer.py``). Then the weights are updated by the clipped loss on both heads (``loss.py``).

What differs from textbook GRPO, and why: a commitment has two heads, so depths and plans have advantages and ratios of
their own; groups are commitments of one state rather than answers to one prompt, since a state can be copied; KL and
entropies are exact sums over four outcomes; and exact values need no group at all, since greedy plans make episodes
walks in a graph.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from recommit import rng
from recommit.data import sampling
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import play
from recommit.policy.tensors import to_device, to_host
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.storage import errors
from recommit.train import targets, validation
from recommit.train.grpo import loss, metrics
from recommit.train.grpo.collect import ExactCollector, SampledCollector
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.optim import lr_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.data.spec import DataSpec
    from recommit.policy.policy import CommitPolicy
    from recommit.policy.reference import ReferencePolicy
    from recommit.runs.progress import Clock
    from recommit.train.engine.base import Engine
    from recommit.train.grpo.batch import GrpoBatch
    from recommit.train.grpo.config import GrpoConfig, GrpoPhase
    from recommit.train.grpo.metrics import Signals
    from recommit.train.validation import ValidationTask

T = TypeVar("T")


class PuzzleLearner:
    """Plays one puzzle and learns from it; the policy and the engine are those of all puzzles of the run."""

    def __init__(
        self,
        name: str,
        spec: DataSpec,
        config: GrpoConfig,
        policy: CommitPolicy,
        engine: Engine,
        reference: ReferencePolicy | None,
        clock: Clock,
    ) -> None:
        self.name, self.config, self.policy, self.engine, self.clock = name, config, policy, engine, clock
        self.reference = reference if config.objective.kl > 0 else None
        self.variant, self.team = variant(config.variant), engine.team
        #: A head that nobody asks and that does not learn must not move the backbone either.
        self.objective = (
            config.objective if self.variant.head else replace(config.objective, entropy_depth=0.0, kl_depth=False)
        )
        self.spec, self.task = _instances(spec, config), spec.puzzle()
        self.share = config.optim.batch // self.team.world
        self.micro_batch = config.optim.micro_batch or self.share
        self.actor = Actor(
            policy,
            self.task,
            self.variant,
            seed=config.run.seed,
            run_pass=self.run_pass,
            max_over_ranks=self.team.all_reduce_max,
        )
        self.validation_tasks = validation.tasks_of(name, self.spec, config.validation, policy.config.plan_length)
        self._recent: list[dict[str, Any]] = []

    def run_pass(self, work: Callable[[], T]) -> T:
        """Run ``work``, which goes through the policy, by the engine and the clock."""
        with self.clock("model"):
            return self.engine.run(work)

    @property
    def tokens(self) -> float:
        """What the language model reads of a state."""
        return self.policy.tokens(self.task, self.spec.size)

    def collect(self, step: int) -> tuple[GrpoBatch, Signals]:
        """What a step learns from, and its metrics; plans learn nothing in a phase that is the depth head's alone."""
        return self._collector(step)(self.starts(step), step)

    def starts(self, step: int) -> NDArray[np.uint8]:
        """The start states of a step, of all ranks, which no validation or test set contains."""
        first, many = self.config.shards_before(step), self.config.shards(self.config.phase_at(step))
        return np.ascontiguousarray(np.concatenate([self._shard(shard) for shard in range(first, first + many)]))

    def _shard(self, shard: int) -> NDArray[np.uint8]:
        states = sampling.starts(self.spec, "train", shard).states
        if self.config.rollout.augment and self.task.turns:
            number = np.uint64(shard * self.config.rollout.instances) + np.arange(len(states), dtype=np.uint64)
            states = targets.turned(states, targets.symmetries(self.config.run.seed, number))
        return states

    def _collector(self, step: int) -> ExactCollector | SampledCollector:
        config, prices, phase = self.config, self.config.prices_at(step), self.config.phase_at(step)
        if config.advantage.estimator != "exact":
            return SampledCollector(self.actor, config.advantage, prices, config.rollout, self.team)
        update = self._head_optimizer(phase, step) if phase.head_updates else None
        return ExactCollector(
            self.actor, config.advantage, prices, phase.budgets, config.rollout, self._graph, update, self.team
        )

    def _head_optimizer(self, phase: GrpoPhase, step: int) -> DepthHeadOptimizer:
        config = self.config
        lr = phase.depth_head_lr or (config.optim.depth_head_lr or config.optim.decoder_lr) * lr_schedule(
            config.optim, step
        )
        return DepthHeadOptimizer(self.policy, self.engine, config.advantage, config.objective, lr, phase.head_updates)

    def order(self, batch: GrpoBatch, step: int) -> NDArray[np.intp]:
        """In which the states of a step are learned from."""
        places = np.uint64(step << 32) + np.arange(len(batch), dtype=np.uint64)
        return np.argsort(rng.draw(rng.streams(self.config.run.seed, rng.Purpose.ORDER, places), 0))

    def backward(self, batch: GrpoBatch, rows: NDArray[np.intp], *, fresh: bool, puzzles: int = 1) -> Tensor:
        """Add the gradient of some states of all ranks, as their mean divided by the number of ``puzzles``;
        ``loss.MEASURES`` of each micro-batch of this rank, which nobody waits for yet."""
        divisor = max(puzzles * loss.total_weight(batch.where(rows)), 1e-12) / self.team.world
        measured = []
        for part in self._micro_batches(batch, rows):
            against = self._reference_logits(part)
            value, measures = self.run_pass(partial(self._loss, part, divisor, against, fresh=fresh))
            with self.clock("model"):
                self.engine.backward(value)
            measured.append(measures)
        return torch.stack(measured)

    def _micro_batches(self, batch: GrpoBatch, rows: NDArray[np.intp]) -> Iterator[GrpoBatch]:
        """This rank's share of some states. A rank without any goes through the policy as the others do, with one that
        weighs nothing."""
        mine = rows[self.team.rank :: self.team.world]
        own = (batch.where(mine) if len(mine) else batch.where(slice(0, 1)).nothing()).padded(self.share)
        for begin in range(0, self.share, self.micro_batch):
            yield own.where(slice(begin, begin + self.micro_batch))

    def recompute_old(self, batch: GrpoBatch, portions: list[NDArray[np.intp]]) -> GrpoBatch:
        """With old log probabilities by the passes that will learn from ``portions``, but for the first, whose ratios
        are 1 by construction. In bfloat16 those of sampling may differ by more than half of the paper's clip, since
        batches and kernels are others; in float32 by 2e-6, which needs no mending."""
        if not portions[1:] or next(self.policy.backbone.model.parameters()).dtype == torch.float32:
            return batch
        depths, actions = batch.depth_old.copy(), batch.action_old.copy()
        for rows in portions[1:]:
            mine = rows[self.team.rank :: self.team.world]
            passes = (partial(loss.old_log_probs, self.policy, self.task, p) for p in self._micro_batches(batch, rows))
            found = [to_host(*self.run_pass(each)) for each in passes]
            for old, new in zip((depths, actions), zip(*found, strict=True), strict=True):
                old[mine] = np.concatenate(new)[: len(mine)]
        return replace(batch, depth_old=depths, action_old=actions)

    def _loss(
        self, part: GrpoBatch, divisor: float, against: tuple[Tensor, Tensor] | None, *, fresh: bool
    ) -> tuple[Tensor, Tensor]:
        return loss.grpo_loss(self.policy, self.task, part, self.objective, divisor, against, fresh=fresh)

    def _reference_logits(self, part: GrpoBatch) -> tuple[Tensor, Tensor] | None:
        """Those of the warm start."""
        reference = self.reference
        if reference is None:
            return None
        actions, depths = (to_device(each, self.team.device) for each in (part.actions, part.plan_depth))
        return self.run_pass(lambda: reference(self.task, part.states, actions, depths, part.remaining))

    def line_of(self, signals: Signals, measured: list[Tensor], norms: list[float]) -> dict[str, Any]:
        """The metrics of a step, by what ``backward`` measured: the only time that a step waits for the device."""
        sums = np.zeros(len(loss.MEASURES))
        if measured:
            with self.clock("model"):
                (each,) = to_host(torch.stack(measured))
            sums = loss.totals(loss.totals(parts) for parts in each.astype(np.float64))
        over_ranks = [*self.team.all_reduce_sum(sums[:-1].tolist()), float(sums[-1])]
        named = dict(zip(loss.MEASURES, over_ranks, strict=True))
        mean = -named["surrogate"] / max(named["states"], 1e-9)
        return metrics.line_of(signals, {**named, "norm": float(np.mean(norms or [0.0])), "loss": mean})

    def summary(self, lines: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
        """The mean of the steps since the last log line, and warnings about them."""
        self._recent = (self._recent + lines)[-20:]
        depths = len(self.policy.config.depths)
        worries = metrics.warnings(lines[-1], self._recent, depths, head=self.variant.head)
        return lines[-1] if len(lines) == 1 else metrics.averaged(lines), worries

    def state_dict(self) -> list[dict[str, Any]]:
        """What a checkpoint must hold of it."""
        return self._recent

    def load_state_dict(self, state: list[dict[str, Any]]) -> None:
        """Back to ``state_dict``."""
        self._recent = state

    @torch.no_grad()
    def validate(self, task: ValidationTask) -> dict[str, Any]:
        """The variant's own agents, and how well plans still imitate."""
        starts, budget = task.starts, task.config.budget
        graph = self._graph(self.policy.config.depths if not self.variant.depth else (self.variant.depth,))
        agents = validation.agents(graph, self.variant, starts, budget)
        budgets = sorted({budget, *self.config.validation.budgets})
        choose = validation.own_agent(graph, self.variant)
        played = [play(graph, graph.nodes(starts, budget), budget, choose) for budget in budgets]
        imitated = validation.imitation(self.policy, task, self.engine)
        rates = {str(budget): round(one.solve_rate, 4) for budget, one in zip(budgets, played, strict=True)}
        value = validation.value(played, self.config.last_prices)
        return {**imitated, **validation.rates(agents), "by_budget": rates, "value": round(value, 5)}

    def _graph(self, depths: tuple[int, ...]) -> PolicyGraph:
        keep = any(phase.head_updates for phase in self.config.phases)
        together = self.engine.equal_passes
        return PolicyGraph(
            self.policy, self.task, depths, run_pass=self.run_pass, team=self.team, together=together, keep_inputs=keep
        )

    @property
    def introduction(self) -> str:
        """How the puzzle is played and scored."""
        kl = "no KL" if self.reference is None else f"KL {self.config.objective.kl} to the warm start"
        return (
            f"{self.config.advantage.estimator} advantages, {self.config.rollout.instances} instances of "
            f"{self.config.rollout.budget} decisions per step, {kl}"
        )


def _instances(spec: DataSpec, config: GrpoConfig) -> DataSpec:
    """The recipe of the warm start's data, with a step's instances as a shard."""
    wanted = spec.of_length(config.rollout.length)
    if not wanted.difficulties:
        raise errors.WrongDataSpec("rollout.length: expected the lengths to play, since the data names none")
    return replace(wanted, shard=config.rollout.instances, count=config.starts)
