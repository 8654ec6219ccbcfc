"""``recommit graph score``: the signature is the command line."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.rules import NamedRule
    from recommit.graph.score import GraphScorer

RULES = (
    "fixed-1",
    "fixed-2",
    "fixed-4",
    "fixed-8",
    "head",
    "head+memory",
    "sampled",
    "random",
    "confidence-product",
    "confidence-least",
    "confidence-entropy",
    "disagreement",
    "entropy-jump",
    "repetition",
    "reversal",
    "consecutive",
)


def score(
    graph: Path,
    /,
    out: Path | None = None,
    choose_on: Path | None = None,
    rules: tuple[str, ...] = RULES,
    rule: Path | None = None,
    run_code: bool = False,
    table: Path | None = None,
    fitted: tuple[Path, ...] = (),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_observation: tuple[float, ...] = (),
    split: bool = False,
    without_budget: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Say exactly what rules are worth on a policy's plans, and what they give away.

    Args:
        graph: A folder that recommit graph build wrote, or sliding-2x3, an example that comes with the package.
        out: A folder for scores.json, scores.md and page.html, on which the worst commitments can be watched.
        choose_on: A graph of the same policy from other starts: thresholds and fixed depths are chosen there.
        rules: fixed-1 to fixed-8, head, confidence-product, confidence-least, confidence-entropy, disagreement,
            entropy-jump, repetition, reversal, consecutive, and agreement where the graph has samples; each also as
            NAME+memory. And sampled and random, depths drawn by the head or evenly: by expectation.
        rule: A file of Python that defines `rule`: a function from plans to depths, or a recommit.horizon.Rule. It is
            judged without and with a memory. The file is run: see run-code.
        run_code: Yes, run the file.
        table: A .npy file with a depth for every node, in the order of the graph.
        fitted: Folders of heads that recommit graph fit wrote; the graph needs features.
        budget: Numbers of looks; those of the puzzle if not said.
        price_action: What an action costs where looks have a price too; reaching the goal is worth 1. With 0 there is
            no table over all prices of a look.
        price_observation: What a look costs. Every budget is judged without prices first, then at each of these.
        split: Also say what is missing to optimal play because of the plans, and what because of the depths, in both
            orders. The graph needs the solver's ways from its starts: recommit graph build --ways, or every state.
        without_budget: Also say what the way to the goal costs where looks are not counted: at each price of a look,
            or at the price of an action. Rounds cost infinity and are counted. Rules of the present plan only.
        json: Print scores.json instead of the tables.
        quiet: Print nothing while judging.
    """
    from recommit.graph import files, gain, optimal_plans, tables
    from recommit.graph import rules as by_name
    from recommit.graph import score as scoring
    from recommit.graph import without_budget as ways_of
    from recommit.graph.prices import Prices
    from recommit.graph.score import GraphScorer
    from recommit.report import graph_page
    from recommit.storage.ownership import refuse_foreign

    if out is not None:
        refuse_foreign(out, ("scores.json",), "scores")
    try:
        judged = files.read(graph)
        settings = settings_of(judged, budget, price_action, price_observation)
        every = (*rules, *(by_name.SAMPLED if rules == RULES and judged.samples is not None else ()))
        entries = [by_name.named(name) for name in every]
        judge = GraphScorer(judged, settings)
        own = [(by_name.from_code(rule, trusted=run_code), rule)] if rule else []
        own += [(by_name.from_table(table), table)] if table else []
        for entry, path in own:
            by_name.ask_once(entry, path, judge.rules)
            entries += by_name.with_memory(entry)
        entries += _heads(fitted)
        other = None if choose_on is None else GraphScorer(files.read(choose_on), settings)
        rows = scoring.score(judge, entries, other, None if quiet else lambda name: say(f"{name} ..."))
        budgets = dict.fromkeys(each.budget for each in settings) if price_action else ()
        means = [row for k in budgets for row in gain.mean_gains(judge, entries, k, price_action, other)]
        parts = optimal_plans.rule_parts(judge, rows, entries) if split else []
        ways = [
            row
            for look in (price_observation or (price_action,) if without_budget else ())
            for row in ways_of.rule_costs(judge, entries, Prices(price_action, look), other)
        ]
        value = _values(judge, other or judge, entries, rows) | {"over_prices": [row.to_dict() for row in means]}
        value |= {"split": [row.to_dict() for row in parts]} if split else {}
        value |= {"without_budget": [row.to_dict() for row in ways]} if without_budget else {}
        text = tables.scores(judge, rows, other) + ("\n" + tables.over_prices(means) if means else "")
        text += "\n" + tables.split(judge.settings, parts) if split else ""
        text += "\n" + tables.without_budget(ways) if ways else ""
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if out is not None:
        _write(out, value, text)
        graph_page.write(
            judge, rows, entries, tables.about(judged, files.describe(judged)), out / "page.html", title_of(graph)
        )
    tell(json_module.dumps(value, indent=2) if json else text, end="")
    return 0


