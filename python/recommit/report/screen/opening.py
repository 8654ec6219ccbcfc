"""Which instance is shown first: one on which the idea can be seen, chosen by a rule that the page states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder


@dataclass(frozen=True)
class Opening:
    """The instance, whom the first agent is shown beside, and the rule in words."""

    instance: int
    rival: Agent
    rule: str


@dataclass(frozen=True)
class Course:
    """How the first agent's episodes went, by instance."""

    depths: NDArray[np.int64]  #: how many different ones
    looks: NDArray[np.int64]
    actions: NDArray[np.int64]
    #: Did every commitment bring the goal nearer?
    forward: NDArray[np.bool_]


def choose(folder: Folder) -> Opening | None:
    """Take, of the best kind of instance that there is, the one with the most different depths, then the fewest looks;
    None where too little of the evaluation is there."""
    budget = folder.widest
    rival = shown_beside(folder)
    course = _course(folder)
    if rival is None or course is None or folder.outcomes is None or not len(course.looks):
        return None
    solved, beaten = (folder.outcomes[agent.name, budget]["solved"] > 0.5 for agent in (folder.first, rival))
    own, other = folder.first.words, rival.words
    forward = f"{own} solves with every commitment a step forward"
    kinds = (
        (solved & course.forward & ~beaten, f"{forward}, and “{other}” does not solve"),
        (solved & course.forward, forward),
        (solved & ~beaten, f"{own} solves and “{other}” does not"),
        (solved, f"{own} solves"),
        (np.ones(len(solved), np.bool_), "were played"),
    )
    members, words = next((np.flatnonzero(kind), words) for kind, words in kinds if kind.any())
    order = np.lexsort((members, course.actions[members], course.looks[members], -course.depths[members]))
    rule = f"of the {len(members)} instances that {words}, the most different depths, then the fewest looks"
    if len(members) == 1:
        rule = f"the one instance that {words}"
    return Opening(int(members[order[0]]), rival, f"Shown first, by rule: {rule}.")


def shown_beside(folder: Folder) -> Agent | None:
    """The best constant depth of the same plans, else the best fixed depth, else the next agent."""
    best = folder.best_fixed(folder.widest)
    next_agents = [agent for agent in folder.agents[1:] if folder.decisions(agent)]
    wanted = [folder.constant(folder.widest), best[0] if best else None, *next_agents[:1]]
    return next((agent for agent in wanted if agent is not None and agent is not folder.first), None)


def _course(folder: Folder) -> Course | None:
    rows = next(iter(folder.decisions(folder.first)), None)
    if rows is None:
        return None
    count = int(folder.spec["instances"])
    taken = np.unique(np.stack([rows.instance, rows.depth.astype(np.int32)]), axis=1)[0]
    back = (rows.after >= rows.before) | (rows.after < 0)
    return Course(
        np.bincount(taken, minlength=count),
        np.bincount(rows.instance, minlength=count),
        np.bincount(rows.instance, rows.executed, minlength=count).astype(np.int64),
        np.bincount(rows.instance, back, minlength=count) == 0,
    )
