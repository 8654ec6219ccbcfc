"""The one results table: a row per episode, queries over it, and its renderer.

======================================  ===================================================================
``Results``                             long rows of episodes: means and paired differences with intervals
``best``, ``deepest_within``            a choice by validation figures
``pareto``, ``undominated``             the Pareto front of benefit against cost, and what arithmetic bounds
``Grid``                                text cells as padded Markdown that a terminal shows too, CSV, or HTML
======================================  ===================================================================
"""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.results import intervals
from recommit.results.intervals import Interval
from recommit.storage.terminal_text import cell, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from recommit.results.intervals import Floats


Key = TypeVar("Key")
#: Margin of ``deepest_within``, in the share of solved episodes, or as a share of a return's range.
MARGIN = 0.05
#: Cell without a figure.
NONE = "-"
#: For a gain share where the oracle is not significantly better than the best fixed depth.
NO_ROOM = "no room"
#: Beginnings of cells that a spreadsheet takes for formulas.
_FORMULA = ("=", "+", "-", "@", "\t")
#: Cells that are no formulas though they begin so: figures, perhaps with an interval or a count.
_FIGURE = re.compile(r"[+-]?[\d.,]+( \([-+\d., of]+\))?(; [+-][\d.,]+( \([-+\d., of]+\))?)*|-")
#: On pages: a minus, and a dash where there is no figure.
MINUS, DASH = "\u2212", "\u2013"


@dataclass(frozen=True, eq=False)
class Results:
    """Long rows, one per episode: agent, budget, seed, instance, group, and measured columns.

    ``seed`` is that of training. Rows of the same agent, budget, seed and instance are repetitions, and averaged.
    """

    agent: NDArray[Any]
    budget: NDArray[Any]
    seed: NDArray[np.int64]
    instance: NDArray[np.int64]
    #: Instances that belong together, such as levels of one room.
    group: NDArray[np.int64]
    #: By name: solved, actions, observations, returns and others.
    measured: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.agent)

    @classmethod
    def joined(cls, parts: Iterable[Results]) -> Results:
        """Concatenate the rows of several tables."""
        every = list(parts)
        names = [each.name for each in fields(cls) if each.name != "measured"]
        keys: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in every]) for name in names}
        measured = {name: np.concatenate([part.measured[name] for part in every]) for name in every[0].measured}
        return cls(**keys, measured=measured)

    @cached_property
    def _places(self) -> dict[tuple[Any, Any], NDArray[np.intp]]:
        """Rows of each agent under each budget."""
        places: dict[tuple[Any, Any], list[int]] = {}
        for i, key in enumerate(zip(self.agent.tolist(), self.budget.tolist(), strict=True)):
            places.setdefault(key, []).append(i)
        return {key: np.array(rows, np.intp) for key, rows in places.items()}

    @property
    def keys(self) -> list[tuple[Any, Any]]:
        """Agents with their budgets, in the order of their first rows."""
        return list(self._places)

    def seeds(self, agent: str, budget: str | int) -> list[int]:
        """Training seeds of an agent."""
        return np.unique(self.seed[self._places[agent, budget]]).tolist()

    def values(self, agent: str, budget: str | int, column: str, seeds: Sequence[int] | None = None) -> Floats:
        """[seeds, instances] means of a column, of all seeds or some; [instances] of one seed. Raises unless every seed
        has the same instances."""
        own, some = self._places[agent, budget], self.seeds(agent, budget) if seeds is None else seeds
        own = own[np.isin(self.seed[own], some)]
        instances, place = np.unique(self.instance[own], return_inverse=True)
        cells, size = np.searchsorted(some, self.seed[own]) * len(instances) + place, len(some) * len(instances)
        played = np.bincount(cells, minlength=size)
        if (played == 0).any():
            raise ValueError(f"{agent}: expected all {len(instances)} instances for every seed, got some of them")
        means: Floats = (np.bincount(cells, self.measured[column][own], size) / played).reshape(len(some), -1)
        return means[0] if len(some) == 1 else means

    def groups(self, agent: str, budget: str | int) -> NDArray[np.int64]:
        """[instances] group of each instance."""
        own = self._places[agent, budget]
        return self.group[own][np.unique(self.instance[own], return_index=True)[1]]

    def mean(self, agent: str, budget: str | int, column: str) -> Interval:
        """Mean of a column with its interval."""
        return intervals.mean(self.values(agent, budget, column), self.groups(agent, budget))

    def difference(self, agent: str, other: str, budget: str | int, column: str) -> Interval:
        """Mean of an agent minus that of another, paired by instance and by the seeds that both have."""
        seeds = sorted({*self.seeds(agent, budget)} & {*self.seeds(other, budget)})
        one, two = (self.values(name, budget, column, seeds) for name in (agent, other))
        if one.shape != two.shape or not seeds:
            raise ValueError(f"{other}: expected the seeds and instances of {agent}, got others")
        return intervals.difference(one, two, self.groups(agent, budget))