def _heads(folders: Sequence[Path]) -> list[NamedRule]:
    if not folders:
        return []
    from recommit.train.baselines import fitted

    return [fitted.rule(fitted.read(folder), folder.name) for folder in folders]


def settings_of(graph: CommitmentGraph, budget: Sequence[int], action: float, look: Sequence[float]) -> tuple[Any, ...]:
    """Every budget, without prices first and then at each price of a look."""
    from recommit.graph.prices import Prices, Setting

    budgets = budget or tuple(graph.puzzle.usual.budgets.values())
    if wrong := [k for k in budgets if not 1 <= k <= 64]:
        raise ValueError(f"budget: expected numbers 1..64, got {wrong[0]}")
    return tuple(Setting(k, prices) for k in budgets for prices in (Prices(), *(Prices(action, each) for each in look)))


def _values(
    judge: GraphScorer, chosen_on: GraphScorer, entries: Sequence[NamedRule], rows: Sequence[Any]
) -> dict[str, Any]:
    """Everything that was computed, as plain values."""
    from recommit.graph import files, tables
    from recommit.graph.regret import attribute

    first = judge.settings[0]
    by_name = {entry.name: entry for entry in entries}
    plain = [row for row in rows if row.under(first) and not by_name[row.rule].stochastic]
    worst: dict[str, Any] = {"rule": None, "commitments": []}
    if plain:
        best = max(plain, key=lambda row: row.value)
        episodes = attribute(judge.best(first), judge.graph.starts, judge.rules.chooser(best.entry(by_name[best.rule])))
        worst = {"rule": best.rule, "commitments": tables.described(judge.graph, episodes, tables.worst(episodes))}
    return {
        "graph": files.content(judge.graph),
        "chosen_on": files.content(chosen_on.graph),
        "settings": [
            {
                "budget": each.budget,
                "price_action": each.prices.action,
                "price_observation": each.prices.observation,
                "oracle": float(judge.oracle(each).mean()),
                "best_fixed": chosen_on.best_fixed(each),
                "best_fixed_value": float(judge.fixed(each, chosen_on.best_fixed(each)).mean()),
            }
            for each in judge.settings
        ],
        "rows": [row.to_dict() for row in rows],
        "curves": {
            f"{entry.name}, {each.label()}": judge.curve(entry, each)
            for entry in entries
            if entry.swept
            for each in judge.settings
            if each.prices == first.prices
        },
        "worst": worst,
    }


def _write(out: Path, value: dict[str, Any], text: str) -> None:
    from recommit.storage import files

    work = files.Files()
    files.make_folders(work, out.absolute())
    files.replace(work, out / "scores.json", (json_module.dumps(value, indent=2, allow_nan=False) + "\n").encode())
    files.replace(work, out / "scores.md", text.encode())


def title_of(graph: Path) -> str:
    """The title of a page about it."""
    return f"Commitments of {graph.name}"
