"""The page of a comparison and its full tables, written from scores alone: no number on it is typed by hand."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from recommit.reproduce.compare import reading, words
from recommit.reproduce.compare.instances import HARDER, TEST
from recommit.reproduce.compare.played import SHARED
from recommit.reproduce.compare.reading import ScoredSetting
from recommit.reproduce.compare.sources import SHORT, SOURCES
from recommit.storage.terminal_text import grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Row = dict[str, Any]

WIDTH = 119
#: The verdict is at this price of a look, in actions, and without prices.
VERDICT = 1.0


def page(scores: Sequence[dict[str, Any]], call: str = words.USUAL) -> str:
    """All puzzles that were compared; ``call`` is the command that does it."""
    verdict = " ".join([words.AHEAD_OF_RULES, *(_verdict(one) for one in scores)])
    parts = ["# The depth head and the rules without training", _filled(verdict)]
    parts += [_filled(words.MEANING), _worth(scores), words.COUNTED, _tallies(scores)]
    parts += [f"```console\n{call}\n```", _filled(words.method(call)), _filled(words.NAMES)]
    return "\n\n".join([*parts, *map(_puzzle, scores)]) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _folded(title: str, table: str) -> str:
    """What opens when its title is clicked."""
    return f"<details markdown>\n<summary>{title}</summary>\n\n{table}\n\n</details>"


def _verdict(one: dict[str, Any]) -> str:
    """What the head is worth over the best rule, by budget: in value, and in instances solved."""
    worth = _over(one, TEST)
    value = ", ".join(f"{at[VERDICT]} at K = {budget}" for budget, at in worth.items() if VERDICT in at)
    solved = ", ".join(at[0.0] for at in worth.values() if 0.0 in at)
    return f"**{words.title(one)}: {value}** ({words.seeds(one['rows'][TEST])}). Without prices: {solved}."


def _worth(scores: Sequence[dict[str, Any]]) -> str:
    """The verdict on every set of instances."""
    lines = [
        [name, f"K = {budget}", at.get(VERDICT, ""), at.get(0.0, "")]
        for one, kind, name in _sets(scores)
        for budget, at in _over(one, kind).items()
    ]
    return grid(("instances", "looks", "with prices", "without prices"), lines)


def _tallies(scores: Sequence[dict[str, Any]]) -> str:
    """How many rules beat the head, over all settings of a set of instances."""
    lines = [[name, *words.tally(map(_tally, _by_setting(one, kind)))] for one, kind, name in _sets(scores)]
    return grid(("instances", *words.TALLY), lines)


def _sets(scores: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """A puzzle's scores, which of its instances, and what a table calls these."""
    for one in scores:
        yield one, TEST, words.title(one)
        if HARDER in one["rows"]:
            yield one, HARDER, f"harder: {one['instances'][HARDER]['label']}"


def _by_setting(one: dict[str, Any], name: str) -> list[list[Row]]:
    return [rows for each in reading.settings(one) if (rows := each.of(one["rows"][name]))]


def _over(one: dict[str, Any], name: str) -> dict[int, dict[float, str]]:
    """By budget and price of a look: at the price of the verdict, and without prices."""
    worth: dict[int, dict[float, str]] = {}
    for setting in reading.settings(one):
        rule = reading.best(setting.of(one["rows"].get(name, [])))
        if rule is not None and setting.looks in (VERDICT, 0.0):
            worth.setdefault(setting.budget, {})[setting.looks] = words.over(rule["ahead"], 100)
    return worth


def _puzzle(one: dict[str, Any]) -> str:
    rows = one["rows"][TEST]
    parts = [f"## {words.title(one)}", _filled(words.about(one))]
    parts.append(_filled(words.LINES))
    for k in _ks(one):
        name = f"assets/rules-compared-{one['puzzle']}-k{k}"
        parts += [f"**At most {k} looks** ([its points]({name}.csv)):", f"![{words.FIGURE}, K = {k}]({name}.svg)"]
    parts += ["### Our head and the best rule", _filled(words.BEST), _bests(rows, reading.settings(one))]
    parts += ["### What beats our head, and what does not", _filled(words.BEATS), _counts(one), _ahead(one)]
    parts += ["### Every rule on every source of plans", _filled(words.EVERY)]
    for setting in reading.settings(one):
        if setting.looks in (0.0, VERDICT):
            parts.append(_folded(f"{setting.label()}{words.unit(setting)}", _matrix(setting.of(rows))))
    if harder := one["rows"].get(HARDER):
        label = one["instances"][HARDER]["label"]
        parts += [f"### Harder: {label}", _filled(words.harder(one)), _bests(harder, reading.settings(one))]
    parts += ["### Plans or depths", _filled(words.SPLIT), _split(one)]
    return "\n\n".join(part for part in parts if part)


def _ks(one: dict[str, Any]) -> list[int]:
    return list(dict.fromkeys(each.budget for each in reading.settings(one)))


def _bests(rows: list[Row], settings: Sequence[ScoredSetting]) -> str:
    head = ("looks, price", "our head", "best rule", "its plans", "it", *words.AHEAD, "95 %", "solved", "actions")
    lines = []
    for setting in settings:
        for memory in (False, True):
            own = setting.of(rows)
            rule = reading.best(own, memory=memory) if own else None
            if rule is None:
                continue
            shown = [words.outcome(reading.head(own, memory=memory)), reading.rule_words(rule), SHORT[rule["source"]]]
            differences = [*words.ends(rule["ahead"], -100), *words.both(rule)]
            name = setting.label() + (", memory" if memory else "")
            lines.append([name, *shown, words.outcome(rule), *differences])
    return grid(head, lines)


