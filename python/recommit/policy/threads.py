"""How many threads torch computes with: one for a small network on a CPU, and otherwise the process's own number.

Threads of a pool meet after every operator. The operators of a small network take microseconds, so that two threads gain
little on idle cores; on busy ones the thread that waits gives its core to other programs, or burns it, and a pass takes
ten to a hundred times as long (docs/performance.md has the table).
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Parameters from which on a network is worth several threads.
SMALL = 10_000_000
_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)


def fastest(network: torch.nn.Module) -> int:
    """Threads by the rule."""
    parameters = list(network.parameters())
    on_cpu = all(each.device.type == "cpu" for each in parameters)
    return 1 if on_cpu and sum(each.numel() for each in parameters) < SMALL else torch.get_num_threads()


@contextmanager
def threads(network: torch.nn.Module, count: int = 0) -> Iterator[None]:
    """``count`` threads within, or those of the rule where it is 0; the number of before afterwards. The outermost of
    several that are nested decides."""
    if _INSIDE.get():
        yield
        return
    before, token = torch.get_num_threads(), _INSIDE.set(True)
    torch.set_num_threads(count or fastest(network))
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _INSIDE.reset(token)
