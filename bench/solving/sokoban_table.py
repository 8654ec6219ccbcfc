"""Sokoban tables, warm distances and generation: CPU time on one thread, every answer asserted, targets beside.

python bench/solving/sokoban_table.py [--repeat 3] [--json FILE] [--growth FILE.csv]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from recommit import _core

LIMITS: dict[str, Any] = {"nodes": 2**64 - 1, "bytes": 2 << 30, "seconds": float("inf"), "threads": 1}
core = _core.sokoban


def cpu(work, repeat):
    """Least CPU seconds of a few runs, and the last result."""
    least, result = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def shared_folder():
    for folder in (os.environ.get("RECOMMIT_SHARED"), Path(__file__).resolve().parents[3] / "shared"):
        if folder and (Path(folder) / "data" / "korf50.txt").exists():
            return Path(folder) / "data"
    return None


def boxoban(folder, name):
    text = (folder / f"boxoban-{name}.txt").read_text().splitlines()
    rows = [[" #.$*@+".index(c) for c in line] for line in text if line and not line.startswith(";")]
    moves = [line.split() for line in (folder / f"boxoban-{name}.moves").read_text().splitlines() if line[:1] != "#"]
    return np.array(rows, np.uint8).reshape(-1, 10, 10), np.array([int(m) for _, m in moves], np.int32)


def build(states):
    core.table_cache(clear=True, budget=4 << 30)
    return core.distance(states, **LIMITS)


def tables(report, folder, repeat):
    targets = {"unfiltered-test": (2.4, 1.2)}
    for name in ("unfiltered-test", "medium-valid", "hard"):
        states, moves = boxoban(folder, name)
        seconds, lengths = cpu(lambda states=states: build(states), repeat)
        assert (lengths == moves).all()
        held = core.table_cache()["bytes"] / len(states)
        report(f"table, Boxoban {name}, mean", seconds / len(states) * 1e3, "ms/level", targets.get(name))
        report(f"table, Boxoban {name}, mean size", held / 2**20, "MiB/level")


def play(states, rounds):
    """States that random play visits: [rounds, N, rows, columns]."""
    rng = np.random.default_rng(0)
    visited = [states]
    for _ in range(rounds - 1):
        visited.append(core.step(visited[-1], rng.integers(0, 4, len(states), dtype=np.uint8), threads=1))
    return np.stack(visited)


def warm(report, folder, repeat):
    states, moves = boxoban(folder, "unfiltered-test")
    for count, together, target in ((1, True, (10, 30)), (250, True, (10, 30)), (64, False, None), (250, False, None)):
        visited = play(states[:count], 40_000 // count)
        if together:
            visited = visited.transpose(1, 0, 2, 3)
        batch = np.ascontiguousarray(visited.reshape(-1, 10, 10))
        build(batch)
        seconds, lengths = cpu(lambda batch=batch: core.distance(batch, **LIMITS), 5 * repeat)
        starts = lengths.reshape(count, -1)[:, 0] if together else lengths.reshape(-1, count)[0]
        assert (starts == moves[:count]).all()
        order = "in turn" if not together else "one after the other"
        report(f"distance, warm, {count} levels {order}", len(batch) / seconds / 1e6, "M states/s", target)
        if together:
            seconds, masks = cpu(lambda batch=batch: core.optimal_actions(batch, **LIMITS), repeat)
            assert (masks.any(axis=1) == (lengths > 0)).all()
            report(f"optimal_actions, warm, {count} levels {order}", len(batch) / seconds / 1e6, "M states/s")
    seconds, plans = cpu(lambda: core.solve(states, random=False, seed=0, **LIMITS), repeat)
    assert (plans[2] == moves).all()
    report("plans of 250 Boxoban levels, warm", len(states) / seconds, "plans/s")


def generation(report, repeat):
    requests = (
        (8, 2, 8, 32, 2000, (3_000, 10_000)),
        (10, 4, 8, 32, 300, (300, 1_000)),
        (10, 4, 20, 60, 300, (300, 1_000)),
        (7, 1, 8, 24, 2000, None),
        (7, 3, 8, 32, 1000, None),
        (12, 3, 8, 40, 200, None),
    )
    for size, boxes, low, high, count, target in requests:
        seconds, (states, lengths) = cpu(
            lambda s=size, b=boxes, n=count, lo=low, hi=high: core.generate_rooms(
                s, s, b, n, shortest=lo, longest=hi, seed=0, threads=1
            ),
            repeat,
        )
        assert (core.distance(states, **LIMITS) == lengths).all()
        assert low <= lengths.min() <= lengths.max() <= high
        name = f"levels, {size}x{size}, {boxes} boxes, length {low}..{high} (mean {lengths.mean():.1f})"
        report(name, count / seconds, "levels/s", target)
        doubles = count - len(np.unique(core.canonical_digests(states), axis=0))
        report(f"  of {count}, doubles up to symmetry", doubles, "")


def hall(side, boxes):
    """An open square room, goals in a block in the middle, boxes anywhere, and the start of the player in a corner."""
    grid = np.ones((side + 2, side + 2), np.uint8)
    grid[1:-1, 1:-1] = 0
    middle = [(r, c) for r in range(2, side) for c in range(2, side)]
    middle.sort(key=lambda cell: (abs(cell[0] - (side + 1) / 2) + abs(cell[1] - (side + 1) / 2), cell))
    for row, col in middle[:boxes]:
        grid[row, col] = 4
    grid[1, 1] = 5
    return grid[None]


def growth(path, repeat):
    """Time, bytes and states of complete tables against boxes, and against free cells."""
    halls = [(side, boxes) for side, most in ((7, 6), (8, 5), (10, 4)) for boxes in range(1, most + 1)]
    halls += [(side, 3) for side in (5, 6, 9, 12, 14)] + [(side, 2) for side in (5, 6, 12, 16, 24)]
    halls += [(side, 1) for side in (5, 6, 16, 30, 45, 62)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["free_cells", "boxes", "ms", "bytes"])
        for side, boxes in sorted(halls):
            states = hall(side, boxes)
            seconds, lengths = cpu(lambda states=states: build(states), repeat)
            assert lengths[0] == 0
            writer.writerow([side * side, boxes, f"{seconds * 1e3:.3f}", core.table_cache()["bytes"]])
            file.flush()
    print(f"growth: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--growth", type=Path, help="write the table of growth here")
    arguments = parser.parse_args()
    rows = []

    def report(name, value, unit, target=None):
        rows.append({"name": name, "value": value, "unit": unit, "target": target})
        beside = f"   at least / aim: {target[0]} / {target[1]}" if target else ""
        print(f"{name:62s} {value:12.3f} {unit}{beside}", flush=True)

    folder = shared_folder()
    if folder is None:
        print("Boxoban rows skipped: no ../shared/data and no RECOMMIT_SHARED")
    else:
        tables(report, folder, arguments.repeat)
        warm(report, folder, arguments.repeat)
    generation(report, arguments.repeat)
    if arguments.growth:
        growth(arguments.growth, 2 * arguments.repeat)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
