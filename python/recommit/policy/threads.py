"""How many threads torch computes with: one for a small network on a CPU, for others as many as the process has.

Threads of a pool meet after every operator, and an operator of a small network takes microseconds: two of them gain
little on quiet cores. On busy ones each waits for the other to get its core back, and a pass takes many times as long
(docs/benchmarks-train.md).
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Parameters from which on a network gains from several threads.
SMALL = 10_000_000
_DECIDED: ContextVar[bool] = ContextVar("decided", default=False)


@contextmanager
def threads(chosen: int | torch.nn.Module) -> Iterator[None]:
    """This number of threads, or those that suit a network; afterwards as before.

    0 decides nothing. Of several that are nested the outermost one that decides counts: what a user asked for holds for
    every policy that is played.
    """
    if _DECIDED.get() or chosen == 0:
        yield
        return
    before, decided = torch.get_num_threads(), _DECIDED.set(True)
    torch.set_num_threads(chosen if isinstance(chosen, int) else suited(chosen))
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _DECIDED.reset(decided)


def suited(network: torch.nn.Module) -> int:
    """Threads for a network by its size and place."""
    parameters = list(network.parameters())
    on_cpu = all(each.device.type == "cpu" for each in parameters)
    return 1 if on_cpu and sum(each.numel() for each in parameters) < SMALL else torch.get_num_threads()
