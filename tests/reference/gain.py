"""Gain share in plain Python."""

from __future__ import annotations


def constant(rows):
    """The fixed depth of most validation instances solved, the shallower of equals; ``rows`` by depth."""
    best = None
    for depth in sorted(rows):
        if best is None or rows[depth] > rows[best]:
            best = depth
    return best


def share(rule, fixed, ceiling):
    """From how many of the instances each solved, over seeds; None where nothing is to be taken."""
    way = sum(ceiling) - sum(fixed)
    return (sum(rule) - sum(fixed)) / way if way > 0 else None


def over_prices(outcomes, ceilings, action, ratios, *, defect=False):
    """Mean gain share over prices: ``outcomes`` by rule are (solved, actions, looks) of every start; the first rules
    are constants, the last is judged. ``ceilings`` by ratio are values by start. Defect: prices are weighted by
    themselves, as in a mean over prices that are not in logarithms."""
    *constants, own = outcomes
    shares = []
    for ratio, ceiling in zip(ratios, ceilings, strict=True):
        worth = [[s - action * a - action * ratio * n for s, a, n in each] for each in (*constants, own)]
        *fixed, rule = worth
        most = max(fixed, key=sum)
        way = sum(ceiling) - sum(most)
        if way > 1e-9 * len(rule):
            shares.append(((sum(rule) - sum(most)) / way, ratio if defect else 1.0))
    return sum(share * weight for share, weight in shares) / sum(weight for _, weight in shares)
