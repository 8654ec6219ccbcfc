"""A real step, measured from outside: torch's own counter of operations, and what its allocator reports.

To hold an estimate against a machine: make the trainer inside ``measured``, and compare with that of the same recipe.
"""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode

from recommit.policy.flop_counter import attention, attention_backward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.estimate import Estimate
    from recommit.train.trainer import Trainer

MARK = "the step that counts"


@dataclass(frozen=True)
class Measured:
    """Two steps of a run on one rank."""

    #: Floating-point operations of the first.
    flops: int
    #: Most bytes of tensors at once in the second, weights and moments included.
    peak: int
    #: Of the second.
    seconds: float

    def apart(self, estimate: Estimate) -> tuple[float, float]:
        """How many times what was measured an estimate says: operations, and bytes without its allowance."""
        peak = estimate.memory.peak - estimate.memory.resident.get("allowance", 0)
        return estimate.phases[0].flops / self.flops, peak / self.peak


def measured(make: Callable[[], Trainer]) -> Measured:
    """Measure the trainer that ``make`` makes."""
    gc.collect()  # what goes later would count as less
    with _memory() as peak:
        trainer = make()
        with counter() as flops:
            trainer._step()
        gc.collect()  # the counter's hooks keep what was computed again
        began = time.perf_counter()
        with record_function(MARK):
            trainer._step()
        seconds = time.perf_counter() - began
    return Measured(flops.get_total_flops(), peak[0], seconds)


def counter() -> FlopCounterMode:
    """Make torch's counter, with the attention of CPUs."""
    aten = torch.ops.aten
    mapping = {
        aten._scaled_dot_product_flash_attention_for_cpu: _shaped(attention),
        aten._scaled_dot_product_flash_attention_for_cpu_backward: _shaped(attention_backward),
    }
    return FlopCounterMode(display=False, custom_mapping=mapping)


def _shaped(formula: Callable[..., int]) -> Callable[..., int]:
    """A formula of tensors, called with shapes."""
    return lambda *shapes, **_named: formula(*shapes)


@contextmanager
def _memory() -> Iterator[list[int]]:
    """One number, when the context is left: most bytes since the mark, of those that were allocated in the context."""
    peak: list[int] = []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watch:
        yield peak
    events: Any = watch.profiler.kineto_results.events()
    begin = next(event.start_ns() for event in events if event.name() == MARK)
    now = most = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now) if event.start_ns() >= begin else now
    peak.append(most)
