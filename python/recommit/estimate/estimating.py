"""A stage of a recipe, counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recommit.estimate.counting.passes import EvaluationStage, Passes, Schedule, schedule
from recommit.estimate.counting.shadow import kernels
from recommit.estimate.counting.stages import shadow_of
from recommit.estimate.machine import memory, storage
from recommit.estimate.results import Count, Estimate, LearningFlops, Memory, ModelSize, Phase, Rate
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.estimate.counting.passes import Stage
    from recommit.estimate.counting.work import LearningCost as Taken
    from recommit.estimate.counting.work import Shadow
    from recommit.estimate.machine.cards import Machine
    from recommit.policy.counting import Cost
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig


def counted(config: Stage, model: ModelConfig, task: Puzzle, machine: Machine) -> Estimate:
    """Estimate a stage as its recipe is."""
    shadow = shadow_of(config, model, task)
    with kernels():
        return _Counting(config, model, shadow, machine).estimate()


def peak(config: Stage, model: ModelConfig, task: Puzzle, machine: Machine) -> int:
    """Bytes of a rank at the worst moment, and nothing else: sooner than an estimate."""
    shadow = shadow_of(config, model, task)
    with kernels():
        return _Counting(config, model, shadow, machine).memory().peak


def _name(config: Stage) -> str:
    if isinstance(config, EvaluationStage):
        return "evaluate"
    return "sft" if isinstance(config, SftConfig) else "grpo"


class _Counting:
    """One estimate in the making."""

    def __init__(self, config: Stage, model: ModelConfig, shadow: Shadow, machine: Machine) -> None:
        self.config, self.model, self.shadow, self.machine = config, model, shadow, machine
        self.split = memory.Split.of(config, machine.gpus)
        self.schedule: Schedule = schedule(config, machine.gpus, len(shadow.policy.config.depths))
        self.costs: dict[Passes, Cost] = {}
        self.learnt: dict[Passes, Taken] = {}

    def estimate(self) -> Estimate:
        """All of it."""
        dtype = "bfloat16" if self.config.engine.bf16 else self.model.dtype
        rate = self.machine.rate(dtype)
        phases = tuple(self._phases(rate))
        return Estimate(
            stage=_name(self.config),
            task=self.shadow.task.task,
            size=self.shadow.task.shape,
            gpus=self.machine.gpus,
            limit=self.machine.limit,
            model=self._model(),
            phases=phases,
            learning=self._learning(),
            memory=self.memory(),
            rate=rate,
            host=storage.host(self.shadow, self.split, self.machine.cuda),
            disk={}
            if isinstance(self.config, EvaluationStage)
            else storage.disk(self.shadow, self.split, self.config, self.model),
        )

    def _phases(self, rate: Rate) -> Iterable[Phase]:
        run = self.schedule
        first, last = run.names
        named = [(first, run.steps, run.step), (last, run.finish_steps, run.finish)]
        named.append(("validation", run.validations, run.validation))
        for name, times, passes in named:
            if times and passes:
                counts = tuple(self._counts(passes))
                yield Phase(name, times, counts, rate.seconds(sum(count.flops for count in counts)))

    def _counts(self, passes: tuple[Passes, ...]) -> Iterable[Count]:
        """Passes of a kind together."""
        for kind in dict.fromkeys(p.kind for p in passes):
            same = [p for p in passes if p.kind == kind]
            flops = sum(p.times * self._flops(p) for p in same)
            if flops:
                bound = next((p.bound for p in same if p.bound), "")
                yield Count(kind, sum(p.times for p in same), sum(p.looks for p in same), flops, bound)

    def _flops(self, passes: Passes) -> int:
        if passes.kind != "learn":
            return self._cost(passes).flops
        taken = self._taken(passes)
        return taken.forward + taken.backward + taken.again * self.config.engine.checkpointing

    def _cost(self, passes: Passes) -> Cost:
        alike = replace(passes, times=1, bound="")
        if alike not in self.costs:
            self.costs[alike] = self.shadow.cost(alike)
        return self.costs[alike]

    def _taken(self, passes: Passes) -> Taken:
        alike = replace(passes, times=min(passes.times, 2), bound="")
        if alike not in self.learnt:
            self.learnt[alike] = self.shadow.learning(alike)
        return self.learnt[alike]

    def _model(self) -> ModelSize:
        parts = {name: parts for name, parts in self.shadow.parts().items() if name != "reference"}
        trained = {name: sum(p.numel() for p in part if p.requires_grad) for name, part in parts.items()}
        whole = {name: sum(p.numel() for p in part) for name, part in parts.items()}
        return ModelSize(
            self.model.backbone,
            {name: count for name, count in whole.items() if count},
            {name: count for name, count in trained.items() if count},
            *self.shadow.tokens,
        )

    def _learning(self) -> LearningFlops:
        totals = [0, 0, 0]
        for passes in self.schedule.step:
            if passes.kind == "learn":
                taken = self._taken(passes)
                each = (taken.forward, taken.backward, taken.again * self.config.engine.checkpointing)
                totals = [total + passes.times * more for total, more in zip(totals, each, strict=True)]
        return LearningFlops(*totals)

    def memory(self) -> Memory:
        """Bytes of one rank."""
        trained = self.shadow.trained
        whole = memory.size(trained)
        learn = [self._taken(p) for p in self.schedule.step if p.kind == "learn"]
        stored = max((t.peak_stored for t in learn), default=whole) - whole
        recomputed = max((t.peak_recomputed for t in learn), default=whole) - whole
        return Memory(
            resident=memory.resident(self.shadow, self.split, self.machine.cuda, self._met()),
            gradients=self.split.gradients(trained),
            activations=recomputed if self.config.engine.checkpointing else stored,
            activations_kept=stored,
            activations_recomputed=recomputed,
            looking=max((self._cost(p).peak for p in self._largest()), default=0),
            stepping=self.split.stepping(trained),
        )

    def _largest(self) -> Iterable[Passes]:
        """Passes with the most states, one of each kind that only looks."""
        run = self.schedule
        looks = [p for p in (*run.step, *run.finish, *run.validation) if p.kind not in ("learn", "head")]
        return {p.kind: p for p in sorted(looks, key=lambda p: p.states * p.plans)}.values()

    def _met(self) -> int:
        """Different states that a rank sees in the whole run, at most."""
        run = self.schedule
        looks = {"pictures", "plans", "imitate"}
        every = [(run.steps, run.step), (run.finish_steps, run.finish), (1, run.validation)]
        return sum(times * p.looks for times, passes in every for p in passes if p.kind in looks)
