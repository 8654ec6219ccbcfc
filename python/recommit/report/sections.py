"""Text and tables of a report; every number comes from the evaluation's files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from recommit.evaluate import text
from recommit.evaluate.agent_names import ORACLE
from recommit.evaluate.options import split_words
from recommit.prices import Prices
from recommit.report import reading
from recommit.report.html import Html, joined, minus, tag
from recommit.results.intervals import Interval
from recommit.results.table import DASH, Grid, figure, number, percent, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.report.reading import AgentPoint, Folder

#: Definition of "significant" on the page.
SIGNIFICANT = "Significant: the 95 % interval of the paired difference excludes zero."


def title(folder: Folder) -> str:
    """Title of the page: the first agent and the puzzle."""
    size = "{}x{} ".format(*folder.shape) if folder.shape else ""
    return f"{_capital(folder.first.words)} on {size}{folder.task}"


def verdict(folder: Folder, budget: str) -> str:
    """Sentence that compares the first agent with the best fixed depth, and claims no more than the intervals show."""
    own, best = folder.row(folder.first, budget), folder.best_fixed(budget)
    words, solved, actions = (
        _capital(folder.first.words),
        percent(own["solve_rate"]),
        number(own["actions_per_episode"]),
    )
    if best is None:
        return f"{words} solves {solved}\u00a0% in {actions} actions."
    other, one = folder.row(best[0], budget), folder.against[best[0].name, budget]
    less, spent = (Interval.of(one[f"{name}_difference"]) for name in ("solve", "actions"))
    shares = f"{solved} and {percent(other['solve_rate'])}\u00a0%"
    counts = f"{actions} and {number(other['actions_per_episode'])}"
    if not less.sign and not spent.sign:
        alike = f"{words} and the best fixed depth do not differ significantly"
        return f"{alike}: they solve {shares} in {counts} actions."
    begin = f"{words} solves about as much as the best fixed depth ({shares}, not significant)"
    if less.sign:
        points = f"{number(100 * abs(less.mean))} points {'more' if less.sign > 0 else 'fewer'}"
        begin = f"{words} solves {points} than the best fixed depth ({shares})"
    if not spent.sign:
        return f"{begin}; the difference in actions ({counts}) is not significant."
    return f"{begin} with {number(abs(spent.mean))} {'more' if spent.sign > 0 else 'fewer'} actions ({counts})."


def first_screen(folder: Folder, front: Html, viewer: Html) -> Html:
    """First screen: the verdict, the gain share, the Pareto front, and an episode of two agents."""
    budget = folder.widest
    others = [
        tag(
            "p",
            tag("b", f"At most {k} observations: "),
            verdict(folder, name),
            _gain_words(folder, name),
            class_="also",
        )
        for name, k in folder.budgets.items()
        if name != budget
    ]
    worth = gain_share(folder, budget)
    return tag(
        "section",
        tag("h2", verdict(folder, budget)),
        tag("p", where(folder, budget), class_="how"),
        worth or "",
        tag("div", front, *others, class_="front"),
        tag("div", viewer, class_="watch", id="episodes"),
        id="result",
        class_="screen" if worth else "screen plain",
    )


def where(folder: Folder, budget: str) -> str:
    """Sentences on the number and kind of instances, the budget, and the choice of the best fixed depth."""
    text = f"{folder.spec['instances']:,} test puzzles{_lengths(folder)}; "
    text += f"at most {folder.budgets[budget]} observations each."
    if best := folder.best_fixed(budget):
        chosen = "validation puzzles" if best[1] else "these puzzles themselves, which flatters it"
        text += f" The best fixed depth is “{best[0].words}”, chosen on {chosen}."
        most = folder.in_hindsight(budget) or best[0]
        if most is not best[0]:
            text += f" Of these, “{most.words}” solves most: {percent(folder.row(most, budget)['solve_rate'])}\u00a0%."
        text += f" {SIGNIFICANT}"
    return text


def _lengths(folder: Folder) -> str:
    lengths = folder.instances["length"]
    return f", {min(lengths)} to {max(lengths)} actions from their goals" if lengths else ""


def gain_share(folder: Folder, budget: str) -> Html | None:
    """Box with the gain share of the depth rule between the best fixed depth and the oracle depth of its plans; None if
    the evaluation has no gain shares."""
    row = folder.row(folder.first, budget)
    if "gain" not in row:
        return None
    constant, oracle = folder.constant(budget), folder.agent(ORACLE)
    priced = prices(folder) != UNPRICED
    figures = [
        "" if agent is None or priced else f" ({percent(folder.row(agent, budget)['solve_rate'])} %)"
        for agent in (constant, oracle)
    ]
    named = constant.words if constant else "the best fixed depth"
    what = "value" if priced else "puzzles solved"
    words = (
        f"The part of the way in {what} from {named}{figures[0]} to the oracle depth{figures[1]}, for the same plans."
    )
    share, _, within = figure(row, "gain", 2).partition(" (")
    if row["gain"] is None:
        share, within = f"{share}:", "the oracle depth is not significantly better"
    elif within:
        within = f"{within[:-1]}, {'' if row['gain_low'] > 0 or row['gain_high'] < 0 else 'not '}significant"
    bounds = tag("span", minus(within), class_="bounds")
    shown = tag("p", tag("strong", minus(share)), " ", bounds, class_="figure")
    title = tag("h3", "Gain share of the depth rule")
    return tag("div", title, shown, tag("p", words, class_="quiet"), class_="worth")


def _gain_words(folder: Folder, budget: str) -> str:
    row = folder.row(folder.first, budget)
    return f" Gain share: {minus(figure(row, 'gain', 2))}." if "gain" in row else ""


UNPRICED = "solved episodes alone count"


def prices(folder: Folder) -> str:
    """Prices of actions and observations, in words."""
    words = Prices(*(folder.spec.get(f"price_{what}", 0.0) for what in ("action", "observation"))).words
    return f"prices: {' and '.join(words)}" if words else UNPRICED


def results(folder: Folder) -> Html:
    """Results of every agent under every budget, in groups that fold, with paired differences from the first agent."""
    return joined(*(_of_budget(folder, budget) for budget in folder.budgets))


def _of_budget(folder: Folder, budget: str) -> Html:
    points = {point.agent: point for point in reading.points(folder, budget)}
    columns, parts = _columns(folder, budget), []
    for name, members in reading.groups(folder, budget).items():
        solved = [points[agent].solved.mean for agent in members]
        reach = f", {number(min(solved))} to {number(max(solved))} % solved" if len(members) > 1 else ""
        about = f"{len(members)} agent{'s' if len(members) > 1 else ''}{reach}"
        summary = tag("summary", tag("b", name), " ", tag("small", about))
        grid = Grid.by(columns, [points[agent] for agent in members]).html(
            f"{name}, {budget} budget", rows=["first" if agent is folder.first else "" for agent in members]
        )
        parts.append(tag("details", summary, Html(grid), class_="group", open=name == reading.COMPARED))
    heading = tag("h3", f"{budget} budget: at most {folder.budgets[budget]} observations")
    return tag("div", heading, *parts, class_="agents")


def _columns(folder: Folder, budget: str) -> dict[str, Callable[[AgentPoint], Any]]:
    """Columns of the results table: figures of an agent, and the first agent's paired differences from it."""
    rows = {agent: folder.row(agent, budget) for agent in folder.agents}
    against = {agent: folder.against.get((agent.name, budget)) for agent in folder.agents}
    why = reading.compared(folder, budget)

    def named(point: AgentPoint) -> Html:
        swatch = tag("span", class_=f"swatch {point.agent.role}", aria_hidden="true")
        words = tag("span", point.agent.words, title=point.agent.label)
        return joined(swatch, words, tag("small", reason) if (reason := why.get(point.agent)) else "")

    def difference(point: AgentPoint, name: str, scale: float = 1.0) -> Html | str:
        one = against[point.agent]
        return "" if one is None else _bold(Interval.of(one[f"{name}_difference"]).scaled(scale))

    def some(*names: str) -> dict[str, Callable[[AgentPoint], str]]:
        there = {name: text.SOMETIMES[name] for name in names}
        return {
            name: partial(lambda fill, point: fill(rows[point.agent]), fill)
            for name, (key, fill) in there.items()
            if any(row.get(key) is not None for row in folder.summary)
        }

    def one_or(point: AgentPoint, fill: Callable[[dict[str, Any]], str], none: str = "") -> str:
        one = against[point.agent]
        return none if one is None else fill(one)

    return {
        "agent": named,
        "solved, %": lambda point: spread(point.solved),
        "actions": lambda point: spread(point.actions),
        **some("gain share (95 %)"),
        f"{folder.first.words} minus this: solved, points": lambda point: difference(point, "solve", 100.0),
        "... actions": lambda point: difference(point, "actions"),
        "dominated": lambda point: one_or(point, text.dominance),
        "observations": lambda point: number(rows[point.agent]["decisions_per_episode"]),
        **some("value, points (95 %)", "threshold"),
        "SPL, %": lambda point: percent(rows[point.agent]["spl"]),
        "lost, %": lambda point: percent(rows[point.agent]["lost"]),
        "mean depth": lambda point: number(rows[point.agent]["mean_depth"]),
        "p of the solved difference": lambda point: one_or(
            point, lambda one: f"{one['solve_difference']['p']:.2g}", DASH
        ),
    }


def _bold(less: Interval) -> Html | str:
    """A difference, bold where it is significant."""
    words = spread(less, sign=True)
    return tag("b", minus(words)) if less.sign else words


def made(folder: Folder) -> Html:
    """Sentence on the instances, agents, budgets, prices and the digest of the test set."""
    spec = folder.spec
    digest = f" Their digest is {spec['test_set']}." if spec.get("test_set") else ""
    budgets = " and ".join(f"{word} (K = {k})" for word, k in folder.budgets.items())
    split = split_words(spec.get("split", "test"), spec.get("fresh", 0))
    what = f"{spec['instances']:,} instances of {folder.task}{_lengths(folder)}, of {split}"
    ended = "; episodes end in states that cannot be solved" * bool(spec.get("stop_on_deadlock"))
    return tag("p", f"{what}; {len(folder.agents)} agents; budgets {budgets}; {prices(folder)}{ended}.{digest}")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
