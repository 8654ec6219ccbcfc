"""Variants of training runs: by the choice of the depth, and by the parts that learn."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recommit.policy.config import MOST_ACTIONS


@dataclass(frozen=True)
class Variant:
    """Choice of the depth, and the parts that learn."""

    name: str
    #: The clamped depth, 0 if there is none.
    depth: int = 0
    #: True if the depth head chooses; otherwise the depth is fixed or drawn uniformly.
    head: bool = True
    #: True if anything but the depth head learns.
    rest: bool = True


def variant(name: str) -> Variant:
    """``adaptive``, ``fixed-1`` to ``fixed-16``, ``random`` or ``depth-only``."""
    others = {
        "adaptive": Variant("adaptive"),
        "random": Variant("random", head=False),
        "depth-only": Variant("depth-only", rest=False),
    }
    if not isinstance(name, str):  # a recipe may hold anything
        raise ValueError(f"variant: expected text, got {type(name).__name__}")  # noqa: TRY004
    if name in others:
        return others[name]
    match = re.fullmatch(r"fixed-([1-9]\d?)", name)
    if match and int(match[1]) <= MOST_ACTIONS:
        return Variant(name, depth=int(match[1]), head=False)
    raise ValueError(
        f"variant: expected adaptive, fixed-1 to fixed-{MOST_ACTIONS}, random or depth-only, got {name[:80]}"
    )
