"""A rule of one's own: a file of Python that has one, or a table of depths.

    # rule.py: ten lines are enough
    from dataclasses import dataclass
    from recommit.horizon import Rule

    @dataclass(frozen=True)
    class FirstHalf(Rule):
        def propose(self, plans):
            return 1 + (plans.probabilities.max(-1)[:, :4] > 0.9).cumprod(1).sum(1)

    rule = FirstHalf()

A file is a program of whoever wrote it: it is run only if the caller says so. A table is numbers and nothing else.
"""

from __future__ import annotations

import io
import runpy
from dataclasses import dataclass
from tokenize import TokenError
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from recommit.graphs.rules import NamedRule
from recommit.horizon import Plans, Rule
from recommit.storage import opening

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: What the file has to define.
NAME = "rule"
#: Depths beyond this are all alike: none of a plan.
MOST = 1 << 16


@dataclass(frozen=True)
class DepthTable(Rule):
    """A depth for every node, in the order of the graph."""

    table: tuple[int, ...] = ()

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """What stands in the table."""
        if len(plans) != len(self.table):
            raise ValueError(f"table: expected a depth for each of {len(plans):,} nodes, got {len(self.table):,}")
        return np.array(self.table, np.int32)


def from_code(path: Path, *, trusted: bool) -> NamedRule:
    """The object called ``rule`` in a file of Python."""
    if not trusted:
        raise ValueError(
            f"rule: expected --run-code beside it, since {path} is a program that would run here, got none"
        )
    try:
        rule = runpy.run_path(str(path)).get(NAME)
    except (Exception, SystemExit) as error:
        raise ValueError(f"rule: {path}: {type(error).__name__}: {error}") from error
    if not isinstance(rule, Rule):
        raise ValueError(  # noqa: TRY004  (a wrong file, not a wrong call)
            f"rule: expected {path} to define `{NAME}`, a recommit.horizon.Rule, got {type(rule).__name__}"
        )
    return NamedRule(path.stem, rule)


def from_table(path: Path) -> NamedRule:
    """The depths in a ``.npy`` file, one number per node."""
    try:
        depths = npy.read_array(io.BytesIO(opening.content(path)), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError, TokenError) as error:
        raise ValueError(f"table: expected a .npy file of numbers, got {path}: {error}") from None
    if depths.ndim != 1 or depths.dtype.kind not in "iu":
        raise ValueError(f"table: expected whole numbers [nodes], got {depths.dtype}{list(depths.shape)} in {path}")
    return NamedRule(path.stem, DepthTable(tuple(np.clip(depths, -1, MOST).astype(int).tolist())))
