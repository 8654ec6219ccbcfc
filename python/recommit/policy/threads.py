"""Number of torch threads: one for a small network on a CPU, else as many as the process has.

Threads of a pool synchronise after every operator, and an operator of a small network takes microseconds: two threads
gain little on idle cores. On busy ones each waits for the other to be scheduled, and a pass takes many times as long
(docs/benchmarks-train.md).
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Networks with fewer parameters do not gain from several threads.
SMALL = 10_000_000
_DECIDED: ContextVar[bool] = ContextVar("decided", default=False)


@contextmanager
def threads(chosen: int | torch.nn.Module) -> Iterator[None]:
    """Within this context, use this number of threads, or the one that suits a network.

    0 changes nothing. Of nested contexts the outermost that sets a number wins: a user's choice holds for every policy.
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
    """Number of threads for a network, by its size and device."""
    parameters = list(network.parameters())
    on_cpu = all(each.device.type == "cpu" for each in parameters)
    return 1 if on_cpu and sum(each.numel() for each in parameters) < SMALL else torch.get_num_threads()
