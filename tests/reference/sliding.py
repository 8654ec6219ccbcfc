"""The sliding puzzle in plain Python, from the rules alone: slow, and the judge of the compiled solvers.

A board is a tuple in reading order, 0 the blank; the goal is 1..n-1 and then the blank. ``up`` moves the blank up.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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


def ways(board: Board, rows: int, cols: int, table: dict[Board, int], far: int) -> frozenset[Board]:
    """The boards ``far`` actions before the goal that shortest paths from this one come by."""
    if table[board] <= far:
        return frozenset([board] if table[board] == far else [])
    beside = [after(board, rows, cols, action) for action in range(4)]
    nearer = [other for other in beside if table.get(other, table[board]) < table[board]]
    return frozenset().union(*(ways(other, rows, cols, table, far) for other in nearer))


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


def walk_ends(rows: int, cols: int, length: int, *, turns_back: bool) -> dict[Board, float]:
    """How likely a random walk from the goal ends at each board of this distance, after as many moves.

    Such a walk gains one at every move, so the boards of one distance follow from those of the one before.
    ``turns_back``: the walk chooses among all moves, else among those that do not undo the last one.
    """
    table = distances(rows, cols, length)
    probs = {goal(rows, cols): 1.0}
    for level in range(1, length + 1):
        following: dict[Board, float] = {}
        for board, here in probs.items():
            beside = {after(board, rows, cols, action) for action in range(4)} - {board}
            moves = len(beside) - (0 if turns_back or level == 1 else 1)
            for other in beside:
                if table[other] == level:
                    following[other] = following.get(other, 0.0) + here / moves
        probs = following
    return probs


def walked(rows: int, cols: int, length: int, numbers: Callable[[int], float], *, turns_back: bool) -> Board:
    """The end of the first walk without reversal that is nowhere shorter; ``numbers(n)`` is the n-th uniform draw."""
    table = distances(rows, cols, length)
    number = 0
    while True:
        board, last = goal(rows, cols), None
        for move in range(length):
            weights = [
                _onward(board, rows, cols, last, action, length - move, turns_back=turns_back) for action in range(4)
            ]
            limit, last = numbers(number) * sum(weights), 0
            number += 1
            while limit >= weights[last]:
                limit -= weights[last]
                last += 1
            board = after(board, rows, cols, last)
        if table[board] == length:
            return board


def _onward(
    board: Board, rows: int, cols: int, last: int | None, action: int, remaining: int, *, turns_back: bool
) -> Fraction:
    """The share of ``action`` among the walks of ``left`` more moves that undo none."""
    blank = board.index(0)
    return _share(rows, cols, blank, -1 if last is None else last, action, remaining, turns_back)


@cache
def _share(rows: int, cols: int, blank: int, last: int, action: int, remaining: int, turns_back: bool) -> Fraction:
    inside = [0 <= blank // cols + down < rows and 0 <= blank % cols + right < cols for down, right in STEPS]
    if not inside[action] or (last >= 0 and action == last ^ 1):
        return Fraction(0)
    if remaining == 1 or not turns_back:
        return Fraction(1, sum(inside))
    ahead = blank + STEPS[action][0] * cols + STEPS[action][1]
    return Fraction(1, sum(inside)) * sum(
        _share(rows, cols, ahead, action, a, remaining - 1, turns_back) for a in range(4)
    )
