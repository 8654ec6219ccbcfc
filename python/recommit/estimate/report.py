"""An estimate in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.estimate.results import GIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.estimate.results import Count, Estimate, Phase

_LOOKS = {
    "learn": "learning, forward and backward",
    "reference": "the frozen policy beside it",
    "propose": "looks that plans are drawn from",
    "plans": "looks with greedy plans",
    "imitate": "imitation, forward only",
    "pictures": "pictures encoded",
    "head": "states that the depth head alone learns from",
}


def text(estimate: Estimate) -> str:
    """All that an estimate says, for people."""
    return "\n".join(_lines(estimate)) + "\n"


def _lines(estimate: Estimate) -> Iterator[str]:
    rows, cols = estimate.size
    yield f"{estimate.stage}, {estimate.task} {rows}x{cols}, on {estimate.gpus} rank{'s' * (estimate.gpus > 1)}"
    yield from _model(estimate)
    for phase in estimate.phases:
        yield from _phase(phase, estimate.gpus)
    yield from _learning(estimate)
    yield from _memory(estimate)
    yield _sizes("node", estimate.host) + " (all ranks; allowances and loading included)"
    yield _sizes("disk", estimate.disk) + ", the data set left out"
    yield f"time     {_time(estimate)}"


def _model(estimate: Estimate) -> Iterator[str]:
    model = estimate.model
    yield f"model    {model.backbone}: {sum(model.parameters.values()):,} parameters ({_parts(model.parameters)})"
    yield f"trained  {sum(model.trained.values()):,} ({_parts(model.trained)})"
    tokens = model.visual_tokens + model.text_tokens
    yield f"tokens   {tokens} per state: {model.visual_tokens} visual, {model.text_tokens} of text"


def _parts(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in parts.items())


def _phase(phase: Phase, gpus: int) -> Iterator[str]:
    took = "" if phase.seconds is None else f", {seconds(phase.seconds)}"
    yield f"{phase.name}, {phase.times:,} of them: {operations(phase.flops * gpus)} on all ranks{took}; of one rank:"
    yield from (_count(count) for count in phase.counts)


def _count(count: Count) -> str:
    most = "at most " * bool(count.bound)
    why = f" ({count.bound})" if count.bound else ""
    passes = f"{count.passes:,} pass{'es' * (count.passes > 1)}"
    return f"  {operations(count.flops):>12}  {most}{count.states:,} {_LOOKS[count.kind]}, in {passes}{why}"


def _learning(estimate: Estimate) -> Iterator[str]:
    parts = estimate.learning
    again = f", computed again {operations(parts.again)}" if parts.again else ""
    both = f"forward {operations(parts.forward)}, backward {operations(parts.backward)}"
    yield f"learning {both}{again}, a step of one rank"


def _memory(estimate: Estimate) -> Iterator[str]:
    memory = estimate.memory
    yield f"memory of one rank, GiB: {gib(memory.peak)} of {gib(estimate.limit)} at the worst moment"
    yield from (f"  {gib(size):>8}  {name}" for name, size in memory.resident.items())
    yield f"  {gib(memory.gradients):>8}  gradients"
    kinds = f"{gib(memory.activations_kept)} if kept, {gib(memory.activations_recomputed)} if computed again"
    yield f"  {gib(memory.activations):>8}  activations ({kinds})"
    yield f"  {gib(memory.looking):>8}  the largest pass that only looks, at another time"
    yield f"  {gib(memory.stepping):>8}  the optimiser's step, at another time"
    yield f"  {_verdict(estimate)}"


def _verdict(estimate: Estimate) -> str:
    if estimate.fits:
        return "it fits"
    if estimate.fits_with is None:
        return "IT DOES NOT FIT, and no setting was found under which it does"
    return f"IT DOES NOT FIT; it does with --set {' '.join(estimate.fits_with)}"


def _sizes(name: str, sizes: dict[str, int]) -> str:
    parts = ", ".join(f"{kind} {gib(size)}" for kind, size in sizes.items())
    return f"{name:<9}{gib(sum(sizes.values()))} GiB: {parts}"


def _time(estimate: Estimate) -> str:
    whole = f"{operations(estimate.flops)} in the whole run"
    if estimate.seconds is None:
        return f"{whole}; how long that takes is unknown without --peak"
    rate = estimate.rate
    basis = f"{rate.share:.0%} (assumed) of {rate.peak / 1e12:g} TFLOP/s ({rate.source})"
    return f"{whole}: {seconds(estimate.seconds)} at {basis}; play, solving and disks not included"


def gib(size: float) -> str:
    """Bytes in GiB."""
    return f"{size / GIB:,.2f}"


def operations(flops: float) -> str:
    """Floating-point operations, in words of three digits."""
    for unit, name in ((1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP")):
        if flops >= unit:
            return f"{flops / unit:.3g} {name}"
    return f"{flops / 1e6:.3g} MFLOP"


def seconds(value: float) -> str:
    """A time that people can read."""
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
