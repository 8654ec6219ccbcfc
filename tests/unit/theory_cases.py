"""What the tests of the theory try: sequences of depths, difficulties, plans."""

from __future__ import annotations

import math

from recommit import theory

H = theory.DEPTHS
#: Relative to sums of a few dozen logarithms.
CLOSE = 1e-11


def log_success(h, c, alpha):
    u = c * h**alpha
    return math.log(1 - u) if u < 1 else -math.inf


def rate(h, c, alpha):
    return log_success(h, c, alpha) / h


def sequences(remaining, depths, cut=True):
    """Every way to fill ``left`` actions with commitments."""
    if remaining == 0:
        yield ()
    for h in depths if remaining else ():
        if h <= remaining or cut:
            for rest in sequences(max(remaining - h, 0), depths, cut):
                yield (min(h, remaining), *rest)


def walk(plan, c, alpha):
    """The log success of commitments in a row."""
    total, t = 0.0, 0
    for h in plan:
        total, t = total + log_success(h, c[t], alpha[t]), t + h
    return total


def fixed_plan(h, horizon):
    return (h,) * (horizon // h) + ((horizon % h,) if horizon % h else ())


def greedy_plan(c, alpha, depths):
    plan, t = [], 0
    while t < len(c):
        plan.append(min(max(depths, key=lambda h, t=t: rate(h, c[t], alpha[t])), len(c) - t))
        t += plan[-1]
    return plan


def difficulties(draw, horizon, largest=8):
    """One c and alpha per action; a commitment of the largest depth never fails for certain."""
    alpha = draw.uniform(0.05, 0.99, horizon)
    return 10 ** draw.uniform(-3, 0, horizon) * float(largest) ** -alpha, alpha
