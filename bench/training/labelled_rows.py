"""How fast labelled rows are made, written, read back and fed, in CPU time of one core.

    python bench/training/labelled_rows.py [--instances 8192] [--json results.json]

Seconds are of CPU, one core, the quickest of some rounds; every figure comes with a check of what was made. The
yardsticks in the same run are plain Python that writes JSON lines. Of sliding, rows from one dictionary of all boards,
which like our own table is there before the clock starts; of Sokoban, where every level needs its own search, the slow
twin of the tests, written to be read; and one forward search per instance, as VAGEN's environments make their plans at
each reset, which gives a distance and a single action per row.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

import recommit
import recommit.data
from recommit.data import labels, manifest, parquet, rows, sampling, shards
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import files

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.reference.labels import RULES, Judge, as_tuple

PLANS = {
    "sliding 3x3": DataSpec("sliding", (3, 3), (Difficulty((8, 24)),), 8192),
    "sokoban 8x8, 2 boxes": DataSpec("sokoban", (8, 8), (Difficulty((8, 32), 2),), 8192),
}


def cpu(call, times=1):
    """(seconds of CPU of the quickest of some runs, the last result)."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        result = call()
        best = min(best, time.process_time() - begin)
    return best, result


def build(plan, scratch, rounds=6):
    """Whole builds by one process, from nothing to the manifest, and what part of each is not making and encoding."""
    whole, overheads = float("inf"), []
    for _ in range(rounds):
        folder = Path(tempfile.mkdtemp(dir=scratch)) / "set"
        with Stopwatch((shards, "make"), (parquet, "to_table"), (parquet, "encode")) as needed:
            seconds, manifest = cpu(lambda folder=folder: recommit.data.build(plan, folder))
        whole = min(whole, seconds)
        overheads.append(seconds / needed.seconds - 1)
    count = manifest.total("rows")
    again, _ = cpu(lambda: recommit.data.build(plan, folder), 3)
    assert recommit.data.verify(recommit.data.open(folder), labels=True) == count
    return folder, {
        "rows": count,
        "build_rows_per_second": count / whole,
        "bytes_per_row": manifest.total("bytes") / count,
        "overhead_of_safety": sorted(overheads)[rounds // 2],
        "recheck_rows_per_second": count / again,
    }


class Stopwatch:
    """CPU time inside some functions of modules while it is on."""

    def __init__(self, *functions):
        self.functions = [(module, name, getattr(module, name)) for module, name in functions]
        self.seconds = 0.0

    def __enter__(self):
        for module, name, function in self.functions:
            setattr(module, name, self._timed(function))
        return self

    def __exit__(self, *_):
        for module, name, function in self.functions:
            setattr(module, name, function)

    def _timed(self, function):
        def run(*arguments, **settings):
            begin = time.process_time()
            try:
                return function(*arguments, **settings)
            finally:
                self.seconds += time.process_time() - begin

        return run


def stages(plan):
    """Where the time of one shard goes, in nanoseconds per row."""
    puzzle = plan.puzzle()
    generate, starts = cpu(lambda: sampling.starts(plan.changed(seed=1), "train", 0), 3)
    label, content = cpu(lambda: labels.shard_rows(plan, "train", 0, starts), 3)
    encode, data = cpu(lambda: parquet.encode(parquet.to_table(plan, "train", content)), 3)
    decode, back = cpu(lambda: parquet.read_groups(plan, *_all_groups(data)), 3)
    digest, name = cpu(lambda: (content.sha256(), files.sha256(data)), 3)
    assert back.sha256() == name[0]
    assert np.array_equal(puzzle.distance(content.states), content.distance)
    each = {"generate": generate, "label": label, "encode": encode, "hash": digest, "decode": decode}
    return {name: seconds / len(content) * 1e9 for name, seconds in each.items()}


def _all_groups(data):
    file = parquet.reader(parquet.pa.BufferReader(data))
    return file, list(range(file.num_row_groups))


def feed(folder, batches=200, batch=256):
    """Rows per second out of the feed, and with patches at 28 pixels a cell on top, on one thread."""
    data = recommit.data.open(folder)
    stream = recommit.data.Feed(data, batch)
    next(stream)
    plain, content = cpu(lambda: [next(stream) for _ in range(batches)][-1])
    result = {"feed_rows_per_second": batches * batch / plain}
    assert (content.distance > 0).all()
    for dtype in ("float32", "bfloat16"):
        result |= {f"{name}_{dtype}_rows_per_second": rate for name, rate in _pixels(data, stream, batch, dtype)}
    return result


def _pixels(data, stream, batch, dtype, drawn=20):
    """With patches: into fresh memory, and into a buffer that is used again."""
    out, _ = data.puzzle.patches(next(stream).states, dtype=dtype, threads=1)
    for name, into in (("fresh", None), ("reused", out)):
        seconds, _ = cpu(
            lambda into=into: [
                data.puzzle.patches(next(stream).states, dtype=dtype, out=into, threads=1) for _ in range(drawn)
            ],
            3,
        )
        yield f"patches_{name}", drawn * batch / seconds


def plain_python(plan, folder, scratch, instances):
    """The same labels of some instances in plain Python, written as JSON lines."""
    content = next(iter(recommit.data.open(folder).shards()))
    starts = content[(content.t == 0) & (content.kind == rows.EXPERT)]
    wanted = {int(number) for number in starts.instance[:instances]}
    expected = content[np.isin(content.instance, list(wanted))]

    table, moves = _every_board(*plan.size) if plan.task == "sliding" else ({}, {})

    def run():
        distances = []
        with (Path(scratch) / "plain.jsonl").open("w") as out:
            for start in starts.states[:instances]:
                if table:
                    distances += _looked_up(table, moves, tuple(start.ravel().tolist()), out)
                else:
                    distances += _python_rows(Judge(plan.task), as_tuple(start), out)
        return distances

    seconds, distances = cpu(run)
    assert distances == expected.distance.tolist()
    return len(distances) / seconds


def _every_board(rows, cols):
    """The distance of every board, by breadth-first search from the goal; and by the place of the blank its actions."""
    moves = {}
    for place in range(rows * cols):
        row, col = divmod(place, cols)
        near = ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1))
        moves[place] = [(a, r * cols + c) for a, (r, c) in enumerate(near) if 0 <= r < rows and 0 <= c < cols]
    goal = (*range(1, rows * cols), 0)
    table, layer = {goal: 0}, [goal]
    while layer:
        after = []
        for board in layer:
            for _, other in _slid(board, moves):
                if other not in table:
                    table[other] = table[board] + 1
                    after.append(other)
        layer = after
    return table, moves


