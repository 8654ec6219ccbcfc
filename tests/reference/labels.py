"""Exact labels by breadth-first search in plain Python: slow, obvious, and sharing no code with the package."""

from __future__ import annotations

from collections import deque

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
GOAL_OF = {0: 2, 3: 4, 5: 6}  # what a cell becomes when there is a goal under it
PLAIN_OF = {2: 0, 4: 3, 6: 5}


def sliding_moves(board):
    """(action, next board) of every action that changes a board of tuples."""
    rows, cols = len(board), len(board[0])
    r, c = next((r, c) for r in range(rows) for c in range(cols) if board[r][c] == 0)
    for action, (dr, dc) in enumerate(STEPS):
        y, x = r + dr, c + dc
        if 0 <= y < rows and 0 <= x < cols:
            grid = [list(row) for row in board]
            grid[r][c], grid[y][x] = grid[y][x], 0
            yield action, tuple(map(tuple, grid))


def sliding_solved(board):
    flat = [tile for row in board for tile in row]
    return flat == [*range(1, len(flat)), 0]


def sokoban_moves(level):
    """(action, next level) of every action that changes a level of tuples."""
    rows, cols = len(level), len(level[0])
    r, c = next((r, c) for r in range(rows) for c in range(cols) if level[r][c] in (5, 6))

    def at(y, x):
        return level[y][x] if 0 <= y < rows and 0 <= x < cols else 1

    for action, (dr, dc) in enumerate(STEPS):
        y, x, far_y, far_x = r + dr, c + dc, r + 2 * dr, c + 2 * dc
        if at(y, x) == 1 or (at(y, x) in (3, 4) and at(far_y, far_x) not in (0, 2)):
            continue
        grid = [list(row) for row in level]
        if at(y, x) in (3, 4):
            grid[far_y][far_x] = GOAL_OF[3] if at(far_y, far_x) == 2 else 3
        grid[y][x] = GOAL_OF[5] if at(y, x) in (2, 4) else 5
        grid[r][c] = 2 if level[r][c] == 6 else 0
        yield action, tuple(map(tuple, grid))


def sokoban_solved(level):
    return not any(cell == 3 for row in level for cell in row)


RULES = {"sliding": (sliding_moves, sliding_solved), "sokoban": (sokoban_moves, sokoban_solved)}


class Judge:
    """d(s) of every state that can be reached from the states in question, by search backwards from the goals."""

    def __init__(self, task):
        self.moves, self.solved = RULES[task]
        self.known = {}

    def distance(self, state):
        """Actions to the goal; -1 if there is none."""
        state = as_tuple(state)
        if state not in self.known:
            self._explore(state)
        return self.known[state]

    def optimal(self, state):
        """The set of actions that start an optimal solution."""
        distance = self.distance(state)
        return {a for a, after in self.moves(as_tuple(state)) if distance > 0 and self.distance(after) == distance - 1}

    def _explore(self, start):
        before, seen, queue = {}, {start}, deque([start])
        while queue:
            state = queue.popleft()
            for _, after in self.moves(state):
                before.setdefault(after, []).append(state)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        found = {state: 0 for state in seen if self.solved(state)}
        queue = deque(found)
        while queue:
            state = queue.popleft()
            for earlier in before.get(state, ()):
                if earlier not in found:
                    found[earlier] = found[state] + 1
                    queue.append(earlier)
        self.known.update({state: found.get(state, -1) for state in seen})


def as_tuple(state):
    return tuple(tuple(int(cell) for cell in row) for row in state)
