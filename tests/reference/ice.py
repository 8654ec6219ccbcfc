"""The icy cave in plain Python, from the rules alone: cells by name, one step of a slide at a time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
from tests.reference.simulate import DIRECTIONS, Twin

if TYPE_CHECKING:
    from numpy.typing import NDArray

ICE, ROCK, GOAL, PLAYER, PLAYER_ON_GOAL = range(5)
ADD_PLAYER = {ICE: PLAYER, GOAL: PLAYER_ON_GOAL}
TAKE_PLAYER = {PLAYER: ICE, PLAYER_ON_GOAL: GOAL}


class IceTwin(Twin):
    """The player slides until a rock, or the edge, is in the way. With the defect it also stops on the goal."""

    def step(self, state: bytearray, action: int) -> bool:
        start = here = self.place(next(i for i, code in enumerate(state) if code in TAKE_PLAYER))
        while (ahead := self.cell(here, DIRECTIONS[action])) and state[self.number(ahead)] != ROCK:
            here = ahead
            if self.defect and state[self.number(here)] == GOAL:
                break
        if here == start:
            return False
        state[self.number(start)] = TAKE_PLAYER[state[self.number(start)]]
        state[self.number(here)] = ADD_PLAYER[state[self.number(here)]]
        return True

    def is_solved(self, state: bytearray) -> bool:
        return PLAYER_ON_GOAL in state


def states(cave: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A cave without its player -> every state of it: the player on each cell that is no rock."""
    made = []
    for place in np.argwhere(cave != ROCK):
        state = cave.copy()
        state[tuple(place)] = ADD_PLAYER[int(cave[tuple(place)])]
        made.append(state)
    return np.stack(made)


def distance(state: NDArray[np.uint8], defect: bool = False) -> int:
    """Fewest actions to a solved state, forwards and breadth first; -1 if there is no way."""
    twin, start = IceTwin(*state.shape, defect=defect), bytes(state.tobytes())
    known, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        if twin.is_solved(bytearray(here)):
            return known[here]
        for action in range(4):
            after = bytearray(here)
            twin.step(after, action)
            if bytes(after) not in known:
                known[bytes(after)] = known[here] + 1
                queue.append(bytes(after))
    return -1


def random_cave(rng: np.random.Generator, rows: int, cols: int, rocks: float) -> NDArray[np.uint8]:
    """Rocks anywhere, also none along the edge; one goal, no player."""
    cave = (rng.random((rows, cols)) < rocks).astype(np.uint8)
    cave[rng.integers(rows), rng.integers(cols)] = GOAL
    return cave