def _slid(board, moves):
    blank = board.index(0)
    for action, place in moves[blank]:
        other = list(board)
        other[blank], other[place] = other[place], 0
        yield action, tuple(other)


def _looked_up(table, moves, board, out):
    rows, path = [], []
    while distance := table[board]:
        best = [(action, other) for action, other in _slid(board, moves) if table[other] < distance]
        rows.append((board, distance, [action for action, _ in best]))
        path.append(best[0][0])
        board = best[0][1]
    for t, (state, distance, optimal) in enumerate(rows):
        row = {"state": state, "distance": distance, "optimal": optimal, "actions": path[t : t + 8]}
        out.write(json.dumps(row) + "\n")
    return [distance for _, distance, _ in rows]


def _python_rows(judge, state, out):
    distances = []
    while (distance := judge.distance(state)) > 0:
        best = judge.optimal(state)
        out.write(json.dumps({"state": state, "distance": distance, "optimal": sorted(best)}) + "\n")
        distances.append(distance)
        state = dict(judge.moves(state))[min(best)]
    return distances


def one_search_each(plan, folder, scratch, instances):
    """One forward search per instance, in plain Python, gives its plan: a distance and one action per row."""
    content = next(iter(recommit.data.open(folder).shards()))
    starts = content[(content.t == 0) & (content.kind == rows.EXPERT)]
    moves, solved = RULES[plan.task]

    def run():
        lengths = []
        with (Path(scratch) / "searches.jsonl").open("w") as out:
            for start in starts.states[:instances]:
                path = _search(as_tuple(start), moves, solved)
                for t, (state, action) in enumerate(path):
                    out.write(json.dumps({"state": state, "distance": len(path) - t, "action": action}) + "\n")
                lengths.append(len(path))
        return lengths

    seconds, lengths = cpu(run)
    assert lengths == starts.length[:instances].tolist()
    return sum(lengths) / seconds


def _search(start, moves, solved):
    """(state, action) along a shortest path."""
    before: dict[Any, Any] = {start: None}
    queue = deque([start])
    while not solved(state := queue.popleft()):
        for action, after in moves(state):
            if after not in before:
                before[after] = state, action
                queue.append(after)
    path: list[tuple[Any, Any]] = []
    while before[state] is not None:
        path.append(before[state])
        state = before[state][0]
    return path[::-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=8192)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    for name, plan in PLANS.items():
        plan = plan.changed(count=options.instances, ties="first")
        shards.make(plan.changed(seed=9, count=8), "train", 0)  # tables are built and modules imported once
        with tempfile.TemporaryDirectory() as scratch:
            folder, figures = build(plan, scratch)
            figures |= {f"{stage}_ns_per_row": value for stage, value in stages(plan).items()}
            figures |= feed(folder)
            few = 4096 if plan.task == "sliding" else 2  # the first shard
            figures["plain_python_rows_per_second"] = plain_python(plan, folder, scratch, few)
            figures["one_search_each_rows_per_second"] = one_search_each(plan, folder, scratch, 5)
        for name_ in ("plain_python", "one_search_each"):
            figures[f"times_{name_}"] = figures["build_rows_per_second"] / figures[f"{name_}_rows_per_second"]
        results[name] = figures
        print(name)
        for key, value in figures.items():
            print(f"  {key:<36}{value:>14,.2f}")
    results["versions"] = manifest.versions()
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
