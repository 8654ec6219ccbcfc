"""One episode on the robot's clock, written from the specification, tick by tick and without a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unit.horizon.sweep.toy import HORIZON, length, signal

if TYPE_CHECKING:
    from collections.abc import Callable

Trace = list[tuple[float, float]]


def episode(seed: int, depth: Callable[[int], int], latency: int, mode: str, hold: str) -> tuple[Trace, int, int]:
    """What is executed at each tick, how many chunks are asked for, and ticks that wait for one; ``depth`` of the tick
    at which it is asked."""
    plan: Trace = []
    arrives, asked_at, queries, stale_ticks = -1, -1, 0, 0
    executed: Trace = []
    for t in range(length(seed)):
        while True:
            if arrives == t:
                seen = signal(seed, asked_at)
                chunk = [(float(seen), float(100 * asked_at + i)) for i in range(HORIZON)]
                stale = latency if mode == "continue" and asked_at > 0 else 0
                plan = chunk[stale : stale + depth(asked_at)]
                arrives = -1
            if arrives < 0 and len(plan) <= (latency if mode == "continue" else 0):
                arrives, asked_at, queries = t + latency, t, queries + 1
                if latency == 0:
                    continue
            break
        if plan:
            executed.append(plan.pop(0))
        else:
            stale_ticks += 1
            executed.append(executed[-1] if hold == "last" and executed else (0.0, 0.0))
    return executed, queries, stale_ticks


def wrong(seed: int, trace: Trace) -> int:
    """Wrong actions."""
    return sum(value != signal(seed, t) for t, (value, _) in enumerate(trace))


def outcome(seed: int, depth: Callable[[int], int], options: Any) -> dict[str, Any]:
    """Of one episode, as a card has it."""
    trace, queries, stale = episode(seed, depth, options.latency, options.mode, options.hold)
    bad = wrong(seed, trace)
    return {"success": bad <= 4, "total": -float(bad), "ticks": length(seed), "queries": queries, "stale": stale}
