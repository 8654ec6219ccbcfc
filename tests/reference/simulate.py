"""All puzzles in plain Python, written from the rules and nothing else: slow, obvious, and not related to the core.

A state is a ``bytearray`` of ``rows * cols`` cells. Actions: 0 up, 1 down, 2 left, 3 right.
"""

from __future__ import annotations

DIRECTIONS = {0: (-1, 0), 1: (1, 0), 2: (0, -1), 3: (0, 1)}

FLOOR, WALL, GOAL, BOX, BOX_ON_GOAL, PLAYER, PLAYER_ON_GOAL = range(7)
FREE = (FLOOR, GOAL)
BOXES = (BOX, BOX_ON_GOAL)
ADD_BOX = {FLOOR: BOX, GOAL: BOX_ON_GOAL}
ADD_PLAYER = {FLOOR: PLAYER, GOAL: PLAYER_ON_GOAL}
TAKE_BOX = {BOX: FLOOR, BOX_ON_GOAL: GOAL}
TAKE_PLAYER = {PLAYER: FLOOR, PLAYER_ON_GOAL: GOAL}
#: Of icy caves.
ICE, ROCK, ICE_GOAL, SLIDER, SLIDER_ON_GOAL = range(5)
ADD_SLIDER = {ICE: SLIDER, ICE_GOAL: SLIDER_ON_GOAL}
TAKE_SLIDER = {SLIDER: ICE, SLIDER_ON_GOAL: ICE_GOAL}


class Twin:
    """One puzzle of one shape. ``defect`` plants a wrong rule, for tests that must notice it."""

    def __init__(self, rows: int, cols: int, defect: bool = False) -> None:
        self.rows, self.cols, self.defect = rows, cols, defect

    def cell(self, place: tuple[int, int], direction: tuple[int, int]) -> tuple[int, int] | None:
        """The next place, None outside the grid."""
        row, col = place[0] + direction[0], place[1] + direction[1]
        return (row, col) if 0 <= row < self.rows and 0 <= col < self.cols else None

    def number(self, place: tuple[int, int]) -> int:
        return place[0] * self.cols + place[1]

    def place(self, number: int) -> tuple[int, int]:
        return divmod(number, self.cols)

    def step(self, state: bytearray, action: int) -> bool:
        """Change the state in place; whether anything changed."""
        raise NotImplementedError

    def is_solved(self, state: bytearray) -> bool:
        raise NotImplementedError

    def mask(self, state: bytearray) -> list[bool]:
        """Which actions would change the state."""
        return [self.step(bytearray(state), action) for action in range(4)]

    def execute(self, state: bytearray, actions: list[int]) -> tuple[int, bool, int]:
        """Open loop, in place: (executed, solved, moved), stopping at the goal."""
        executed = moved = 0
        for action in actions:
            if self.is_solved(state):
                break
            moved += self.step(state, action)
            executed += 1
        return executed, self.is_solved(state), moved


class SlidingTwin(Twin):
    """The blank moves up, down, left or right; a tile takes its place."""

    def step(self, state: bytearray, action: int) -> bool:
        blank = self.place(state.index(0))
        tile = self.cell(blank, DIRECTIONS[action])
        if tile is None:
            return False
        if self.defect and tile == (self.rows - 1, 0):
            return False
        state[self.number(blank)] = state[self.number(tile)]
        state[self.number(tile)] = 0
        return True

    def is_solved(self, state: bytearray) -> bool:
        return list(state) == [*range(1, self.rows * self.cols), 0]


class SokobanTwin(Twin):
    """The player walks, and pushes one box at a time; nothing is ever pulled."""

    def step(self, state: bytearray, action: int) -> bool:
        player = self.place(next(i for i, code in enumerate(state) if code in TAKE_PLAYER))
        front = self.cell(player, DIRECTIONS[action])
        if front is None or state[self.number(front)] == WALL:
            return False
        if state[self.number(front)] in BOXES:
            behind = self.cell(front, DIRECTIONS[action])
            if behind is None or state[self.number(behind)] not in FREE:
                return False
            if self.defect and state[self.number(behind)] == GOAL and action == 3:
                return False
            state[self.number(behind)] = ADD_BOX[state[self.number(behind)]]
            state[self.number(front)] = TAKE_BOX[state[self.number(front)]]
        state[self.number(front)] = ADD_PLAYER[state[self.number(front)]]
        state[self.number(player)] = TAKE_PLAYER[state[self.number(player)]]
        return True

    def is_solved(self, state: bytearray) -> bool:
        return BOX not in state


class IceTwin(Twin):
    """The player slides until a rock, or the edge, is in the way. With the defect it also stops on the goal."""

    def step(self, state: bytearray, action: int) -> bool:
        start = here = self.place(next(i for i, code in enumerate(state) if code in TAKE_SLIDER))
        while (ahead := self.cell(here, DIRECTIONS[action])) and state[self.number(ahead)] != ROCK:
            here = ahead
            if self.defect and state[self.number(here)] == ICE_GOAL:
                break
        if here == start:
            return False
        state[self.number(start)] = TAKE_SLIDER[state[self.number(start)]]
        state[self.number(here)] = ADD_SLIDER[state[self.number(here)]]
        return True

    def is_solved(self, state: bytearray) -> bool:
        return SLIDER_ON_GOAL in state


TWINS = {"sliding": SlidingTwin, "sokoban": SokobanTwin, "ice": IceTwin}
