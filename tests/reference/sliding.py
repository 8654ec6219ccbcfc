"""The sliding puzzle in plain Python, from the rules alone: slow, and the judge of the compiled solvers.

A board is a tuple in reading order, 0 the blank; the goal is 1..n-1 and then the blank. ``up`` moves the blank up.
"""

from __future__ import annotations

Board = tuple[int, ...]
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def goal(rows: int, cols: int) -> Board:
    return (*range(1, rows * cols), 0)


def after(board: Board, rows: int, cols: int, action: int) -> Board:
    """The board after an action; against the border it stays as it is."""
    blank = board.index(0)
    row, col = blank // cols + STEPS[action][0], blank % cols + STEPS[action][1]
    if not (0 <= row < rows and 0 <= col < cols):
        return board
    other = row * cols + col
    cells = list(board)
    cells[blank], cells[other] = cells[other], cells[blank]
    return tuple(cells)


def distances(rows: int, cols: int, levels: int | None = None) -> dict[Board, int]:
    """The distance of every board that reaches the goal (within ``levels`` actions), breadth first from the goal.

    Every action that changes a board is undone by its opposite, so distances from the goal are distances to it.
    """
    found = {goal(rows, cols): 0}
    layer = [goal(rows, cols)]
    level = 0
    while layer and level != levels:
        level += 1
        following = []
        for board in layer:
            for action in range(4):
                other = after(board, rows, cols, action)
                if other not in found:
                    found[other] = level
                    following.append(other)
        layer = following
    return found


def optimal_actions(board: Board, rows: int, cols: int, table: dict[Board, int]) -> tuple[bool, ...]:
    """Which actions lower the distance; ``table`` must hold the successors that do."""
    distance = table[board]
    return tuple(table.get(after(board, rows, cols, action), distance) < distance for action in range(4))


def first_plan(board: Board, rows: int, cols: int, table: dict[Board, int]) -> list[int]:
    """The optimal plan that comes first in the order up, down, left, right."""
    plan = []
    while table[board]:
        action = optimal_actions(board, rows, cols, table).index(True)
        plan.append(action)
        board = after(board, rows, cols, action)
    return plan
