"""From decisions and episodes to the rows of ``summary.json`` and ``comparisons.json``."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import stats
from recommit.evaluate import metrics
from recommit.evaluate.metrics import EpisodeRows
from recommit.rollout.trace import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.prices import Prices
    from recommit.rollout.decision_rows import DecisionRows


def row(
    rows: list[DecisionRows],
    played: list[EpisodeRows],
    k: int,
    rooms: NDArray[np.int64] | None = None,
    edges: str = metrics.EDGES[0],
    prices: Prices | None = None,
) -> dict[str, Any]:
    """One agent under one budget: means over its seeds, the interval of the share of instances solved; at ``prices``
    also of the value. By distance, the decisions of all seeds together."""
    rows = [metrics.within(one, k) for one in rows]
    merged = averaged([metrics.summarise(p, r, k) for p, r in zip(played, rows, strict=True)])
    merged["solve_low"], merged["solve_high"] = stats.share(per_instance(played, "solved"), rooms)
    if prices is not None:
        valued = stats.bootstrap(value(played, prices), rooms)
        merged |= {"value": valued.mean, "value_low": valued.low, "value_high": valued.high}
    every = pooled(rows, played)
    merged["by_distance_solved"] = metrics.by_distance(*every, k, edges=edges)
    merged["by_distance"] = metrics.by_distance(*every, k, solved_only=False, edges=edges)
    return merged


def pooled(rows: list[DecisionRows], played: list[EpisodeRows]) -> tuple[DecisionRows, EpisodeRows]:
    """All seeds as one, which has every instance once for each of them."""
    numbered = [replace(one, instance=one.instance + i * len(played[i])) for i, one in enumerate(rows)]
    return joined(numbered), joined(played)


def by_difficulty(played: list[EpisodeRows], which: NDArray[np.uint8], names: list[str]) -> dict[str, dict[str, Any]]:
    """Solve rate and actions over the instances of each difficulty of the data."""
    result, solved, actions = {}, per_instance(played, "solved"), per_instance(played, "actions")
    for number, name in enumerate(names):
        own = which == number
        if own.any():
            result[name] = {
                "count": int(own.sum()),
                "solve_rate": float(solved[own].mean()),
                "actions_per_episode": float(actions[own].mean()),
            }
    return result


def episode_columns(played: dict[tuple[str, str], list[EpisodeRows]]) -> dict[str, NDArray[Any]]:
    """One row per agent, budget, seed and instance."""
    every = [(*key, seed, one) for key, seeds in played.items() for seed, one in enumerate(seeds)]
    counts = [len(one) for *_, one in every]
    agent, budget, seed = (
        np.repeat(np.array(values, kind), counts)
        for values, kind in zip(
            zip(*(head for *head, _ in every), strict=True), (object, object, np.int64), strict=True
        )
    )
    columns = {
        "agent": agent,
        "budget": budget,
        "seed": seed,
        "instance": np.concatenate([np.arange(n) for n in counts]),
    }
    return columns | {f.name: np.concatenate([getattr(one, f.name) for *_, one in every]) for f in fields(EpisodeRows)}


def averaged(each: list[dict[str, Any]]) -> dict[str, Any]:
    """Figure by figure, over seeds; of shares, over the union of their keys; of figures and shares that some lack,
    over the rest."""
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


def compare(
    names: tuple[str, ...],
    budgets: dict[str, int],
    played: dict[tuple[str, str], list[EpisodeRows]],
    rooms: NDArray[np.int64] | None = None,
    prices: Prices | None = None,
) -> list[dict[str, Any]]:
    """The first agent against each other one, on the same instances: differences with 95 % intervals."""
    comparisons = []
    for budget in budgets:
        one = played[names[0], budget]
        units = len(one[0].solved) if rooms is None else len(np.unique(rooms))
        for other_name in names[1:]:
            other = played[other_name, budget]
            solved = stats.bootstrap(per_instance(one, "solved") - per_instance(other, "solved"), rooms)
            actions = stats.bootstrap(per_instance(one, "actions") - per_instance(other, "actions"), rooms)
            valued = None if prices is None else stats.bootstrap(value(one, prices) - value(other, prices), rooms)
            single = len(one) == len(other) == 1
            comparisons.append(
                {
                    "agent": names[0],
                    "against": other_name,
                    "budget": budget,
                    "solve_difference": vars(solved),
                    "actions_difference": vars(actions),
                    **({} if valued is None else {"value_difference": vars(valued)}),
                    "mcnemar_p": stats.mcnemar(one[0].solved, other[0].solved, rooms) if single else None,
                    "dominates": bool(solved.mean >= 0 and actions.mean <= 0 and (solved.mean > 0 or actions.mean < 0)),
                    # One instance, or one room, has no spread.
                    "dominates_significantly": bool(units > 1 and solved.low > 0 and actions.high < 0),
                }
            )
    return comparisons


def value(played: list[EpisodeRows], prices: Prices) -> NDArray[np.float64]:
    """Values of the instances, as means over seeds."""
    result: NDArray[np.float64] = np.mean([one.value(prices) for one in played], axis=0)
    return result


def per_instance(played: list[EpisodeRows], name: str) -> NDArray[np.float64]:
    """Means over seeds."""
    result: NDArray[np.float64] = np.mean([getattr(one, name).astype(np.float64) for one in played], axis=0)
    return result
