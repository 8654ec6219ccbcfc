"""``recommit graph``: graphs of plans, and rules on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.cli.verbs.graphs.building import build
from recommit.cli.verbs.graphs.scoring import score
from recommit.cli.verbs.graphs.showing import push, show

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS: dict[str, Callable[..., int]] = {
    "build": build,
    "push": push,
    "score": score,
    "show": show,
}
