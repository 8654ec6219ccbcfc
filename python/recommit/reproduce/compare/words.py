"""Sentences and figures of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.reproduce.compare.instances import HARDER, TEST, VALIDATION
from recommit.reproduce.compare.sources import SHORT, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recommit.reproduce.compare.reading import ScoredSetting

AHEAD = ("we are ahead",)
TALLY = ("rules", "beat our head", "level", "behind")
AHEAD_OF_RULES = "How many points our trained depth head is ahead of the best rule without training."
MEANING = (
    "A policy plans eight actions at every look. Its *depth head* was trained to say how many of them to run before "
    "the next look. A *rule* reads the plan and says so without training. An episode has at most K looks. Differences "
    "are in points, with 95 % intervals; below zero the rule is worth more. A solved instance is worth 100 points. "
    "Here an action has the price that the head was trained with, and a look costs as much as an action. The best rule "
    "is the one that is worth most on validation instances, on whichever source of plans. Harder instances are longer "
    "or larger than those of the test."
)
COUNTED = "How many rules beat our head, over all prices and budgets (values of K):"
#: What made the published page.
USUAL = "recommit graph compare laptop --out compared"
METHOD = (
    "The command writes this page, its figures and every row. `{runs}` is what `recommit reproduce --preset {preset}`"
    " left. [The rules](guides/rules.md) have a page. Up to four policies of each seed make plans. Thresholds and "
    "constant depths are chosen on validation instances, for each budget and price. The tables also have one "
    "threshold for all budgets. All values are exact sums over [commitment graphs](guides/graphs.md), which hold what"
    " a policy would do in every state. Differences are paired: the same instances, the same seeds. A *memory* holds "
    "the states that an episode has seen. A rule with a memory is compared with our head with a memory."
)
NAMES = (
    "`Agreement` needs samples; of infinitely many it is confidence-product. `WithMemory` is the ending `+memory`. "
    "`Fixed` is `fixed`, with the depth that validation chooses. `FirstEvent` is `reversal`."
)
FIGURE = "Our head ahead of the best rule, over the price of a look"
LINES = (
    "Up is better for our head; the band is the 95 % interval. There is a line per source of plans, each with the rule "
    "that validation chooses there."
)
EVERY = (
    "Per cent solved at actions per episode, then points of value ahead of our head with the 95 % interval. *Gain* is "
    "the gain share: how much of the way from the best constant depth to the ceiling."
)
BEST = (
    "The best rule of each line is chosen on validation instances. The price of a look is in actions. Figures are "
    "per cent solved at actions per episode. The last columns are what our head is ahead of the rule. They are in "
    "value, in points solved, and in actions (below zero: it spends fewer)."
)
BEATS = (
    "All rules on all sources of plans, with and without a memory. Each has a threshold of its own budget and "
    "price. A rule beats our head if its whole 95 % interval lies above zero, and is behind if it lies below. "
    "Otherwise it is level. So many comparisons at once leave some to chance: one in forty of the level ones lies "
    "above."
)
NOTHING = "No rule and no other head beats ours beyond chance at any of these prices."
SPLIT = (
    "What is missing to optimal plans at optimal depths, in points of value. Plans lose what perfect plans would add; "
    "depths lose what perfect depths would add. What is mended first counts more, so each is the mean of both orders. "
    "The scores have both. First our head, then the best rule of the same setting."
)


def method(call: str) -> str:
    """What a page of this call is made of."""
    words = call.split()
    preset = words[words.index("--preset") + 1] if "--preset" in words else "laptop"
    return METHOD.format(runs=words[3], preset=preset)


def title(one: dict[str, Any]) -> str:
    """The puzzle with its size."""
    return str(one["title"]).capitalize()


def seeds(rows: Sequence[dict[str, Any]]) -> str:
    """How many there are, as a word."""
    count = max((len(row["seeds"]) for row in rows), default=0)
    return "one seed" if count == 1 else f"{count} seeds"


def about(one: dict[str, Any]) -> str:
    """Which runs and instances, and what is missing."""
    sets = one["instances"]
    text = f"{sets[TEST]['starts']:,} test instances, {sets[VALIDATION]['starts']:,} for validation. "
    text += f"An action costs {100 * one['price_action']:g} % of a solved instance. "
    for name, source in SOURCES.items():
        numbers: list[int] = next((row["seeds"] for row in one["rows"][TEST] if row["source"] == name), [])
        listed = f"seed{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}" if numbers else "none"
        text += f"{source.capitalize()} (*{SHORT[name]}*): {listed}. "
    if one["missing"]:
        text += f"**Left out, not finished or not asked for: {', '.join(one['missing'])}.** "
    return text.strip()


def harder(one: dict[str, Any]) -> str:
    """What the harder instances are."""
    instances = one["instances"][HARDER]
    return (
        f"{instances['starts']:,} instances of {instances['label']}, the same policies. Thresholds and constants are "
        "those of the validation instances above."
    )


def unit(setting: ScoredSetting) -> str:
    """Behind a setting: what its price is in."""
    if not setting.looks:
        return ""
    return " action per look" if setting.looks <= 1 else " actions per look"


def tally(counts: Iterable[tuple[int, int, int, int]]) -> list[str]:
    """All settings of a set of instances in a line."""
    return [f"{sum(column):,}" for column in zip(*counts, strict=True)]


def outcome(row: dict[str, Any]) -> str:
    """Solved at actions."""
    return f"{100 * row['solved']:.1f} at {row['actions']:.1f}"


def ends(values: Sequence[float], times: float, digits: int = 1) -> list[str]:
    """A mean, and its interval; turned round where ``times`` is below zero."""
    mean, *between = (times * value for value in values)
    low, high = sorted(between)
    return [f"{mean + 0.0:+.{digits}f}", f"{low + 0.0:+.{digits}f} .. {high + 0.0:+.{digits}f}"]


def difference(values: Sequence[float], times: float) -> str:
    """Both in one cell."""
    mean, between = ends(values, times)
    return f"{mean} ({between})"


def over(values: Sequence[float], times: float) -> str:
    """How far the head is ahead, from a rule's difference to it."""
    return difference(values, -times)


def both(row: dict[str, Any], sign: int = 1) -> list[str]:
    """What our head solves and spends more than the rule; with -1, the rule more than our head."""
    return [difference(row["ahead_solved"], -100 * sign), difference(row["ahead_actions"], -sign)]
