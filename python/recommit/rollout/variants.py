"""Kinds of runs that are compared: by what chooses the depth, and what learns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recommit.policy.config import MOST_ACTIONS


@dataclass(frozen=True)
class Variant:
    """What chooses the depth, and what learns."""

    name: str
    #: The clamped depth, 0 if there is none.
    depth: int = 0
    #: Does the depth head choose? Otherwise a fixed depth or an even draw does.
    head: bool = True
    #: Does anything but the depth head learn?
    rest: bool = True


def variant(name: str) -> Variant:
    """``adaptive``, ``fixed-1`` to ``fixed-16``, ``random`` or ``depth-only``."""
    others = {
        "adaptive": Variant("adaptive"),
        "random": Variant("random", head=False),
        "depth-only": Variant("depth-only", rest=False),
    }
    if not isinstance(name, str):  # as a recipe may say
        raise ValueError(f"variant: expected text, got {type(name).__name__}")  # noqa: TRY004
    if name in others:
        return others[name]
    match = re.fullmatch(r"fixed-([1-9]\d?)", name)
    if match and int(match[1]) <= MOST_ACTIONS:
        return Variant(name, depth=int(match[1]), head=False)
    raise ValueError(
        f"variant: expected adaptive, fixed-1 to fixed-{MOST_ACTIONS}, random or depth-only, got {name[:80]}"
    )
