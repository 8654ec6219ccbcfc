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
