"""``recommit graph build|score|show``: commitment graphs, and rules that are scored on them."""

from __future__ import annotations

import json as json_module
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recommit.graph.options import RULES, GraphBuildOptions, GraphScoreOptions, GraphShowOptions, settings
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.graph.rules import NamedRule
    from recommit.graph.score import GraphScorer


def build(options: GraphBuildOptions, quiet: bool = False) -> int:
    """Observe every state that a policy's plans can lead to, and write down the graph of commitments.

    Args:
        quiet: Print nothing while observing.
    """
    from recommit.graph.build import build_graph

    manifest = build_graph(options, None if quiet else NodesLine())
    tell(f"{manifest['nodes']:,} nodes in {options.out}, content {manifest['content'][:16]}")
    if not manifest["closed"]:
        say(f"recommit graph: cut at {options.limit:,} nodes: a higher --limit is needed before rules can be scored")
    return 0


class NodesLine:
    """How many states were observed, on one line of a terminal, or now and then elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = self._last = time.monotonic()
        self._observed = 0

    def __call__(self, observed: int, nodes: int) -> None:
        """Say it, unless that was just done."""
        now = time.monotonic()
        if observed < self._observed:  # another graph
            self._begin = self._last = now
        self._observed = observed
        if now - self._last < (0.2 if self._live else 20.0) and observed < nodes:
            return
        self._last = now
        rate = observed / max(now - self._begin, 1e-9)
        say(f"observed {observed:,} of {nodes:,} states so far, {rate:,.0f} per second", over=self._live, end="\n")


def score(options: GraphScoreOptions, json: bool = False, quiet: bool = False) -> int:
    """Score rules exactly on a policy's plans: their values, their regret and where it falls.

    Args:
        json: Print scores.json instead of the tables.
        quiet: Print nothing while scoring.
    """
    from recommit.graph import files, references, tables
    from recommit.graph import score as scoring
    from recommit.graph.score import GraphScorer
    from recommit.prices import Prices
    from recommit.report import graph_page
    from recommit.storage.ownership import refuse_foreign

    if options.out is not None:
        refuse_foreign(options.out, ("scores.json",), "scores")
    graph, price = files.read(options.graph), options.price_action
    judge = GraphScorer(graph, settings(options, graph))
    entries = _entries(options, judge)
    other = None if options.choose_on is None else GraphScorer(files.read(options.choose_on), judge.settings)
    rows = scoring.score(judge, entries, other, None if quiet else lambda name: say(f"{name} ..."))
    budgets = dict.fromkeys(each.budget for each in judge.settings) if price else ()
    means = [row for k in budgets for row in scoring.mean_gains(judge, entries, k, price, other)]
    value = _values(judge, other or judge, entries, rows) | {"over_prices": [asdict(row) for row in means]}
    text = tables.scores(judge, rows, other) + ("\n" + tables.over_prices(means) if means else "")
    if options.split:
        parts = references.rule_parts(judge, rows, entries)
        value["split"] = [asdict(row) for row in parts]
        text += "\n" + tables.split(judge.settings, parts)
    if options.without_budget:
        prices = [Prices(price, each) for each in options.price_observation or (price,)]
        ways = [row for each in prices for row in references.rule_costs(judge, entries, each, other)]
        value["without_budget"] = [asdict(row) for row in ways]
        text += "\n" + tables.without_budget(ways) if ways else ""
    if options.out is not None:
        _write(options.out, value, text)
        about = tables.about(graph, files.describe(graph))
        graph_page.write(judge, rows, entries, about, options.out / "page.html", _title(options.graph))
    tell(json_module.dumps(value, indent=2) if json else text, end="")
    return 0


def _entries(options: GraphScoreOptions, judge: GraphScorer) -> list[NamedRule]:
    """All rules that are asked for."""
    from recommit.graph import rules as by_name
    from recommit.graph.rule_episodes import ask_once

    usual = options.rules == RULES and judge.graph.samples is not None
    entries = [by_name.named(name) for name in (*options.rules, *(by_name.SAMPLED if usual else ()))]
    own = [(by_name.from_code(options.rule, trusted=options.run_code), options.rule)] if options.rule else []
    own += [(by_name.from_table(options.table), options.table)] if options.table else []
    for entry, path in own:
        ask_once(entry, path, judge.rules)
        entries += by_name.with_memory(entry)
    if options.fitted:
        from recommit.train.heads import fitted

        entries += [fitted.rule(fitted.read(folder), folder.name) for folder in options.fitted]
    return entries


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
        "rows": [asdict(row) for row in rows],
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


def _title(graph: Path) -> str:
    return f"Commitments of {graph.name}"


def show(options: GraphShowOptions, json: bool = False) -> int:
    """Say what a commitment graph holds, make a page about it, or put it on a hub.

    Args:
        json: Print the manifest as JSON.
    """
    from recommit.graph import files, tables
    from recommit.storage import hub

    graph = files.read(options.graph)
    manifest = files.describe(graph)
    if options.push is not None:
        place = options.graph if options.graph.exists() else files.EXAMPLES / options.graph
        upload = hub.Upload(
            options.push, "dataset", place.absolute(), {"README.md": tables.card(manifest, options.push)}
        )
        tell(hub.push(upload, options.hub, options.send))
        return 0
    text = tables.about(graph, manifest)
    if options.page is not None:
        from recommit.graph import rules as by_name
        from recommit.graph import score as scoring
        from recommit.graph.score import GraphScorer
        from recommit.report import graph_page

        judge = GraphScorer(graph, settings(options, graph))
        entries = [by_name.named(name) for name in options.rules]
        graph_page.write(judge, scoring.score(judge, entries), entries, text, options.page, _title(options.graph))
    tell(json_module.dumps(manifest, indent=2) + "\n" if json else text, end="")
    return 0
