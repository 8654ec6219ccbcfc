"""``recommit graph build|score``: commitment graphs, and scoring of rules on them."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recommit.graph.options import RULES, GraphBuildOptions, GraphScoreOptions, settings
from recommit.runs.progress import Progress
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.graph.score import GraphScorer
    from recommit.horizon.rule_registry import NamedRule


def build(options: GraphBuildOptions, quiet: bool = False) -> int:
    """Build the commitment graph of a policy: every state that its plans can lead to.

    Args:
        quiet: Print nothing while observing.
    """
    from recommit.graph.build import build_graph

    line = Progress(0, 0, quiet=quiet)

    def observed(states: int, nodes: int) -> None:
        text = f"observed {states:,} of {nodes:,} states so far"
        if states == nodes:
            line.say(text)
        elif line.due():
            line.write(text)

    manifest = build_graph(options, observed)
    plans = f"{manifest['planned']:,} of them with a plan, " if options.budget else ""
    tell(f"{manifest['nodes']:,} nodes in {options.out}, {plans}content {manifest['content'][:16]}")
    if not manifest["closed"]:
        say(f"recommit graph: cut at {options.limit:,} nodes: a higher --limit is needed before rules can be scored")
    return 0


def score(options: GraphScoreOptions, json: bool = False, quiet: bool = False) -> int:
    """Score depth rules on a commitment graph: exact values and regret.

    Args:
        json: Print scores.json instead of the tables.
        quiet: Print nothing while scoring.
    """
    from recommit.graph import decomposition, files, tables
    from recommit.graph import score as scoring
    from recommit.graph.score import GraphScorer
    from recommit.storage import files as disk
    from recommit.storage.ownership import refuse_foreign

    if options.out is not None:
        refuse_foreign(options.out, ("scores.json",), "scores")
    graph, price = files.read(options.graph), options.price_action
    scorer = GraphScorer(graph, settings(options, graph))
    entries = _entries(options, scorer)
    other = None if options.choose_on is None else GraphScorer(files.read(options.choose_on), scorer.settings)
    rows = scoring.score(scorer, entries, other, None if quiet else lambda name: say(f"{name} ..."))
    budgets = dict.fromkeys(each.budget for each in scorer.settings) if price else ()
    means = [row for k in budgets for row in scoring.mean_gains(scorer, entries, k, price, other)]
    value = _values(scorer, other or scorer, entries, rows) | {"over_prices": [asdict(row) for row in means]}
    text = tables.scores(scorer, rows, other) + ("\n" + tables.over_prices(means) if means else "")
    if options.split:
        parts = decomposition.rule_parts(scorer, rows, entries)
        value["split"] = [asdict(row) for row in parts]
        text += "\n" + tables.split(scorer.settings, parts)
    if options.out is not None:
        disk.make_folders(disk.Files(), options.out.absolute())
        scores = json_module.dumps(value, indent=2, allow_nan=False) + "\n"
        disk.replace(disk.Files(), options.out / "scores.json", scores.encode())
        disk.replace(disk.Files(), options.out / "scores.md", text.encode())
    tell(json_module.dumps(value, indent=2) if json else text, end="")
    return 0


def _entries(options: GraphScoreOptions, scorer: GraphScorer) -> list[NamedRule]:
    """All requested rules."""
    from recommit.graph.rule_episodes import ask_once
    from recommit.horizon import rule_registry as by_name

    usual = options.rules == RULES and scorer.graph.samples is not None
    entries = [by_name.named(name) for name in (*options.rules, *(("agreement",) if usual else ()))]
    own = [(by_name.from_code(options.rule, trusted=options.run_code), options.rule)] if options.rule else []
    for entry, path in own:
        ask_once(entry, path, scorer.rules)
        entries += by_name.with_memory(entry)
    return entries


def _values(
    scorer: GraphScorer, chosen_on: GraphScorer, entries: Sequence[NamedRule], rows: Sequence[Any]
) -> dict[str, Any]:
    """All results as plain values."""
    from recommit.graph import files

    first = scorer.settings[0]
    return {
        "graph": files.content(scorer.graph),
        "chosen_on": files.content(chosen_on.graph),
        "settings": [
            {
                "budget": each.budget,
                "price_action": each.prices.action,
                "price_observation": each.prices.observation,
                "oracle": float(scorer.oracle(each).mean()),
                "best_fixed": chosen_on.best_fixed(each),
                "best_fixed_value": float(scorer.fixed(each, chosen_on.best_fixed(each)).mean()),
            }
            for each in scorer.settings
        ],
        "rows": [asdict(row) for row in rows],
        "curves": {
            f"{entry.name}, {each.label()}": scorer.curve(entry, each)
            for entry in entries
            if entry.swept
            for each in scorer.settings
            if each.prices == first.prices
        },
    }
