"""How far our head is ahead of the best rule on each source of plans, over the price of a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report.figures import Series, lines
from recommit.reproduce.compare import reading, words
from recommit.reproduce.compare.instances import TEST
from recommit.reproduce.compare.sources import SHORT, SOURCES

if TYPE_CHECKING:
    from recommit.report.axes import Figure

#: The colour of a line.
COLOURS = {"adaptive": "first", "fixed-8": "fixed", "random": "control", "init": "other"}


def of(one: dict[str, Any]) -> list[Figure]:
    """A figure per budget."""
    budgets = dict.fromkeys(each.budget for each in reading.settings(one))
    return [_ahead(one, budget) for budget in budgets]


def _ahead(one: dict[str, Any], budget: int) -> Figure:
    settings = [each for each in reading.settings(one) if each.budget == budget and each.looks]
    series = [_series(one, settings, source) for source in SOURCES]
    title = f"{words.title(one)}, K = {budget}: our head ahead of the best rule"
    return lines(
        f"rules-compared-{one['puzzle']}-k{budget}", title, "price of a look, in actions", "points ahead", series
    )


def _series(one: dict[str, Any], settings: list[reading.ScoredSetting], source: str) -> Series:
    bests = [(each.looks, reading.best(each.of(one["rows"][TEST]), source=source)) for each in settings]
    points = [(looks, *row["ahead"]) for looks, row in bests if row is not None]
    xs, means, lows, highs = zip(*points, strict=True) if points else ((), (), (), ())
    ys, low, high = ([-100 * value for value in values] for values in (means, highs, lows))
    return Series(SHORT[source], COLOURS[source], xs, ys, low, high)