def bounds(interval: Interval | None) -> tuple[Any, float | None, float | None]:
    """Mean, low and high of an interval as fields of a row; None for those that are missing or infinite."""
    values = {} if interval is None else interval.values()
    return values.get("mean"), values.get("low"), values.get("high")


def of_bounds(ends: Sequence[float | None]) -> Interval:
    """Inverse of ``bounds``."""
    return Interval.of(dict(zip(("mean", "low", "high"), ends, strict=True)))


def flat(name: str, interval: Interval | None) -> dict[str, Any]:
    """A figure and its interval as fields of a row: NAME, NAME_low, NAME_high."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), bounds(interval), strict=True))


def best(merits: Mapping[Key, Any]) -> Key | None:
    """The candidate with the highest merit (a number or a tuple of numbers), such as its mean on validation instances;
    ties go to the smallest key. None without candidates."""
    return max(sorted(merits), key=merits.__getitem__, default=None)  # type: ignore[type-var]


def deepest_within(differences: Mapping[int, Interval], margin: float = MARGIN) -> int | None:
    """The deepest depth that is no worse than the reference by more than the margin: the interval of its difference
    does not reach below -margin. None where every interval does."""
    return max((depth for depth, each in differences.items() if each.low >= -margin), default=None)


def pareto(points: Mapping[Key, tuple[float, float]]) -> list[Key]:
    """Keys of the points (benefit, cost) that no other point dominates, by rising cost. A point dominates another if it
    is at least as good in both and better in one."""
    order = sorted(points, key=lambda key: (points[key][1], -points[key][0]))
    front: list[Key] = []
    for key in order:
        last = points[front[-1]] if front else None
        if last is None or points[key][0] > last[0] or points[key] == last:
            front.append(key)
    return front


def undominated(budget: int, actions: float, depths: tuple[int, ...]) -> list[int]:
    """Fixed depths that an agent with ``actions`` per episode cannot dominate, whatever it solves: they never spend
    more."""
    return [depth for depth in depths if budget * depth < actions]


def number(value: float | None, digits: int = 1, scale: float = 1.0, *, sign: bool = False) -> str:
    """A figure with its digits; a dash for None, and never a minus zero."""
    if value is None or not isfinite(value):
        return NONE
    rounded = round(scale * value, digits) + 0.0
    return f"{rounded:{'+' if sign else ''}.{digits}f}"


def percent(value: float | None) -> str:
    """A share in per cent."""
    return number(value, 1, 100.0)


def ends(low: float | None, high: float | None, digits: int = 1, scale: float = 1.0, *, sign: bool = False) -> str:
    """Both ends of an interval; empty where it has none."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return ""
    return f"{number(low, digits, scale, sign=sign)} .. {number(high, digits, scale, sign=sign)}"


