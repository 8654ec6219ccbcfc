"""A rule of one's own: a file of Python that has one, or a table of depths.

    # sure.py: as long as the likeliest action is likelier than 0.9
    def rule(plans):
        return 1 + (plans.probabilities.max(-1)[:, 1:] > 0.9).cumprod(1).sum(1)

A file may also have an object: a ``Rule``, a ``ThresholdRule``, whose number is chosen as that of others, or either of
them in ``WithMemory``.

A file is a program of whoever wrote it: it is run only if the caller says so. A table is numbers and nothing else.
"""

from __future__ import annotations

import io
import runpy
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from tokenize import TokenError
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from recommit.graph.rules import MEMORY, NamedRule, named
from recommit.horizon import Plans, Rule, Tail, ThresholdRule, WithMemory
from recommit.storage import safe_open

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.at_work import RuleBench

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


@dataclass(frozen=True)
class FunctionRule(Rule):
    """A rule without a class: a function of plans."""

    function: Callable[[Plans], Any]

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """What it returns."""
        return np.asarray(self.function(plans))


def from_code(path: Path, *, trusted: bool) -> NamedRule:
    """What is called ``rule`` in a file of Python: a rule, one with a memory, or a function of plans."""
    if not trusted:
        raise ValueError(
            f"rule: expected --run-code beside it, since {path} is a program that would run here, got none"
        )
    try:
        rule = runpy.run_path(str(path)).get(NAME)
    except (Exception, SystemExit) as error:
        raise ValueError(f"rule: {_place(path, error)}: {type(error).__name__}: {error}") from error
    name, memory = _free_name(path), isinstance(rule, WithMemory)
    rule = rule.rule if isinstance(rule, WithMemory) else rule
    if isinstance(rule, FunctionType):
        rule = FunctionRule(rule)
    if not isinstance(rule, Rule):
        got = f"the class {rule.__name__}, which nobody called" if isinstance(rule, type) else type(rule).__name__
        raise ValueError(f"rule: expected {path} to define `{NAME}`, a recommit.horizon.Rule, got {got}")  # noqa: TRY004  (a wrong file)
    if isinstance(rule, ThresholdRule) and "previous" in rule.reads:
        raise ValueError(f"rule: expected a rule of one number in {path} to read the present plan alone, got {rule}")
    return NamedRule(name + MEMORY if memory else name, rule, memory)


def with_memory(entry: NamedRule) -> list[NamedRule]:
    """The rule, and the rule with a memory beside it."""
    return [entry] if entry.memory else [entry, replace(entry, name=entry.name + MEMORY, memory=True)]


def ask_once(entry: NamedRule, path: Path, bench: RuleBench) -> None:
    """Ask a rule about every plan before anything is judged, so that whoever wrote it reads where it fails."""
    plans = bench.plans_for(entry)
    if "previous" in entry.reads:
        plans = replace(plans, previous=Tail(plans.actions, np.zeros(len(plans), np.int64)))
    try:
        entry.orders(plans)
    except (Exception, SystemExit) as error:  # whatever a program of somebody else may raise
        raise ValueError(f"rule: {_place(path, error)}: {type(error).__name__}: {error}") from error


def _place(path: Path, error: BaseException) -> str:
    """The file, and the last of its lines that was at work."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if Path(each.filename) == path]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def _free_name(path: Path) -> str:
    """The name of a file, which no other rule may have."""
    try:
        named(path.stem)
    except ValueError:
        return path.stem
    raise ValueError(f"rule: expected a file whose name no rule here has, got {path.name}")


def from_table(path: Path) -> NamedRule:
    """The depths in a ``.npy`` file, one number per node."""
    try:
        depths = npy.read_array(io.BytesIO(safe_open.content(path)), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError, TokenError) as error:
        raise ValueError(f"table: expected a .npy file of numbers, got {path}: {error}") from None
    if depths.ndim != 1 or depths.dtype.kind not in "iu":
        raise ValueError(f"table: expected whole numbers [nodes], got {depths.dtype}{list(depths.shape)} in {path}")
    return NamedRule(_free_name(path), DepthTable(tuple(np.clip(depths, -1, MOST).astype(int).tolist())))
