"""Sokoban distances in plain Python, from the rules alone: every state by name, no ranks, no masks, no short cuts."""

from __future__ import annotations

from collections import deque
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

FLOOR, WALL, GOAL, BOX, BOX_ON_GOAL, PLAYER, PLAYER_ON_GOAL = range(7)
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))

Cell = tuple[int, int]
State = tuple[Cell, frozenset[Cell]]


class Level:
    """The walls and goals of a grid of cell codes; outside the grid is wall."""

    def __init__(self, grid: NDArray[np.uint8]) -> None:
        self.shape = grid.shape
        self.floor = {(r, c) for r, c in np.ndindex(*grid.shape) if grid[r, c] != WALL}
        self.goals = {cell for cell in self.floor if grid[cell] in (GOAL, BOX_ON_GOAL, PLAYER_ON_GOAL)}
        self.boxes = sum(grid[cell] in (BOX, BOX_ON_GOAL) for cell in self.floor)

    def solved(self, state: State) -> bool:
        """Every box on a goal, the player anywhere."""
        return state[1] <= self.goals

    def act(self, state: State, action: int) -> State:
        """The state after one action; itself if that is blocked."""
        (row, col), boxes = state
        down, right = STEPS[action]
        ahead, behind = (row + down, col + right), (row + 2 * down, col + 2 * right)
        if ahead not in self.floor:
            return state
        if ahead not in boxes:
            return ahead, boxes
        if behind not in self.floor or behind in boxes:
            return state
        return ahead, boxes - {ahead} | {behind}

    def states(self) -> list[State]:
        """Every arrangement of the player and the boxes on open cells, sensible or not."""
        floor = sorted(self.floor)
        return [
            (player, frozenset(boxes))
            for boxes in combinations(floor, self.boxes)
            for player in floor
            if player not in boxes
        ]

    def draw(self, states: Iterable[State]) -> NDArray[np.uint8]:
        """The states as grids of cell codes."""
        empty = np.full(self.shape, WALL, np.uint8)
        for cell in self.floor:
            empty[cell] = GOAL if cell in self.goals else FLOOR
        grids = []
        for player, boxes in states:
            grid = empty.copy()
            for box in boxes:
                grid[box] = BOX_ON_GOAL if box in self.goals else BOX
            grid[player] = PLAYER_ON_GOAL if player in self.goals else PLAYER
            grids.append(grid)
        return np.stack(grids)


def distances(level: Level, states: list[State]) -> dict[State, int]:
    """Fewest actions to a solved state; states from which there is no way are absent.

    Backwards from all solved states over the edges that `act` names; goals do not absorb.
    """
    arrivals: dict[State, list[State]] = {}
    for state in states:
        for action in range(4):
            after = level.act(state, action)
            if after != state:
                arrivals.setdefault(after, []).append(state)
    found = {state: 0 for state in states if level.solved(state)}
    queue = deque(found)
    while queue:
        here = queue.popleft()
        for before in arrivals.get(here, ()):
            if before not in found:
                found[before] = found[here] + 1
                queue.append(before)
    return found


def random_grid(rng: np.random.Generator, rows: int, cols: int, boxes: int, walls: float) -> NDArray[np.uint8]:
    """Boxes, goals and player anywhere among random walls: goals out of reach, corridors and pockets included."""
    while True:
        grid = np.full((rows, cols), WALL, np.uint8)
        inside = rng.random((rows - 2, cols - 2)) >= walls
        grid[1:-1, 1:-1][inside] = FLOOR
        floor = np.argwhere(grid == FLOOR)
        if len(floor) < boxes + 1:
            continue
        for r, c in rng.permutation(floor)[:boxes]:
            grid[r, c] = GOAL
        order = rng.permutation(floor)
        for r, c in order[:boxes]:
            grid[r, c] = BOX_ON_GOAL if grid[r, c] == GOAL else BOX
        r, c = order[boxes]
        grid[r, c] = PLAYER_ON_GOAL if grid[r, c] == GOAL else PLAYER
        return grid
