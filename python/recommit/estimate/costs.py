"""An estimate of a stage on a machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recommit.estimate.machine import GIB, Machine, Rate
from recommit.estimate.memory import Split, size
from recommit.estimate.meta_model import Shadow
from recommit.estimate.schedule import EvaluationStage, schedule
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.estimate.schedule import Passes, Phase, Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig

_ADVICE = (
    "IT DOES NOT FIT; less take --set optim.micro_batch=N (smaller passes), engine.checkpointing=true, and "
    "engine.kind=deepspeed engine.stage=3 on several GPUs"
)
_KINDS = {
    "learn": "forward and backward",
    "reference": "of the reference policy",
    "old": "old log probabilities again",
    "sample": "with sampled plans",
    "plan": "with greedy plans",
    "imitate": "supervised loss, forward only",
    "encode": "pictures encoded",
    "head": "updates of the depth head alone",
}


@dataclass(frozen=True)
class ModelSize:
    """Who learns, and what it reads of a state."""

    backbone: str
    #: Parameters by part (language, vision, lora, decoder, depth head): all of them, and those that are trained.
    parameters: dict[str, int]
    trained: dict[str, int]
    visual_tokens: int
    text_tokens: int


@dataclass(frozen=True)
class Count:
    """Passes of one kind in a step of one rank: how many, over how many states, and the FLOPs of all of them; an upper
    bound if it is ``at_most`` so many."""

    kind: str
    passes: int
    states: int
    flops: int
    at_most: bool


@dataclass(frozen=True)
class PhaseCost:
    """A kind of step: how many there are, and what one takes of one rank."""

    name: str
    times: int
    counts: tuple[Count, ...]
    seconds: float | None

    @property
    def flops(self) -> int:
        """Of one step of one rank."""
        return sum(count.flops for count in self.counts)


@dataclass(frozen=True)
class Memory:
    """Bytes of one rank, by kind; each kind by itself, and ``peak`` at the worst moment."""

    #: There all the time: weights, lora, heads, optimizer, reference, features, buckets, gathered, allowance.
    resident: dict[str, int]
    gradients: int
    #: Beyond gradients, at the peak of a pass that learns.
    activations: int
    #: Of the largest pass that does not learn.
    inference: int
    #: While the optimizer steps, gradients included.
    stepping: int

    @property
    def peak(self) -> int:
        """While a pass learns, a pass does not, or the optimizer steps."""
        return sum(self.resident.values()) + max(self.gradients + self.activations, self.inference, self.stepping)


@dataclass(frozen=True)
class Estimate:
    """A stage of a recipe on so many ranks."""

    stage: str
    task: str
    size: tuple[int, int]
    gpus: int
    #: Bytes that a rank may take.
    limit: int
    model: ModelSize
    phases: tuple[PhaseCost, ...]
    memory: Memory
    rate: Rate

    @property
    def fits(self) -> bool:
        """Does the recipe fit as it is?"""
        return self.memory.peak <= self.limit

    @property
    def flops(self) -> int:
        """Of the whole run, all ranks together."""
        return self.gpus * sum(phase.times * phase.flops for phase in self.phases)

    @property
    def seconds(self) -> float | None:
        """Time of the whole run, its passes alone."""
        return self.rate.seconds(self.flops / self.gpus)

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        derived = {"fits": self.fits, "peak": self.memory.peak, "flops": self.flops, "seconds": self.seconds}
        phases = [asdict(phase) | {"flops": phase.flops} for phase in self.phases]
        return {**asdict(self), "phases": phases, **derived}


def estimate(stage: Stage, model: ModelConfig, task: Puzzle, machine: Machine) -> Estimate:
    """Estimate a stage; ``model`` is that of the warm start, also for GRPO, whose recipe does not name one."""
    shadow = Shadow(stage, model, task)
    split = Split(shadow, stage, machine.gpus, cuda=machine.cuda)
    rate = machine.rate(model.dtype)
    plan, phases = schedule(stage, machine.gpus, len(shadow.policy.config.depths), model.dtype), []
    for phase in plan:
        counts = tuple(_counts(shadow, phase.passes))
        phases.append(PhaseCost(phase.name, phase.times, counts, rate.seconds(sum(count.flops for count in counts))))
    parts = {name: each for name, each in shadow.parts().items() if name != "reference" and each}
    trained = {name: sum(p.numel() for p in each if p.requires_grad) for name, each in parts.items()}
    return Estimate(
        "evaluate" if isinstance(stage, EvaluationStage) else "sft" if isinstance(stage, SftConfig) else "grpo",
        task.task,
        task.shape,
        machine.gpus,
        machine.limit,
        ModelSize(
            model.backbone,
            {name: sum(p.numel() for p in each) for name, each in parts.items()},
            {name: count for name, count in trained.items() if count},
            *shadow.tokens,
        ),
        tuple(phases),
        _memory(plan, shadow, split),
        rate,
    )


def _counts(shadow: Shadow, passes: tuple[Passes, ...]) -> Iterator[Count]:
    """Passes of a kind together."""
    for kind in dict.fromkeys(p.kind for p in passes):
        same = [p for p in passes if p.kind == kind]
        flops = sum(p.times * shadow.cost(p).flops for p in same)
        if flops:
            times, states = sum(p.times for p in same), sum(p.observations for p in same)
            yield Count(kind, times, states, flops, any(p.at_most for p in same))


def _memory(phases: list[Phase], shadow: Shadow, split: Split) -> Memory:
    """Bytes of one rank. Of passes that do not learn the ones with the most states count, one of each kind."""
    every = [p for phase in phases for p in phase.passes]
    largest = {p.kind: p for p in sorted(every, key=lambda p: p.states * p.plans) if p.kind not in ("learn", "head")}
    met = sum(
        (1 if phase.name == "validation" else phase.times) * phase.observations(kind)
        for phase in phases
        for kind in ("encode", "plan", "imitate")
    )
    whole = size(shadow.trained)
    return Memory(
        resident=split.resident(shadow.features(met)),
        gradients=split.gradients(),
        activations=max((shadow.cost(p).peak for p in every if p.kind == "learn"), default=whole) - whole,
        inference=max((shadow.cost(p).peak for p in largest.values()), default=0),
        stepping=split.stepping(),
    )


def text(estimate: Estimate, picture_first: Estimate | None = None) -> str:
    """All that an estimate says, for people; with what it would be if states shared no text, where they do."""
    return "\n".join(_lines(estimate, picture_first)) + "\n"


def _lines(estimate: Estimate, picture_first: Estimate | None) -> Iterator[str]:
    (rows, cols), gpus, model = estimate.size, estimate.gpus, estimate.model
    yield f"{estimate.stage}, {estimate.task} {rows}x{cols}, on {gpus} rank{'s' * (gpus > 1)}"
    yield f"model    {model.backbone}: {sum(model.parameters.values()):,} parameters ({_parts(model.parameters)})"
    yield f"trained  {sum(model.trained.values()):,} ({_parts(model.trained)})"
    tokens = model.visual_tokens + model.text_tokens
    yield f"tokens   {tokens} per observation: {model.visual_tokens} visual, {model.text_tokens} of text"
    for phase in estimate.phases:
        took = "" if phase.seconds is None else f", {seconds(phase.seconds)}"
        flops = f"{operations(phase.flops * gpus)} on all ranks{took}"
        yield f"{phase.name}, {phase.times:,} of them: {flops}; of one rank:"
        for count in phase.counts:
            passes = f"{count.passes:,} pass{'es' * (count.passes > 1)}"
            states = f"{'at most ' * count.at_most}{count.states:,}"
            yield f"  {operations(count.flops):>12}  {states} observations, {_KINDS[count.kind]}, in {passes}"
    memory = estimate.memory
    yield f"memory of one rank, GiB: {gib(memory.peak)} of {gib(estimate.limit)} at the worst moment"
    sizes = {
        **memory.resident,
        "gradients": memory.gradients,
        "activations": memory.activations,
        "the largest pass that does not learn, at another time": memory.inference,
        "the optimizer's step, at another time": memory.stepping,
    }
    yield from (f"  {gib(each):>8}  {name}" for name, each in sizes.items())
    yield f"  {'it fits' if estimate.fits else _ADVICE}"
    yield f"time     {_time(estimate)}"
    if picture_first is not None:
        step, whole = picture_first.phases[0].flops * gpus, picture_first.flops
        took = "" if picture_first.seconds is None else f", {seconds(picture_first.seconds)}"
        yield f"         with the picture before the text: {operations(step)} per step, {operations(whole)}{took}"


def _parts(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in parts.items())


def _time(estimate: Estimate) -> str:
    whole, rate = f"{operations(estimate.flops)} in the whole run", estimate.rate
    if estimate.seconds is None:
        return f"{whole}; how long that takes is unknown without --peak"
    basis = f"{rate.share:.0%} (assumed) of {rate.peak / 1e12:g} TFLOP/s ({rate.source})"
    return f"{whole}: {seconds(estimate.seconds)} at {basis}; simulation, solving and disks not included"


def gib(size: float) -> str:
    """Bytes in GiB."""
    return f"{size / GIB:,.2f}"


def operations(flops: float) -> str:
    """FLOPs with three digits."""
    for unit, name in ((1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP")):
        if flops >= unit:
            return f"{flops / unit:.3g} {name}"
    return f"{flops / 1e6:.3g} MFLOP"


def seconds(value: float) -> str:
    """A time that people can read."""
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
