"""What is played: validation and test instances as the evaluations have them, and harder ones.

Harder are lengths beyond those of the evaluation, where the furthest one is known; of other puzzles, instances that are
a row and a column larger.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import held_out
from recommit.graph import build
from recommit.graph.optimal_plans import ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle
    from recommit.reproduce.preset import PresetEntry

VALIDATION, TEST, HARDER = "validation", "test", "harder"


@dataclass(frozen=True, eq=False)
class StartSet:
    """Instances of one kind."""

    name: str
    #: In words, for a page.
    label: str
    puzzle: Puzzle
    states: NDArray[np.uint8]
    rooms: NDArray[np.int64]
    #: So many of the first are also played with optimal plans.
    both_plans: int = 0

    def looked_at(self) -> NDArray[np.uint8]:
        """Where a graph has to begin."""
        return np.concatenate([self.states, ways(self.puzzle, self.states[: self.both_plans])])


@dataclass(frozen=True, eq=False)
class GraphStarts:
    """Instances of one size, which are in one graph per policy."""

    #: Behind the label of a policy, in the name of the graph's folder.
    suffix: str
    puzzle: Puzzle
    sets: tuple[StartSet, ...]

    def states(self) -> NDArray[np.uint8]:
        """Where a graph has to begin: everywhere, if all states can be listed."""
        every = [build.every_state(self.puzzle)] if self.puzzle.farthest is not None else []
        return np.concatenate([*every, *(each.looked_at() for each in self.sets)])


def of_entry(entry: PresetEntry, test: int, validation: int, harder: int) -> list[GraphStarts]:
    """All instances of a puzzle, by size; ``harder`` is also how many test instances are played with optimal plans."""
    spec, length = entry.data, tuple(entry.values.get("evaluate", {}).get("length", ()))
    size = "x".join(map(str, spec.size))
    sets = [
        _drawn(spec, VALIDATION, size, "validation", validation, length),
        _drawn(spec, TEST, size, "test", test, length, min(harder, test)),
    ]
    farthest = spec.puzzle().farthest
    if farthest is None:
        larger = replace(spec, size=(spec.size[0] + 1, spec.size[1] + 1))
        name = "x".join(map(str, larger.size))
        beyond = [_drawn(larger, HARDER, name, "test", harder, length, harder)]
        return [_graph("", sets), _graph(f"-{name}", beyond)]
    longest = max(length or [each.length[1] for each in spec.difficulties])
    if longest < farthest:
        window = (longest + 1, farthest)
        sets.append(_drawn(spec, HARDER, f"{size}, lengths {window[0]} to {farthest}", "test", harder, window, harder))
    return [_graph("", sets)]


def _graph(suffix: str, sets: list[StartSet]) -> GraphStarts:
    return GraphStarts(suffix, sets[0].puzzle, tuple(sets))


def _drawn(
    spec: DataSpec, name: str, label: str, split: str, count: int, length: tuple[int, ...], both_plans: int = 0
) -> StartSet:
    states = np.ascontiguousarray(held_out.starts(spec, split, count, length).states)
    rooms = held_out.rooms(spec, states)
    return StartSet(name, label, spec.puzzle(), states, np.arange(len(states)) if rooms is None else rooms, both_plans)
