"""Exact labels by breadth-first search in plain Python over the rules of the twins: slow, obvious, and sharing no code
with the package."""

from __future__ import annotations

from collections import deque

import numpy as np
from tests.reference.simulate import TWINS


class Judge:
    """d(s) of every state that can be reached from the states in question, by search backwards from the goals."""

    def __init__(self, task, shape, defect=False):
        self.twin, self.known = TWINS[task](*shape, defect=defect), {}

    def moves(self, state):
        """(action, next state) of every action that changes a state."""
        for action in range(4):
            after = bytearray(state)
            if self.twin.step(after, action):
                yield action, bytes(after)

    def distance(self, state):
        """Actions to the goal; -1 if there is none."""
        state = np.asarray(state, np.uint8).tobytes() if isinstance(state, np.ndarray) else state
        if state not in self.known:
            self._explore(state)
        return self.known[state]

    def optimal(self, state):
        """The set of actions that start an optimal solution."""
        distance = self.distance(state)
        return {a for a, after in self.moves(state.tobytes()) if distance > 0 and self.distance(after) == distance - 1}

    def _explore(self, start):
        before, seen, queue = {}, {start}, deque([start])
        while queue:
            state = queue.popleft()
            for _, after in self.moves(state):
                before.setdefault(after, []).append(state)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        found = {state: 0 for state in seen if self.twin.is_solved(bytearray(state))}
        queue = deque(found)
        while queue:
            state = queue.popleft()
            for earlier in before.get(state, ()):
                if earlier not in found:
                    found[earlier] = found[state] + 1
                    queue.append(earlier)
        self.known.update({state: found.get(state, -1) for state in seen})
