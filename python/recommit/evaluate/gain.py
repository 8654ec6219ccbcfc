"""Gain share: how much of the way from the best constant depth to the ceiling an agent goes, with the same plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.summaries import per_instance
from recommit.graphs.share import gain_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.evaluate.metrics import EpisodeRows

CEILING = "oracle-dp"


def add(
    summary: list[dict[str, Any]],
    played: dict[tuple[str, str], list[EpisodeRows]],
    rooms: NDArray[Any] | None = None,
) -> None:
    """Give every row its gain share in instances solved, where the ceiling of its plans and fixed depths were played.

    The constant is the fixed depth that solves most validation instances, of equals the shallower. ``gain`` is None
    where the ceiling solves no more than the constant.
    """
    for plans in _by_plans(summary):
        ceiling = next((row for row in plans if AgentName.parse(row["agent"]).base == CEILING), None)
        fixed = [row for row in plans if "validation_solve_rate" in row]
        if ceiling is None or not fixed:
            continue
        constant = max(fixed, key=lambda row: (row["validation_solve_rate"], -AgentName.parse(row["agent"]).depth))
        for row in plans:
            rule, at_least, at_most = (
                per_instance(played[one["agent"], one["budget"]], "solved") for one in (row, constant, ceiling)
            )
            share = gain_interval(rule, at_least, at_most, rooms)
            row["gain"], row["gain_low"], row["gain_high"] = (
                (share.mean, share.low, share.high) if share else (None, None, None)
            )
            row["gain_constant"] = constant["agent"]


def _by_plans(summary: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows of one budget whose agents play the same greedy plans."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in summary:
        agent = AgentName.parse(row["agent"])
        if agent.asks_policy and not agent.draws_actions:
            groups.setdefault((row["budget"], agent.run), []).append(row)
    return list(groups.values())