def spread(interval: Interval | None, digits: int = 1, scale: float = 1.0, *, sign: bool = False) -> str:
    """An estimate and its interval in one cell."""
    if interval is None:
        return NONE
    within = ends(interval.low, interval.high, digits, scale, sign=sign)
    return number(interval.mean, digits, scale, sign=sign) + (f" ({within})" if within else "")


def figure(row: Mapping[str, Any] | None, key: str, digits: int = 1, scale: float = 1.0) -> str:
    """A row's figure with the interval of its fields ``KEY_low`` and ``KEY_high``, where it has them."""
    if row is None or row.get(key) is None:
        return NO_ROOM if row is not None and key == "gain" in row else NONE
    stem = "solve" if key == "solve_rate" else key
    within = ends(row.get(f"{stem}_low"), row.get(f"{stem}_high"), digits, scale)
    return number(row[key], digits, scale) + (f" ({within})" if within else "")


@dataclass(frozen=True)
class Grid:
    """A table: its head and its rows, all text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, head: str | Sequence[str], rows: Iterable[Sequence[str]]) -> Grid:
        """Make a grid of any sequences; the head may also be text: ``a | b``."""
        return cls(tuple(head.split(" | ") if isinstance(head, str) else head), tuple(map(tuple, rows)))

    @classmethod
    def by(cls, columns: Mapping[str, Callable[[Any], str]], records: Iterable[Any]) -> Grid:
        """Make a grid with a row per record; ``columns`` maps each head to a function of the record."""
        return cls.of(tuple(columns), [[fill(each) for fill in columns.values()] for each in records])

    def markdown(self) -> str:
        """Markdown, padded so that it reads as plain text; every column but the first is right-aligned."""
        lines = [[cell(value) for value in line] for line in (self.head, *self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.head))]
        padded = [
            [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))]
            for line in lines
        ]
        rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
        head, *rows = (f"| {' | '.join(line)} |" for line in padded)
        return "\n".join([head, rule, *rows])

    def csv(self) -> str:
        """Comma-separated values."""
        return csv_text(self.head, self.rows)

    def html(self, label: str, *, columns: Sequence[str] = (), rows: Sequence[str] = ()) -> str:
        """HTML table that scrolls in itself if it is wider than the screen; ``columns`` and ``rows`` are CSS classes.
        Cells that have ``__html__`` are not escaped."""
        kinds = [*columns] or [""] * len(self.head)
        tops = [f'<th scope="col"{_class(kind)}>{_markup(c)}</th>' for c, kind in zip(self.head, kinds, strict=True)]
        body = []
        for row, kind in zip(self.rows, rows or [""] * len(self.rows), strict=True):
            tds = [f"<td{_class(k)}>{_markup(c)}</td>" for c, k in zip(row[1:], kinds[1:], strict=False)]
            body.append(f'<tr{_class(kind)}><th scope="row">{_markup(row[0])}</th>{"".join(tds)}</tr>')
        name = html.escape(plain(label), quote=True)
        return (
            f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table><caption>{name}</caption>'
            f"<thead><tr>{''.join(tops)}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        )


def _class(name: str) -> str:
    return f' class="{html.escape(name, quote=True)}"' if name else ""


def _markup(value: object) -> str:
    """Text as HTML, with typographic minus and dash."""
    if hasattr(value, "__html__"):
        return str(value.__html__())
    text = plain(value)
    return DASH if text == NONE else html.escape(re.sub(r"(?<![\w.])-(?=\d)", MINUS, text), quote=True)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values that a spreadsheet shows and does not compute."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_spreadsheet(value) for value in row] for row in (head, *rows)])
    return out.getvalue()


def _spreadsheet(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return "" if value is None else value
    if isinstance(value, float):
        return f"{value:.6g}"
    text = plain(value)
    return "'" + text if text.startswith(_FORMULA) and not _FIGURE.fullmatch(text) else text
