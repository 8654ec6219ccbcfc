"""Summary of a graph, and tables of the scores of rules, as text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.prices import RATIOS
from recommit.results.table import Grid, figure, number, of_bounds, percent, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.graph.decomposition import RuleParts
    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.score import GraphScorer, MeanGain, RuleScore
    from recommit.prices import Setting

Row = TypeVar("Row", "RuleScore", "RuleParts")


def about(graph: CommitmentGraph, manifest: dict[str, Any]) -> str:
    """Summary of a graph, one line per property."""
    solved = graph.goal[graph.landing[graph.planned, -1]]
    length = graph.distance[graph.starts]
    size, lost = "x".join(map(str, manifest["shape"])), (graph.distance < 0).mean()
    lines = [
        f"{graph.task} {size}: {len(graph):,} nodes, {manifest['planned']:,} of them with a plan",
        f"{manifest['starts']:,} starts in {manifest['groups']:,} groups",
        f"from the starts to the goal: {length.min()} to {length.max()} actions",
        f"plans that reach the goal: {solved.mean():.1%}; nodes without any way to it: {lost:.1%}",
        f"depths of the policy's own head: {', '.join(map(str, graph.head_depths))}",
        f"samples of an observation: {manifest['samples'] or 'none'}",
        f"for episodes of {f'at most {graph.budget}' if graph.budget else 'any number of'} observations",
        f"closed: {'yes' if manifest['closed'] else 'no, it was cut at a limit and cannot be scored'}",
        f"content: {manifest['content']}",
    ]
    return "\n".join(lines) + "\n"


#: Columns of the table of rules.
SCORES: dict[str, Callable[[RuleScore], str]] = {
    "rule": lambda row: row.rule,
    "threshold": lambda row: _threshold(row) + (" (one for all)" if row.shared else ""),
    "solved": lambda row: percent(row.solved),
    "actions": lambda row: number(row.actions),
    "observations": lambda row: number(row.observations, 2),
    "value": lambda row: percent(row.value),
    "gain share (95 %)": lambda row: figure(vars(row), "gain", 2),
}


def scores(scorer: GraphScorer, rows: Sequence[RuleScore], chosen_on: GraphScorer | None = None) -> str:
    """A table per setting, in Markdown; thresholds and fixed depths come from ``chosen_on``, or from this graph."""
    columns, parts = {**SCORES, "most is lost by": lambda row: _most(row.causes)}, []
    for setting in scorer.settings:
        depth = (chosen_on or scorer).best_fixed(setting)
        fixed, oracle = scorer.fixed(setting, depth).mean(), scorer.oracle(setting).mean()
        about = f"Best fixed depth: {depth}, value {100 * fixed:.1f}. Oracle depth: {100 * oracle:.1f}."
        grid = Grid.by(columns, _by_value(rows, setting))
        parts.append(f"## {setting.label()}\n\n{about}\n\n{grid.markdown()}\n")
    note = "Thresholds and fixed depths were chosen on this graph itself: what is said of them is their best.\n\n"
    lost = "Episodes that can no longer reach the goal count one action at each observation that is left.\n\n"
    return (note if chosen_on is None else "") + (lost if scorer.graph.budget else "") + "\n".join(parts)


def over_prices(rows: Sequence[MeanGain]) -> str:
    """A table per budget, in Markdown: the mean over all prices of an observation, and some of them."""
    parts, some = [], [RATIOS.index(ratio) for ratio in (0.125, 0.5, 1.0, 2.0, 4.0, 8.0)]
    columns: dict[str, Callable[[MeanGain], str]] = {
        "rule": lambda row: row.rule,
        "threshold": _threshold,
        "mean (95 %)": lambda row: figure(vars(row), "gain", 2),
        **{f"at {RATIOS[i]:g}": partial(lambda i, row: number(row.by_price[i], 2), i) for i in some},
    }
    for budget in dict.fromkeys(row.budget for row in rows):
        own = [row for row in rows if row.budget == budget]
        title = (
            f"## Gain share over prices of an observation, K = {budget}\n\nAn observation costs 1/8 to 8 actions, "
            f"an action {own[0].price_action:g}; the mean is over log prices.\n"
        )
        own.sort(key=lambda each: -np.inf if each.gain is None else each.gain, reverse=True)
        parts.append(f"{title}\n{Grid.by(columns, own).markdown()}\n")
    return "\n".join(parts)


def split(settings: Sequence[Setting], rows: Sequence[RuleParts]) -> str:
    """A table per setting, in Markdown: loss of plans and of depths, as the mean of both orders and in each order."""
    order = lambda pair: f"{100 * pair[0]:.1f}, then {100 * pair[1]:.1f}"
    columns: dict[str, Callable[[RuleParts], str]] = {
        "rule": lambda row: row.rule,
        "value": lambda row: percent(row.value),
        "optimal": lambda row: percent(row.best),
        "plans lose (95 %)": lambda row: spread(of_bounds(row.plans_lose), 1, 100.0),
        "depths lose (95 %)": lambda row: spread(of_bounds(row.depths_lose), 1, 100.0),
        "plans first": lambda row: order(row.plans_first),
        "depths first": lambda row: order(row.depths_first),
    }
    grids = {setting: Grid.by(columns, _by_value(rows, setting)) for setting in settings}
    parts = [f"## Plans or depths, {setting.label()}\n\n{grid.markdown()}\n" for setting, grid in grids.items()]
    return "\n".join(parts)


def _by_value(rows: Sequence[Row], setting: Setting) -> list[Row]:
    return sorted((row for row in rows if row.under(setting)), key=lambda row: -row.value)


def _threshold(row: RuleScore | MeanGain) -> str:
    return "" if row.threshold is None else f"{row.threshold:.3g}"


def _most(causes: dict[str, float]) -> str:
    name = max(causes, key=causes.__getitem__)
    return f"{name} ({causes[name]:.0%})" if causes[name] else ""
