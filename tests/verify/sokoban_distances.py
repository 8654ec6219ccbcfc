"""L3: Sokoban distances against plain Python: random levels, every arrangement of player and boxes, dead ones too.

``python -m tests.verify.sokoban_distances [--plant]``
"""

from __future__ import annotations

import numpy as np
from tests.reference import sokoban as reference
from tests.verify.harness import expect, main

from recommit import _core

LIMITS = {"nodes": 2**64 - 1, "bytes": 1 << 30, "seconds": float("inf")}
#: At least so many levels and states; a level has at most so many states.
LEVELS, STATES, MOST = 5_000, 1_000_000, 8_000


def random_level(rng: np.random.Generator) -> reference.Level:
    """Up to 8x8 with three boxes; open halls, corridors and pockets, goals within reach or not."""
    while True:
        rows, cols = rng.integers(4, 9, 2)
        boxes = int(rng.integers(1, 4))
        room = (rows - 2) * (cols - 2)
        if room < boxes + 2 or room**boxes * room > 40 * MOST:
            continue
        level = reference.Level(
            reference.random_grid(rng, int(rows), int(cols), boxes, float(rng.choice((0, 0.1, 0.3, 0.5))))
        )
        if len(level.floor) > boxes:
            return level


def check(plant: bool) -> tuple[int, str]:
    """Levels until both counts are reached."""
    rng = np.random.default_rng(303)
    levels = total = dead = 0
    while levels < LEVELS or total < STATES:
        level = random_level(rng)
        states = level.states()
        if not states or len(states) > MOST:
            continue
        expected = reference.distances(level, states)
        found = _core.sokoban.distance(level.draw(states), **LIMITS)
        if plant and levels == 3:  # a dead state that passes for a live one, or the other way round
            found[0] = 7 if found[0] < 0 else -1
        wanted = np.array([expected.get(state, -1) for state in states])
        wrong = np.flatnonzero(found != wanted)
        expect(
            not len(wrong),
            f"level {levels}: {len(wrong)} of {len(states)} states differ; the first: "
            f"{states[wrong[0]] if len(wrong) else ''}, "
            f"goals {sorted(level.goals)}, floor {sorted(level.floor)}",
        )
        levels, total, dead = levels + 1, total + len(states), dead + len(states) - len(expected)
    return total, f"states of {levels} levels, {dead} of them dead"


if __name__ == "__main__":
    main(check)
