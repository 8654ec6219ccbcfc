"""Gain share: how much of the way from the best constant depth to the ceiling an agent goes, with the same plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.summaries import per_instance, value
from recommit.graph.share import gain_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from recommit.evaluate.metrics import EpisodeRows
    from recommit.graph.commitments import Prices

CEILING = "oracle-dp"


def add(
    summary: list[dict[str, Any]],
    played: dict[tuple[str, str], list[EpisodeRows]],
    rooms: NDArray[Any] | None = None,
    prices: Prices | None = None,
    plans: Mapping[str, str] | None = None,
) -> None:
    """Give every row its gain share in instances solved, where the ceiling of its plans and fixed depths were played.

    The constant is the fixed depth that solves most validation instances, of equals the shallower. ``gain`` is None
    where the ceiling solves no more than the constant. At ``prices`` all of it is in values instead. Runs make the same
    plans where ``plans`` has the same digest for them.
    """
    chosen_by = "validation_solve_rate" if prices is None else "validation_value"
    for alike in _by_plans(summary, plans or {}):
        ceiling = next((row for row in alike if AgentName.parse(row["agent"]).base == CEILING), None)
        fixed = [row for row in alike if chosen_by in row]
        if ceiling is None or not fixed:
            continue
        constant = max(fixed, key=lambda row: (row[chosen_by], *_preferred(AgentName.parse(row["agent"]))))
        for row in alike:
            three = (played[one["agent"], one["budget"]] for one in (row, constant, ceiling))
            rule, at_least, at_most = (
                per_instance(each, "solved") if prices is None else value(each, prices) for each in three
            )
            share = gain_interval(rule, at_least, at_most, rooms)
            row["gain"], row["gain_low"], row["gain_high"] = (
                (share.mean, share.low, share.high) if share else (None, None, None)
            )
            row["gain_constant"], row["gain_ceiling"] = constant["agent"], ceiling["agent"]


def _preferred(agent: AgentName) -> tuple[int, bool]:
    """Prefer of equal constants the shallower; of the same one that of the evaluation's own run."""
    return -agent.depth, not agent.run


def _by_plans(summary: list[dict[str, Any]], plans: Mapping[str, str]) -> list[list[dict[str, Any]]]:
    """Rows of one budget whose agents play the same greedy plans."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in summary:
        agent = AgentName.parse(row["agent"])
        if agent.asks_policy and not agent.draws_actions:
            groups.setdefault((row["budget"], plans.get(agent.run, agent.run), agent.views), []).append(row)
    return list(groups.values())