def _played(one: dict[str, Any]) -> Iterator[tuple[str, ScoredSetting, list[Row]]]:
    """Every set of instances under every setting, with its name in a table."""
    for name, every in one["rows"].items():
        for setting in reading.settings(one):
            if rows := setting.of(every):
                yield f"{one['instances'][name]['label']}: {setting.label()}", setting, rows


def _counts(one: dict[str, Any]) -> str:
    """How many rules are ahead of our head beyond chance, level, and behind."""
    lines = [[name, *map(str, _tally(rows))] for name, _, rows in _played(one)]
    return grid(("instances, looks, price", *words.TALLY), lines)


def _tally(rows: list[Row]) -> tuple[int, int, int, int]:
    every = [row for memory in (False, True) for row in reading.untrained(rows, memory=memory)]
    before, behind = sum(row["ahead"][1] > 0 for row in every), sum(row["ahead"][2] < 0 for row in every)
    return len(every), before, len(every) - before - behind, behind


def _ahead(one: dict[str, Any]) -> str:
    """Every rule that beats our head beyond chance, the most valuable first; other heads too."""
    lines = []
    for name, _, rows in _played(one):
        shared = [row for row in rows if row["chosen"] == SHARED]
        ahead = [row for row in rows if row["chosen"] != SHARED and row["ahead"][1] > 0]
        for row in sorted(ahead, key=lambda each: -each["ahead"][0]):
            other = reading.same_rule(shared, row)
            single = "" if other is None else words.difference(other["ahead"], 100)
            figures = [words.outcome(row), *words.ends(row["ahead"], 100), *words.both(row, -1), single]
            lines.append([name, reading.rule_words(row), SHORT[row["source"]], *figures])
    if not lines:
        return words.NOTHING
    head = ("instances, looks, price", "rule", "its plans", "it", "ahead", "95 %", "solved", "actions")
    return _folded("Each rule that beats our head", grid((*head, "one threshold for all K"), lines))


def _matrix(rows: list[Row]) -> str:
    """Differences to our head, a column per source."""
    shown = [row for row in rows if row["chosen"] != SHARED]
    sources = [name for name in SOURCES if any(row["source"] == name for row in shown)]
    lines = []
    for rule in dict.fromkeys(row["rule"] for row in shown):
        by_source = {row["source"]: row for row in shown if row["rule"] == rule}
        lines.append([rule, *(_cell(by_source.get(name)) for name in sources)])
    ceiling = {row["source"]: row["ceiling"] for row in shown}
    lines.append(["exact ceiling, value", *(f"{100 * ceiling[name]:.1f}" for name in sources)])
    return grid(("rule", *(SOURCES[name] for name in sources)), lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    gain = "" if row["gain"] is None else f", gain {row['gain'][0]:.2f}"
    return f"{words.outcome(row)}: {words.difference(row['ahead'], 100)}{gain}"


def _split(one: dict[str, Any]) -> str:
    parts = ("plans lose", "95 %", "depths lose", "95 %")
    head = ("instances", "looks, price", "rule", "its plans", "value", "optimal", *parts)
    lines = []
    for name, about in one["instances"].items():
        for setting in reading.settings(one):
            rows = setting.of([row for row in one["split"] if row["instances"] == name])
            test = setting.of(one["rows"][TEST])
            best = reading.best(test) if rows else None
            for row in [reading.head(rows), reading.same_rule(rows, best)] if best else []:
                if row is not None:
                    values = [f"{100 * row['value']:.1f}", f"{100 * row['best']:.1f}"]
                    lost = [*words.ends(row["plans_lose"], 100), *words.ends(row["depths_lose"], 100)]
                    place = [about["label"], setting.label(), row["rule"], SHORT[row["source"]]]
                    lines.append([*place, *values, *lost])
    return grid(head, lines)


def tables(one: dict[str, Any]) -> str:
    """Every row of a puzzle."""
    parts = [f"# {words.title(one)}: every row"]
    for name, rows in one["rows"].items():
        for setting in reading.settings(one):
            if own := setting.of(rows):
                parts += [f"## {one['instances'][name]['label']}, {setting.label()}{words.unit(setting)}", _full(own)]
    return "\n\n".join(parts) + "\n"


def _full(rows: list[Row]) -> str:
    figures = ("solved at actions, looks", "value", "validation", "ahead", "95 %", "gain", "95 %")
    head = ("rule", "plans", "chosen", *figures)
    lines = []
    for row in sorted(rows, key=lambda each: -each["value"]):
        gain = ["", ""] if row["gain"] is None else words.ends(row["gain"], 1, 2)
        cells = [f"{words.outcome(row)}, {row['looks']:.2f}", f"{100 * row['value']:.1f}"]
        cells += [f"{100 * row['validation']:.1f}", *words.ends(row["ahead"], 100), *gain]
        lines.append([reading.rule_words(row), row["source"], row["chosen"], *cells])
    return grid(head, lines)
