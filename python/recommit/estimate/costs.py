"""The estimate of a stage on a machine: passes, memory of one rank by kind, and a text report."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from recommit.estimate.machine import GIB, HIGH, LOW, Machine, Rate
from recommit.estimate.meta_model import Shadow
from recommit.estimate.schedule import schedule
from recommit.policy.vision import group
from recommit.runs.progress import clock
from recommit.train.config import SftConfig
from recommit.train.engine.base import deepspeed_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torch import Tensor

    from recommit.estimate.machine import Pace
    from recommit.estimate.schedule import Phase, Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig

#: Allowance for uncounted memory: CUDA context, workspaces of matrix products, fragmentation.
ALLOWANCE = 1 << 30
#: Size limit of the feature cache of a rank; see ``recommit.policy.vision``.
FEATURES = 1 << 30
#: Bytes per parameter of AdamW's moments, and of the float32 master copy.
MOMENTS, MASTER = 8, 4
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
class PhaseCost:
    """A kind of step: number of steps, and cost of one step on one rank by kind of pass: FLOPs, kernels, and launches
    (a compiled region counts as one)."""

    name: str
    times: int
    kinds: dict[str, int]
    kernels: dict[str, int]
    launches: dict[str, int]
    #: By kind, per puzzle: (passes, states per pass, tokens of the language model per pass).
    passes: dict[str, list[tuple[int, int, int]]]

    @property
    def flops(self) -> int:
        """FLOPs of one step on one rank."""
        return sum(self.kinds.values())

    @property
    def tokens(self) -> int:
        """Tokens of the language model in one step on one rank."""
        each = [passes for kind, passes in self.passes.items() if kind not in ("encode", "head")]
        return sum(many * row for passes in each for many, _, row in passes)


@dataclass(frozen=True)
class Memory:
    """Memory of one rank in bytes: separate kinds, and the ``peak``."""

    #: Always allocated: weights, lora, heads, optimizer, reference, features, buckets, gathered, allowance.
    resident: dict[str, int]
    gradients: int
    #: Peak of a training pass, without gradients.
    activations: int
    #: Peak of the largest pass without training.
    inference: int
    #: During the optimizer step, including gradients.
    stepping: int

    @property
    def peak(self) -> int:
        """Maximum over training passes, other passes and the optimizer step."""
        return sum(self.resident.values()) + max(self.gradients + self.activations, self.inference, self.stepping)


@dataclass(frozen=True)
class Estimate:
    """The estimate of a recipe's stage on a number of ranks."""

    stage: str
    #: Puzzles that are trained jointly, with sizes.
    puzzles: tuple[str, ...]
    gpus: int
    #: Available bytes per rank.
    limit: int
    backbone: str
    #: Number of all, and of trained, parameters by part (language, vision, lora, decoder, depth head).
    parameters: dict[str, int]
    trained: dict[str, int]
    #: Tokens of an observation by puzzle: (visual, text).
    tokens: tuple[tuple[int, int], ...]
    phases: tuple[PhaseCost, ...]
    memory: Memory
    rate: Rate
    #: True if the backbone is compiled.
    compiled: bool

    @property
    def fits(self) -> bool:
        """True if the peak is within the limit."""
        return self.memory.peak <= self.limit

    @property
    def flops(self) -> int:
        """FLOPs of the whole run over all ranks."""
        return self.gpus * sum(phase.times * phase.flops for phase in self.phases)

    @property
    def kernels(self) -> int:
        """Kernels of the whole run on one rank."""
        return sum(phase.times * sum(phase.kernels.values()) for phase in self.phases)

    @property
    def seconds(self) -> tuple[float, float] | None:
        """Time of the whole run under ``LOW`` and ``HIGH``; None if the rate is unknown."""
        return (self._by(LOW), self._by(HIGH)) if self.rate.peak else None

    def _by(self, pace: Pace) -> float:
        seconds = pace.start
        for phase in self.phases:
            starting = sum((phase.launches if self.compiled else phase.kernels).values()) * pace.launch
            products = phase.flops / (self.rate.peak * pace.share)
            seconds += phase.times * (max(products, starting) if pace.overlap else products + starting)
        return seconds

    def to_json(self) -> dict[str, Any]:
        """All values as JSON."""
        derived = {"fits": self.fits, "peak": self.memory.peak, "flops": self.flops, "seconds": self.seconds}
        phases = [asdict(phase) | {"flops": phase.flops} for phase in self.phases]
        return {**asdict(self), "phases": phases, "rate": self.rate._asdict(), **derived}


