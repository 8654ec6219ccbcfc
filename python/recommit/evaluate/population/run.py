"""``recommit evaluate --population``: exact figures of several agents over all starts, and their table."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.evaluate import compute, evaluation
from recommit.evaluate.agent_names import renamed
from recommit.evaluate.agents import PolicyPlayer
from recommit.evaluate.population import values as population
from recommit.evaluate.population.values import Population
from recommit.evaluate.text import number, percent
from recommit.runs.directory import recipe_of
from recommit.storage.terminal_text import grid, say

if TYPE_CHECKING:
    from recommit.evaluate.store import EvaluationStore
    from recommit.runs.ranks import Team

HEAD = ("agent", "solved %", "solved", "by lengths %", "actions", "of solved", "looks", "depth")


@dataclass(frozen=True)
class PopulationSpec:
    """What is asked for; ``length`` is a shortest and a longest one, or empty."""

    run: str
    agents: tuple[str, ...]
    budgets: tuple[str, ...]
    kind: str
    length: tuple[int, ...] = ()
    #: Which puzzle of a run that has several, with or without its size.
    task: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", renamed(self.agents))


def run(
    spec: PopulationSpec, store: EvaluationStore | None, team: Team, *, quiet: bool = False
) -> list[dict[str, Any]]:
    """Figures of every agent under every budget; the lead writes them. All ranks look at states."""
    data = recipe_of(spec.run, spec.task)
    budgets = {name: evaluation.decisions_of(name, data.task) for name in spec.budgets}
    for agent in spec.agents:
        population.check(agent)
    states, lengths = population.starts(data, spec.kind, spec.length)
    head = {"task": data.task, "size": list(data.size), "population": spec.kind}
    rows: list[dict[str, Any]] = []
    for name, own in evaluation.by_policy(spec.agents, spec.run).items():
        began = time.monotonic()
        policy = compute.loaded(name, team.device)
        everybody = Population(PolicyPlayer(policy, data.puzzle(), states, max(budgets.values()), team=team), lengths)
        for each in own:
            figures = everybody.rows(each.base, budgets)
            rows += [{"agent": str(each), **head, **row} for row in figures]
        if team.is_main_process and not quiet:
            looks = int(everybody.player.reach.expanded.sum())
            say(f"{name.run}: {looks:,} states looked at, {time.monotonic() - began:.1f} s")
        weights = compute.weights_held(policy)
        del policy, everybody
        compute.let_go(weights)
    if store is not None:
        store.write_json("population.json", rows)
    return rows


def text(rows: list[dict[str, Any]]) -> str:
    """One block per budget."""
    blocks = []
    for budget in dict.fromkeys(row["budget"] for row in rows):
        own = [row for row in rows if row["budget"] == budget]
        first, lengths = own[0], [line["length"] for line in own[0]["lengths"]]
        title = (
            f"{first['task']} {'x'.join(map(str, first['size']))}, {budget} budget: K = {first['decisions']}, all "
            f"{first['starts']:,} starts of length {lengths[0]} to {lengths[-1]}, exact"
        )
        blocks.append(f"{title}\n\n{grid(HEAD, [_cells(row) for row in own])}")
    remark = "Solved % counts every start alike, by lengths every length alike, as a data set does."
    return "\n\n".join([*blocks, remark]) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    whole = row["solved"] == int(row["solved"])
    return [
        row["agent"],
        percent(row["solve_rate"]),
        f"{row['solved']:,.0f}" if whole else f"{row['solved']:,.2f}",
        percent(row["solve_rate_by_lengths"]),
        number(row["actions_per_episode"]),
        number(row["actions_solved"]),
        number(row["decisions_per_episode"]),
        number(row["mean_depth"]),
    ]
