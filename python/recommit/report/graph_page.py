"""The page about a commitment graph: the value of rules, regret by distance and cause, and the worst commitments.

A commitment is watched in the viewer of evaluations: on the left what the rule did from there on, on the right the best
depths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import tables as text
from recommit.graph.regret import CAUSES, attribute
from recommit.report import page
from recommit.report.by_distance import regret_by_distance
from recommit.report.episodes import in_255ths, pack_episode
from recommit.report.html import Html, asset, document, tag
from recommit.report.page import Section
from recommit.results.table import Grid, number
from recommit.storage import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.graph.regret import Attribution, ExpectedRegret
    from recommit.graph.score import GraphScorer, RuleScore
    from recommit.horizon.rule_registry import NamedRule
    from recommit.prices import Setting
    from recommit.report.figures import ReportFigure

#: In the order of the page.
SECTIONS = {
    "graph": Section("The graph", "A node is a state, and holds one plan of the policy; a rule says how much of it."),
    "rules": Section(
        "Rules",
        "Gain share is the part of the way from the best fixed depth to the best depths that a rule goes; exact "
        "values, intervals over starts.",
    ),
    "regret": Section("Regret", page.SECTIONS["regret"].how),
    "worst": Section(
        "The worst commitments",
        "Each is the first block on the left; on the right the best depths from the same state and remaining budget.",
    ),
}
#: Rules with a figure, and commitments to watch, at most.
FIGURES, WATCHED = 4, 24
NOTHING = "Sampled depths have no one episode to watch: add a rule that samples nothing."


def write(
    scorer: GraphScorer, rows: Sequence[RuleScore], entries: Sequence[NamedRule], about: str, out: Path, title: str
) -> None:
    """Make the page as a file, which is replaced whole or not at all."""
    files.replace(files.Files(), out, make(scorer, rows, entries, about, title).encode())


def make(scorer: GraphScorer, rows: Sequence[RuleScore], entries: Sequence[NamedRule], about: str, title: str) -> str:
    """All of it; regret is that of the last setting, which has prices if any has."""
    drawn: list[ReportFigure] = []
    setting = scorer.settings[-1]
    best = sorted((row for row in rows if row.under(setting) and not row.shared), key=lambda row: -row.value)
    by_name = {entry.name: entry for entry in entries}
    played = {row.rule: scorer.played(row.entry(by_name[row.rule]), setting) for row in best[:FIGURES]}
    first = next((row for row in best if not by_name[row.rule].stochastic), None)
    worst, packed = [tag("p", NOTHING, class_="missing")], None
    if first is not None:
        rows_of = attribute(
            scorer.best(setting), scorer.graph.starts, scorer.rules.chooser(first.entry(by_name[first.rule]))
        )
        watched = text.worst(rows_of, WATCHED)
        worst = _worst(scorer, first.rule, setting, rows_of, watched)
        packed = pack(scorer, setting, first.rule, rows_of, watched) if watched else None
    parts: dict[str, list[Html]] = {
        "graph": [tag("pre", tag("code", about), tabindex=0)],
        "rules": [_rules(rows, each) for each in scorer.settings],
        "regret": _regret(scorer, setting, played, drawn),
        "worst": worst,
    }
    content = [page.section(name, SECTIONS[name], *parts[name]) for name in SECTIONS]
    links = [(name, SECTIONS[name].title) for name in SECTIONS]
    return document("recommit graph", title, scorer.graph.task, content, packed, links)


def _rules(rows: Sequence[RuleScore], setting: Setting) -> Html:
    own = sorted((row for row in rows if row.under(setting)), key=lambda row: -row.value)
    return Html(Grid.by(text.SCORES, own).html(setting.label()))


def _regret(
    scorer: GraphScorer, setting: Setting, played: dict[str, Attribution | ExpectedRegret], drawn: list[ReportFigure]
) -> list[Html]:
    distance = scorer.graph.distance
    furthest = max(int(distance[rows.node].max(initial=1)) for rows in played.values())
    lost = [
        regret_by_distance(name, distance[rows.node], rows.cause, rows.regret, len(rows.starts), furthest)
        for name, rows in played.items()
    ]
    note = tag("p", f"Exact, {setting.label()}, all eight depths. {page.CAUSES}", class_="quiet")
    return [note, *page.regret_parts(lost, drawn)]


def _worst(scorer: GraphScorer, name: str, setting: Setting, rows: Attribution, places: Sequence[int]) -> list[Html]:
    if not places:
        return [tag("p", f"{name} has no regret: every depth is one of the best.", class_="missing")]
    columns = {
        "commitment": lambda each: tag("a", str(each[0]), href=f"#i={each[0]}"),
        "distance": lambda each: str(each[1]["distance"]),
        "remaining budget": lambda each: str(each[1]["remaining"]),
        "depth": lambda each: str(each[1]["depth"]),
        "best depth": lambda each: str(each[1]["best_depth"]),
        "regret": lambda each: number(each[1]["regret"], 3),
        "cause": lambda each: each[1]["cause"],
    }
    grid = Grid.by(columns, enumerate(text.described(scorer.graph, rows, places)))
    label = f"Commitments of {name} with the most regret, {setting.label()}"
    return [Html(grid.html(label)), Html(asset("viewer.html"))]


def pack(scorer: GraphScorer, setting: Setting, name: str, rows: Attribution, places: Sequence[int]) -> dict[str, Any]:
    """The commitments at these places as episodes for the viewer; see ``recommit.report.episodes.pack_episode``."""
    graph = scorer.graph
    return {
        "task": graph.task,
        "rows": graph.states.shape[1],
        "cols": graph.states.shape[2],
        "budgets": {},
        "budget": setting.label(),
        "of": len(rows.node),
        "depths": list(graph.head_depths),
        "causes": list(CAUSES),
        "kinds": list(CAUSES),
        "other": 1,
        "open": 0,
        "agents": [{"label": label, "seeds": 1} for label in (name, "the best depths")],
        "instances": [
            {"n": i, "id": "", "kind": int(rows.cause[at]), "state": graph.states[rows.node[at]].tobytes().hex()}
            for i, at in enumerate(places)
        ],
        "played": [
            [_episode(scorer, _rest(rows, at)) for at in places],
            [_episode(scorer, _best(scorer, setting, int(rows.node[at]), int(rows.remaining[at]))) for at in places],
        ],
    }


#: Of each commitment: node, depth, regret, best depth, cause.
_Commitment = tuple[int, int, float, int, int]


def _rest(rows: Attribution, at: int) -> list[_Commitment]:
    """This commitment, and those that followed it in the same episode."""
    own = np.flatnonzero((rows.start == rows.start[at]) & (rows.remaining <= rows.remaining[at]))
    columns = (rows.node, rows.depth, rows.regret, rows.best, rows.cause)
    return list(zip(*(column[own].tolist() for column in columns), strict=True))


def _best(scorer: GraphScorer, setting: Setting, node: int, left: int) -> list[_Commitment]:
    """The best depths from a node, of equals the shallowest."""
    best, rows = scorer.best(setting), list[_Commitment]()
    while left and best.graph.planned[node] and not best.graph.goal[node]:
        column = int(best.q_values(left, np.array([node]))[0].argmax())
        rows.append((node, best.graph.depths[column], 0.0, best.graph.depths[column], -1))
        node, left = int(best.graph.landing[node, column]), left - 1
    return rows


def _episode(scorer: GraphScorer, rows: Sequence[_Commitment]) -> dict[str, Any]:
    graph, executed = scorer.graph, scorer.graph.executed
    done = [int(executed[node, depth - 1]) for node, depth, *_ in rows]
    last = int(graph.landing[rows[-1][0], rows[-1][1] - 1])
    nodes = [*(node for node, *_ in rows), last]
    return pack_episode(
        [depth for _, depth, *_ in rows],
        done,
        graph.distance[nodes],
        (action for (node, *_), n in zip(rows, done, strict=True) for action in graph.plans[node, :n].tolist()),
        solved=bool(graph.goal[last]),
        chances=in_255ths(graph.logits[nodes[:-1]]),
        costs=tuple(zip(*(each[2:] for each in rows), strict=True)),
    )