def estimate(
    stage: Stage,
    model: ModelConfig,
    puzzles: Sequence[Puzzle],
    machine: Machine,
    progress: Callable[[str], None] = lambda _: None,
) -> Estimate:
    """Estimate a stage on jointly trained puzzles; ``model`` is that of the warm start, also for GRPO, whose recipe has
    none."""
    name, sft = ("sft", True) if isinstance(stage, SftConfig) else ("grpo", False)
    stages, shadows = [], []
    for puzzle in puzzles:
        progress(f"{name}, {named(puzzle)}: the model's shapes")
        own = stage if isinstance(stage, SftConfig) else stage.of(puzzle.task)
        stages.append(replace(own, validation=own.validation.of(puzzle)))  # type: ignore[arg-type]
        shadows.append(Shadow(stages[-1], model, puzzle, puzzles=puzzles, gpu=machine.card != "cpu"))
    tasks, depths = [puzzle.task for puzzle in puzzles], len(shadows[0].policy.config.depths)
    groups = shadows[0].policy.together(puzzles)
    plan, phases = schedule(stages, tasks, machine.gpus, depths, model.dtype, groups), []
    seen = [p.states for p in plan[0].passes if p.kind == ("learn" if sft else "sample")] or [1]
    for shadow in shadows:
        shadow.policy.vision.together = group(max(seen))
    for phase in plan:
        counts, passed = [Counter[str]() for _ in range(3)], dict[str, list[tuple[int, int, int]]]()
        for passes in phase.passes:
            shadow, kind = shadows[passes.puzzle], passes.kind
            progress(f"{name}, {named(puzzles[passes.puzzle])}: what a {phase.name} computes")
            first = kind not in passed
            found = shadow.flops(passes), *shadow.kernels(passes, first=first)
            for count, each in zip(counts, found, strict=True):
                count[kind] += each
            many = -(-passes.observations // passes.states)
            states = passes.states + sum(each for _, each in passes.beside)
            passed.setdefault(kind, []).append((many, states, shadow.row(passes)))
        passed = {kind: each for kind, each in passed.items() if counts[1][kind]}
        flops, kernels, launches = ({kind: count[kind] for kind in passed} for count in counts)
        phases.append(PhaseCost(phase.name, phase.times, flops, kernels, launches, passed))
    parts = {part: each for part, each in shadows[0].parts.items() if part != "reference" and each}
    trained = {part: sum(p.numel() for p in each if p.requires_grad) for part, each in parts.items()}
    return Estimate(
        stage=name,
        puzzles=tuple(map(named, puzzles)),
        gpus=machine.gpus,
        limit=machine.limit,
        backbone=model.backbone,
        parameters={part: sum(p.numel() for p in each) for part, each in parts.items()},
        trained={part: count for part, count in trained.items() if count},
        tokens=tuple(shadow.tokens for shadow in shadows),
        phases=tuple(phases),
        memory=memory(stage, plan, shadows, machine),
        rate=machine.rate(model.dtype),
        compiled=stage.engine.compile != "none",
    )


def named(puzzle: Puzzle) -> str:
    """A puzzle's name with its size, as in ``EstimateOptions.puzzles``."""
    return f"{puzzle.task}-{puzzle.shape[0]}x{puzzle.shape[1]}"


def size(tensors: Iterable[Tensor]) -> int:
    """Bytes of tensors; trained ones are stored in float32, whatever the compute dtype."""
    return sum(t.numel() * (MASTER if t.requires_grad else t.element_size()) for t in tensors)


def memory(stage: Stage, phases: list[Phase], shadows: list[Shadow], machine: Machine) -> Memory:
    """Memory of one rank. Of non-training passes only the largest of each kind and puzzle counts; with several puzzles,
    training passes hold the gradients of the others."""
    shadow, every = shadows[0], [p for phase in phases for p in phase.passes]
    waiting = (p for p in sorted(every, key=lambda p: p.states * p.plans) if p.kind not in ("learn", "head"))
    largest = {(p.kind, p.puzzle): p for p in waiting}
    learning = [p for p in every if p.kind == "learn"]
    several = len({p.puzzle for p in learning}) > 1
    learning = [replace(p, observations=p.observations + several) for p in learning]
    learned, world, deepspeed = size(shadow.trained), machine.gpus, stage.engine.kind == "deepspeed"
    zero, numbers = stage.engine.stage if deepspeed else 0, sum(t.numel() for t in shadow.trained)
    share, offload = -(-numbers // world), stage.engine.offload  # parameters updated by this rank
    gradients = learned if zero < 2 else -(-learned // world)
    stepping = learned * (1 + deepspeed)  # a single process steps in place
    if zero:  # plus this rank's float32 gradients, and two AdamW temporaries of that size
        stepping = (gradients if zero == 3 else 0) + 3 * MASTER * share * (not offload)
    resident = _resident(stage, shadow, machine, zero, share)
    seen = Counter[int]()
    for phase in phases:
        for p in phase.passes:
            if p.kind in ("encode", "plan", "imitate"):
                seen[p.puzzle] += (1 if phase.name == "validation" else phase.times) * p.observations
    features = sum(shadows[number].features(many) for number, many in seen.items())
    resident["features"] = min(FEATURES, features) * len(shadow.policies)
    return Memory(
        resident={name: each for name, each in resident.items() if each},
        gradients=gradients,
        activations=max((shadows[p.puzzle].cost(p).peak for p in learning), default=learned) - learned,
        inference=max((shadows[p.puzzle].cost(p).peak for p in largest.values()), default=0),
        stepping=stepping,
    )


def _resident(stage: Stage, shadow: Shadow, machine: Machine, zero: int, share: int) -> dict[str, int]:
    """Resident memory by kind; this rank updates ``share`` parameters."""
    parts, offload, world, learned = shadow.parts, stage.engine.offload, machine.gpus, shadow.trained

    def held(tensors: Iterable[Tensor]) -> int:
        """Bytes on this rank: ZeRO-3 shards weights, or offloads them to the host."""
        all_ = size(tensors)
        return all_ if zero < 3 else 0 if offload else -(-all_ // world)

    # Moments, and under ZeRO also master copies; on the device or on the host.
    moments = size(learned) * MOMENTS // MASTER + 4 * len(learned) * (stage.engine.kind == "plain")
    buckets = gathered = 0
    if zero:
        moments = share * (MOMENTS + MASTER)
        settings = deepspeed_settings(stage.engine, stage.optim, 1, world)["zero_optimization"]
        twice = bool(settings.get("overlap_comm", False)) and zero < 3
        buckets = int(settings["reduce_bucket_size"]) * MASTER * (1 + twice) * bool(learned)  # reduce buckets
    if zero == 3:  # gathered weights of other ranks
        most = settings.get("stage3_max_live_parameters", 1e9) + settings.get("stage3_prefetch_bucket_size", 5e7)
        all_ = shadow.whole(shadow.policy.parameters())
        gathered = min(int(most) * max(t.element_size() for t in all_), size(all_))
    beside = shadow.whole(p for module in shadow.modules[1:] for p in module.parameters())
    buffers = [b for module in shadow.modules for b in module.buffers()]
    return {
        "weights": held([*parts["language"], *parts["vision"]]) + size(buffers),
        "lora": held(parts["lora"]),
        "heads": held([*parts["decoder"], *parts["depth head"]]),
        "optimizer": 0 if offload else moments,
        "reference": held(parts["reference"]) + size(beside),
        "buckets": buckets,
        "gathered": gathered,
        "allowance": ALLOWANCE if machine.card != "cpu" else 0,
    }


def text(estimate: Estimate) -> str:
    """A text report of an estimate."""
    return "\n".join(_lines(estimate)) + "\n"


def _lines(estimate: Estimate) -> Iterator[str]:
    gpus = estimate.gpus
    yield f"{estimate.stage}, {' and '.join(estimate.puzzles)}, on {gpus} rank{'s' * (gpus > 1)}"
    for what, parts in ((estimate.backbone, estimate.parameters), ("trained", estimate.trained)):
        of = ", ".join(f"{name} {count:,}" for name, count in parts.items())
        yield f"{what}: {sum(parts.values()):,} parameters ({of})"
    for name, (visual, words) in zip(estimate.puzzles, estimate.tokens, strict=True):
        yield f"{visual + words} tokens per observation of {name}: {visual} visual, {words} of text"
    most = "" if estimate.stage == "sft" else "at most "
    for phase in estimate.phases:
        yield f"{phase.name}, {phase.times:,} of them: {most}{operations(phase.flops * gpus)} on all ranks; of one:"
        for kind, flops in phase.kinds.items():
            kernels = f"{phase.kernels[kind]:>9,} kernels ({phase.launches[kind]:,} compiled)"
            passes = ", ".join(f"{many} of {states} ({row:,})" for many, states, row in phase.passes[kind])
            yield f"  {operations(flops):>12} {kernels:>34}  {_KINDS[kind]}; passes of states (tokens): {passes}"
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
    rate = estimate.rate
    whole = f"time: {operations(estimate.flops)} in the whole run, {estimate.kernels:,} kernels on a rank"
    if estimate.seconds is None:
        yield f"{whole}; how long that takes is unknown without --peak"
    else:
        low, high = map(clock, estimate.seconds)
        yield f"{whole}: {low} to {high} at {rate.peak / 1e12:g} TFLOP/s ({rate.source})"
        yield f"  {low:>10}  {LOW.text} (assumed)"
        yield f"  {high:>10}  {HIGH.text} (assumed)"
        yield "  levels are drawn beside the steps; simulation, exact distances, compilation and disks are not included"


def gib(size: float) -> str:
    """Bytes in GiB."""
    return f"{size / GIB:,.2f}"


def operations(flops: float) -> str:
    """FLOPs with a unit, to three digits."""
    unit, name = next(
        ((u, n) for u, n in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G")) if flops >= u), (1e6, "M")
    )
    return f"{flops / unit:.3g} {name}FLOP"
