"""The solver's plans in the place of the policy's: what a rule's depths would be worth if only the plans were
perfect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.graph import NEVER, NOWHERE, PLAN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.puzzles.puzzle import Puzzle


def with_optimal_plans(graph: CommitmentGraph) -> CommitmentGraph:
    """The graph of the same nodes with the solver's plans, the first of equally short ones; a start whose way leads out
    of the graph makes it one that is not closed. States out of reach keep the plans that they have."""
    nodes, puzzle = graph.numbers(), graph.puzzle
    rows = np.flatnonzero(graph.looked & (graph.distance > 0))
    plans, stop, landing = graph.plans.copy(), graph.stop.copy(), graph.landing.copy()
    solutions = puzzle.solve(graph.states[rows])
    here = graph.states[rows]
    lengths = np.diff(solutions.offsets)
    stop[rows] = np.where(lengths <= PLAN, lengths, NEVER)
    for place in range(PLAN):
        moving = lengths > place
        plans[rows, place] = 0
        plans[rows[moving], place] = solutions.actions[solutions.offsets[:-1][moving] + place]
        here = np.where(moving[:, None, None], puzzle.step(here, np.ascontiguousarray(plans[rows, place])), here)
        landing[rows, place] = [nodes.get(state.tobytes(), NOWHERE) for state in here]
    return replace(graph, plans=plans, stop=stop, landing=landing)


def ways(puzzle: Puzzle, starts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """All states on the solver's plans from these starts, the starts first, goals too: what any depths on optimal plans
    can lead to."""
    solutions = puzzle.solve(starts)
    lengths, first = np.diff(solutions.offsets), solutions.offsets[:-1]
    here, steps = starts, [starts]
    for place in range(int(lengths.max(initial=0))):
        moving = np.flatnonzero(lengths > place)
        here = here.copy()
        here[moving] = puzzle.step(
            np.ascontiguousarray(here[moving]), np.ascontiguousarray(solutions.actions[first[moving] + place])
        )
        steps.append(here[moving])
    return np.concatenate(steps)
