"""From decisions and episodes to the rows of ``summary.json`` and ``comparisons.json``."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate import metrics
from recommit.evaluate.agent_names import ORACLE, AgentName
from recommit.evaluate.metrics import EpisodeRows
from recommit.prices import Prices
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.results import intervals
from recommit.results.table import Results, best, flat
from recommit.rollout.trace import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from recommit.rollout.decision_rows import DecisionRows


def row(
    rows: list[DecisionRows],
    played: list[EpisodeRows],
    k: int,
    rooms: NDArray[np.int64] | None = None,
    edges: str = metrics.EDGES[0],
    prices: Prices | None = None,
) -> dict[str, Any]:
    """Summary row of an agent under one budget: means over seeds, and intervals of the solve rate and, at ``prices``,
    of the value. Figures by distance pool the decisions of all seeds."""
    rows = [metrics.within(one, k) for one in rows]
    merged = averaged([metrics.summarise(p, r, k) for p, r in zip(played, rows, strict=True)])
    solved = intervals.share(per_instance(played, "solved"), rooms)
    merged["solve_low"], merged["solve_high"] = solved.low, solved.high
    if prices is not None:
        paid = [prices.returns(one.solved, one.actions, one.decisions) for one in played]
        merged |= flat("value", intervals.mean(np.mean(paid, axis=0), rooms))
    every = pooled(rows, played)
    merged["by_distance_solved"] = metrics.by_distance(*every, k, edges=edges)
    merged["by_distance"] = metrics.by_distance(*every, k, solved_only=False, edges=edges)
    return merged


def pooled(rows: list[DecisionRows], played: list[EpisodeRows]) -> tuple[DecisionRows, EpisodeRows]:
    """Pool all seeds: each instance occurs once per seed, under a number of its own."""
    numbered = [replace(one, instance=one.instance + i * len(played[i])) for i, one in enumerate(rows)]
    return joined(numbered), joined(played)


def by_difficulty(played: list[EpisodeRows], which: NDArray[np.uint8], names: list[str]) -> dict[str, dict[str, Any]]:
    """Solve rate and actions over the instances of each difficulty of the data."""
    figures = {"solve_rate": per_instance(played, "solved"), "actions_per_episode": per_instance(played, "actions")}
    return {
        name: {"count": int(own.sum()), **{key: float(values[own].mean()) for key, values in figures.items()}}
        for number, name in enumerate(names)
        if (own := which == number).any()
    }


def episode_columns(played: Mapping[tuple[str, str], list[EpisodeRows]]) -> dict[str, NDArray[Any]]:
    """One row per agent, budget, seed and instance."""
    parts = []
    for (agent, budget), repeated in played.items():
        for seed, one in enumerate(repeated):
            words = {name: np.full(len(one), word, object) for name, word in (("agent", agent), ("budget", budget))}
            parts.append({**words, "seed": np.full(len(one), seed), "instance": np.arange(len(one)), **vars(one)})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def averaged(each: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean of each figure over seeds. Dicts of shares are averaged over the union of their keys; seeds whose figure is
    None or whose dict is empty are left out."""
    result: dict[str, Any] = {}
    for key in each[0]:
        values = [one[key] for one in each if one[key] is not None]
        if not values:
            result[key] = None
        elif isinstance(values[0], dict):
            values = [value for value in values if value]
            names = sorted({n for v in values for n in v})
            result[key] = {n: sum(v.get(n, 0.0) for v in values) / len(values) for n in names}
        elif isinstance(values[0], int) and len(set(values)) == 1:
            result[key] = values[0]
        else:
            result[key] = sum(values) / len(values)
    return result


def table(
    columns: Mapping[str, NDArray[Any]],
    rooms: NDArray[np.int64] | None = None,
    prices: Prices | None = None,
    seed: int = 0,
) -> Results:
    """The rows of ``episodes.parquet`` as the results table of policies of one training seed."""
    solved, actions, observations = (columns[name].astype(np.float64) for name in ("solved", "actions", "decisions"))
    instance, paid = columns["instance"].astype(np.int64), prices or Prices()
    measured = {
        "solved": solved,
        "actions": actions,
        "observations": observations,
        "returns": paid.returns(solved, actions, observations),
    }
    measured |= {"lost": columns["end"] == UNSOLVABLE} if "end" in columns else {}
    seeds = np.full(len(instance), seed, np.int64)
    return Results(
        columns["agent"], columns["budget"], seeds, instance, instance if rooms is None else rooms[instance], measured
    )


def compare(names: tuple[str, ...], budgets: Iterable[str], rows: Results, *, priced: bool) -> list[dict[str, Any]]:
    """Paired differences of the first agent from each other agent, with 95 % intervals and p."""
    columns = {"solve": "solved", "actions": "actions", **({"value": "returns"} if priced else {})}
    comparisons = []
    for budget, other in product(budgets, names[1:]):
        less = {name: rows.difference(names[0], other, budget, column) for name, column in columns.items()}
        solved, actions = less["solve"], less["actions"]
        better = solved.mean >= 0 and actions.mean <= 0 and (solved.mean > 0 or actions.mean < 0)
        comparisons.append(
            {
                "agent": names[0],
                "against": other,
                "budget": budget,
                **{f"{name}_difference": each.values() for name, each in less.items()},
                "dominates": bool(better),
                "dominates_significantly": solved.sign > 0 > actions.sign,
            }
        )
    return comparisons


def add_gain_shares(
    summary: list[dict[str, Any]], rows: Results, *, priced: bool = False, plans: Mapping[str, str] | None = None
) -> None:
    """Add the gain share in solved instances, or in value, to every row whose plans were also played by the oracle and
    by fixed depths.

    The best fixed depth is chosen on validation instances; ties go to the shallower depth, then to the evaluation's own
    run. ``gain`` is None where the oracle is no better. Runs share plans if their digests in ``plans`` are equal.
    """
    chosen_by = "validation_value" if priced else "validation_solve_rate"
    for alike in _by_plans(summary, plans or {}):
        by_key = {(AgentName.parse(row["agent"]).depth, AgentName.parse(row["agent"]).run): row for row in alike}
        oracle = next((row for row in alike if AgentName.parse(row["agent"]).base == ORACLE), None)
        fixed = best({key: row[chosen_by] for key, row in by_key.items() if chosen_by in row})
        if oracle is None or fixed is None:
            continue
        both = by_key[fixed], oracle
        for row in alike:
            rule, least, most = (rows.values(each["agent"], row["budget"], "returns") for each in (row, *both))
            row |= flat("gain", intervals.gain(rule, least, most, rows.groups(row["agent"], row["budget"])))
            row["gain_fixed"], row["gain_oracle"] = (each["agent"] for each in both)


def _by_plans(summary: list[dict[str, Any]], plans: Mapping[str, str]) -> list[list[dict[str, Any]]]:
    """Group the rows by budget and by the greedy plans that their agents play."""
    groups: dict[tuple[str, str, tuple[int, int]], list[dict[str, Any]]] = {}
    for row in summary:
        agent = AgentName.parse(row["agent"])
        if agent.asks_policy and not agent.samples_actions:
            ends = agent.augmentations, agent.rounds
            groups.setdefault((row["budget"], plans.get(agent.run, agent.run), ends), []).append(row)
    return list(groups.values())


def per_instance(played: list[EpisodeRows], name: str) -> NDArray[np.float64]:
    """[instances] mean of a column over seeds."""
    return np.mean([getattr(one, name).astype(np.float64) for one in played], axis=0)
