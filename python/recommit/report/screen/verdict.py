"""What was found, in one sentence for every budget, and what it was found on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recommit.report.sections import compared, number, percent

if TYPE_CHECKING:
    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder

#: What "beyond chance" means, once.
CHANCE = "Beyond chance (95 %): the interval of the paired difference does not contain zero."


class _Measured(NamedTuple):
    """One figure of two agents, and the interval of the paired difference."""

    own: float
    other: float
    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """Sign of a difference beyond chance, else 0."""
        return (self.low > 0) - (self.high < 0)


def sentence(folder: Folder, budget: str) -> str:
    """The first agent against the best fixed depth, no more than the intervals show."""
    own = folder.row(folder.first, budget)
    best = folder.best_fixed(budget)
    words = _capital(folder.first.words)
    if best is None:
        return f"{words} solves {percent(own['solve_rate'])} % in {number(own['actions_per_episode'])} actions."
    pair = _pair(folder, best[0], budget)
    if pair is None:
        other = folder.row(best[0], budget)
        return (
            f"{words} solves {percent(own['solve_rate'])} % in {number(own['actions_per_episode'])} actions, the best "
            f"fixed depth {percent(other['solve_rate'])} % in {number(other['actions_per_episode'])}."
        )
    solved, actions = pair
    return f"{words} {_solved(solved)}, {_actions(actions)}."


def _pair(folder: Folder, other: Agent, budget: str) -> tuple[_Measured, _Measured] | None:
    """Per cent solved, and actions."""
    one = compared(folder, other, budget)
    if one is None:
        return None
    rows = folder.row(folder.first, budget), folder.row(other, budget)
    return tuple(  # type: ignore[return-value]
        _Measured(*(factor * row[field] for row in rows), *(factor * one[name][end] for end in ("mean", "low", "high")))
        for field, name, factor in (
            ("solve_rate", "solve_difference", 100.0),
            ("actions_per_episode", "actions_difference", 1.0),
        )
    )


def _solved(one: _Measured) -> str:
    figures = f"{number(one.own)} and {number(one.other)}\N{NO-BREAK SPACE}%"
    if not one.sign:
        return f"solves as much as the best fixed depth, within chance ({figures})"
    more = "more" if one.sign > 0 else "fewer"
    return f"solves {number(abs(one.mean))} points {more} than the best fixed depth ({figures})"


def _actions(one: _Measured) -> str:
    figures = f"{number(one.own)} and {number(one.other)}"
    if not one.sign:
        return f"with as many actions, within chance ({figures})"
    return f"with {number(abs(one.mean))} actions {'more' if one.sign > 0 else 'fewer'} ({figures})"


def where(folder: Folder, budget: str) -> str:
    """On how many instances of what, with how many looks, and which fixed depth is the best one."""
    lengths = folder.instances["length"] if folder.instances else None
    reach = f", {min(lengths)} to {max(lengths)} actions from their goals" if lengths else ""
    text = f"{folder.spec['instances']:,} test puzzles{reach}; at most {folder.budgets[budget]} looks each."
    if best := folder.best_fixed(budget):
        chosen = "validation puzzles" if best[1] else "these puzzles themselves, which flatters it"
        text += f" The best fixed depth is “{best[0].words}”, chosen on {chosen}. {CHANCE}"
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def title(folder: Folder) -> str:
    """Who, on which puzzle."""
    size = "{}x{} ".format(*folder.shape) if folder.shape else ""
    return f"{_capital(folder.first.words)} on {size}{folder.task}"
