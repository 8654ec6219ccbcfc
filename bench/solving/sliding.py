"""Exact sliding solver: CPU time of one core against the targets, and how cost grows. Every answer is checked.

    python bench/solving/sliding.py [--large] [--growth FILE.csv]

CPU time of this process, the best of some rounds: a shared machine only ever adds to it. ``--large`` makes the large
4x4 database if it is not there (minutes). ``--growth`` writes a table to plot: time and nodes against length and shape.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import recommit

ROOT = Path(__file__).resolve().parents[2]
Grids = NDArray[np.uint8]


def best(work: Callable[[], object], rounds: int) -> float:
    """Least CPU seconds of ``work`` over some rounds."""
    least = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return least


def row(what: str, got: str, least: str, aim: str) -> None:
    print(f"{what:<52}{got:>16}{least:>12}{aim:>10}")


def solve_micros(task: recommit.Sliding, state: Grids, times: int) -> float:
    """CPU microseconds of one call on one board."""
    return best(lambda: [task.solve(state, threads=1) for _ in range(times)], 3) / times * 1e6


def table_distances() -> None:
    task = recommit.Sliding(3)
    states = task.generate(1_000_000, seed=1).states
    lengths = task.distance(states, threads=1)
    assert lengths.min() >= 1
    assert lengths.max() <= 31
    assert (abs(task.distance(task.step(states[:1000], np.zeros(1000, np.uint8))) - lengths[:1000]) <= 1).all()
    seconds = best(lambda: task.distance(states, threads=1), 9)
    row("3x3 distance, states/s", f"{len(states) / seconds / 1e6:.0f} M", "30 M", "100 M")


def korf(name: str, least: str, aim: str) -> None:
    beside = ROOT.parent / "shared"
    path = Path(os.environ.get("RECOMMIT_SHARED", beside)) / "data" / "korf50.txt"
    if not path.is_file():
        row(f"50 Korf instances, {name} tables", "no data", least, aim)
        return
    rows = np.loadtxt(path, dtype=np.int64)
    boards = np.ascontiguousarray(rows[:, 2:].astype(np.uint8).reshape(-1, 4, 4))
    task = recommit.Sliding(4)
    solutions = task.solve(boards, threads=1)
    assert np.array_equal(solutions.length, rows[:, 1])
    seconds = best(lambda: task.solve(boards, threads=1), 5)
    row(f"50 Korf instances, {name} tables, mean ms", f"{seconds / len(boards) * 1e3:.2f}", least, aim)
    print(f"{'':<4}nodes per instance: mean {solutions.nodes.mean():.0f}, median {np.median(solutions.nodes):.0f}")


def near() -> None:
    """In C++ and by the wall clock, since a board takes less than a call from Python; the best of five rounds each."""
    sources = [ROOT / "bench/solving/sliding_near.cpp", *sorted((ROOT / "cpp/core").rglob("*.cpp"))]
    sources += sorted((ROOT / "cpp/sliding").rglob("*.cpp"))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "near"
        command = [os.environ.get("CXX", "c++"), "-O3", "-std=c++20", f"-I{ROOT / 'cpp'}", *map(str, sources)]
        subprocess.run([*command, "-pthread", "-o", str(program)], check=True)
        out = subprocess.run([program, "20", "30", "2000", "5"], check=True, capture_output=True, text=True).stdout
    median, p10, p90, mean, nodes = out.split()
    row("4x4 of length 20..30, median us", median, "3", "1")
    print(f"{'':<4}p10 {p10}, p90 {p90}, mean {mean} us; {nodes} nodes in the median")
    task = recommit.Sliding(4)
    instances = task.generate(2000, seed=2, length=(20, 30))
    assert np.array_equal(task.solve(instances.states).length, instances.length)
    batch = best(lambda: task.solve(instances.states, threads=1), 5) / len(instances.states) * 1e6
    call = solve_micros(task, np.roll(np.arange(16, dtype=np.uint8), -1).reshape(1, 4, 4), 200)
    print(f"{'':<4}from Python: mean {batch:.2f} us in a batch; one call by itself costs {call:.1f} us more")


def generation() -> None:
    task = recommit.Sliding(4)
    instances = task.generate(4000, seed=3, length=(16, 30))
    assert np.array_equal(task.distance(instances.states), instances.length)
    seconds = best(lambda: task.generate(4000, seed=3, length=(16, 30), threads=1), 5)
    row("4x4 boards/s of exact length 16..30", f"{4000 / seconds:,.0f}", "20,000", "50,000")


def growth(path: Path) -> None:
    """Median and mean cost per board against length, for shapes that are searched, and the bytes of their tables."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["shape", "table_bytes", "length", "boards", "us_median", "us_mean", "nodes_median", "nodes_mean"]
        )
        for rows, cols, longest in ((3, 4, 40), (3, 5, 44), (4, 4, 48), (4, 5, 40), (5, 5, 36)):
            task = recommit.Sliding(rows, cols)
            size = task.prepare()["bytes"]
            for length in range(4, longest + 1, 4):
                instances = task.generate(64, seed=4, length=length)
                solutions = task.solve(instances.states, threads=1)
                assert (solutions.length == length).all()
                micros = [solve_micros(task, state, 1) for state in np.split(instances.states, 64)]
                nodes = solutions.nodes
                figures = (np.median(micros), np.mean(micros), np.median(nodes), nodes.mean())
                writer.writerow([task.size_name, size, length, 64, *(f"{figure:.1f}" for figure in figures)])
                file.flush()
    print(f"growth: {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also with the large database of 4x4")
    parser.add_argument("--growth", type=Path, help="write the table of growth here")
    arguments = parser.parse_args()
    row("what (one core, CPU time)", "measured", "at least", "aim")
    table_distances()
    korf("small", "6", "3")
    near()
    generation()
    if arguments.growth:
        growth(arguments.growth)
    if arguments.large:
        began = time.process_time()
        tables = recommit.Sliding(4).prepare("large")
        print(
            f"large tables: {tables['bytes']:,} bytes, {time.process_time() - began:.1f} s CPU, "
            f"loaded: {tables['loaded']}"
        )
        korf("large", "1.2", "0.7")
    return 0


if __name__ == "__main__":
    sys.exit(main())
