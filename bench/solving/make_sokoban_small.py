"""Writes sokoban_small.txt: 155 small levels of our own, in the range of sizes that beginners' collections have.

    python bench/solving/make_sokoban_small.py [FILE]

Six levels drawn by hand, 119 rooms of all families whose starts are far from the goal for their layout, and 30 crowded
levels played backwards, whose lengths nobody knows beforehand. The same bytes on every machine; doubles up to symmetry
are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import recommit

ROOT = Path(__file__).resolve().parent
#: rows, columns, boxes, shortest, longest, how many
ROOMS = (
    (6, 7, 2, 28, 254, 10), (7, 7, 2, 45, 254, 10), (7, 8, 3, 62, 254, 15), (8, 8, 3, 80, 254, 15),
    (8, 9, 4, 95, 254, 15), (9, 9, 3, 105, 254, 12), (9, 10, 4, 120, 254, 12), (10, 10, 4, 135, 254, 10),
    (11, 11, 3, 140, 254, 8), (12, 12, 3, 150, 254, 6), (12, 12, 4, 160, 254, 6),
)  # fmt: skip
#: rows, columns, boxes, how many
CROWDED = ((9, 9, 5, 5), (10, 10, 6, 5), (11, 11, 6, 5), (12, 12, 7, 5), (12, 14, 8, 5), (14, 14, 10, 5))


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "sokoban_small.txt"
    by_hand = recommit.read_levels(ROOT / "sokoban_own.txt")
    grids, titles = list(by_hand), list(by_hand.titles)
    for rows, columns, boxes, shortest, longest, count in ROOMS:
        task = recommit.Sokoban((rows, columns), boxes)
        instances = task.generate(count, seed=155, length=(shortest, longest))
        grids += list(instances.states)
        titles += [f"room {rows}x{columns}-{boxes} {i}" for i in range(count)]
        print(f"rooms {rows}x{columns}-{boxes}: lengths {sorted(instances.length.tolist())}", flush=True)
    for rows, columns, boxes, count in CROWDED:
        instances = recommit.Sokoban((rows, columns), boxes).generate(count, seed=155, generator="reverse")
        grids += list(instances.states)
        titles += [f"crowded {rows}x{columns}-{boxes} {i}" for i in range(count)]
    digests = [recommit._core.sokoban.canonical_digests(np.ascontiguousarray(grid[None]))[0] for grid in grids]
    assert len({tuple(digest) for digest in digests}) == len(grids) == 155
    recommit.write_levels(path, grids, titles, task="sokoban")
    print(f"{len(grids)} levels: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
