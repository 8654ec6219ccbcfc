"""One renderer for tables: padded Markdown that a terminal shows too, CSV, and HTML."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from recommit.storage.terminal_text import cell, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recommit.results.intervals import Interval

#: Where there is no figure.
NONE = "-"
#: A spreadsheet takes cells that begin so for formulas.
_FORMULA = ("=", "+", "-", "@", "\t")
#: What is none though it begins so: figures, perhaps with an interval or a count.
_FIGURE = re.compile(r"[+-]?[\d.,]+( \([-+\d., of]+\))?(; [+-][\d.,]+( \([-+\d., of]+\))?)*|-")
#: On pages: a minus, and a dash where there is no figure.
MINUS, DASH = "\u2212", "\u2013"


def number(value: float | None, digits: int = 1, scale: float = 1.0, *, sign: bool = False) -> str:
    """A figure with its digits; a dash for None, a point rather than a minus zero."""
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
        return NONE
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
        """Take any sequences, or a head as it is printed: ``a | b``."""
        return cls(tuple(head.split(" | ") if isinstance(head, str) else head), tuple(map(tuple, rows)))

    @classmethod
    def by(cls, columns: Mapping[str, Callable[[Any], str]], records: Iterable[Any]) -> Grid:
        """A row for each record: columns are functions of it, by their heads."""
        return cls.of(tuple(columns), [[fill(each) for fill in columns.values()] for each in records])

    def markdown(self) -> str:
        """Padded, so that it reads as plain text; every column but the first to the right."""
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
        """A table that scrolls by itself where it is wider than the screen; ``columns`` and ``rows`` are classes.
        Cells that have ``__html__`` are taken as they are."""
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
