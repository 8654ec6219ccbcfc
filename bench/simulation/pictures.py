"""How fast pictures and patches are made, beside what this machine can do.

python bench/simulation/pictures.py [--json FILE]

Every rate is per second of CPU time of one thread, the median of several rounds; each round measures the yardstick and
ours one after the other, because a shared machine changes under one's hands. The yardsticks are bench/peers/frames.cpp,
which without a C++ compiler is skipped, and numpy's copy. Each benchmark asserts that what it timed is right.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

import recommit

ROOT = Path(__file__).resolve().parents[2]
COUNT, SIDE, CELL, ROUNDS = 1024, 8, 28, 5
FRAME = (SIDE * CELL) ** 2 * 3


@dataclass
class Line:
    """One row of the table: our rate, the yardstick's, and the ratio that is asked for."""

    what: str
    unit: str
    ours: float
    yardstick: float | None
    target: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.yardstick is None else self.ours / self.yardstick


def cpu_rate(work: Callable[[], object], items: float, seconds: float = 0.4) -> float:
    """Items per second of this thread's CPU time."""
    work()
    rounds, start = 0, time.thread_time()
    while (spent := time.thread_time() - start) < seconds:
        work()
        rounds += 1
    return rounds * items / spent


class Ceiling:
    """bench/peers/frames.cpp, compiled for this machine; without a compiler there is none."""

    def __init__(self, folder: Path) -> None:
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        self.program: Path | None = None
        if compiler is None:
            print("ceiling: skipped (no C++ compiler)", file=sys.stderr)
            return
        self.program = folder / "frames"
        flags = ["-O3", "-march=native", "-std=c++20", "-o", str(self.program)]
        subprocess.run([compiler, *flags, str(ROOT / "bench" / "peers" / "frames.cpp")], check=True)

    def frames(self, kind: str) -> float | None:
        """Pictures per second into 1024 buffers on one thread."""
        if self.program is None:
            return None
        return float(subprocess.run([self.program, kind], capture_output=True, text=True, check=True).stdout)


def levels(count: int, seed: int = 0) -> np.ndarray:
    """Walled rooms of random cells with one player."""
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 5, (count, SIDE, SIDE), np.uint8)
    states[:, [0, -1], :] = states[:, :, [0, -1]] = 1
    states[np.arange(count), rng.integers(1, SIDE - 1, count), rng.integers(1, SIDE - 1, count)] = 5
    return states


def walks(states: np.ndarray, steps: int) -> list[np.ndarray]:
    """A ring of batches of which each differs from the next in three cells per state."""
    rng = np.random.default_rng(1)
    batches, last = [states], states
    for _ in range(steps - 1):
        last = last.copy()
        for i in range(len(last)):
            free = np.flatnonzero((last[i] < 5).ravel() & inner())
            cells = rng.choice(free, 3, replace=False)
            last[i].ravel()[cells] = (last[i].ravel()[cells] + rng.integers(1, 5, 3)) % 5
        batches.append(last)
    return batches + batches[-2:0:-1]


def inner() -> np.ndarray:
    mask = np.zeros((SIDE, SIDE), bool)
    mask[1:-1, 1:-1] = True
    return mask.ravel()


def measured(
    what: str, unit: str, target: float | None, ours: Callable[[], float], yardstick: Callable[[], float | None]
) -> Line:
    """Medians of interleaved rounds."""
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(ours())
        theirs.append(yardstick())
    rates = [rate for rate in theirs if rate is not None]
    return Line(what, unit, statistics.median(mine), statistics.median(rates) if rates else None, target)


def fresh(task: recommit.Puzzle, states: np.ndarray, ceiling: Ceiling) -> Line:
    out = np.zeros((COUNT, SIDE * CELL, SIDE * CELL, 3), np.uint8)
    line = measured(
        f"{task.task}: 224x224 frames into one array of 1024",
        "frames/s",
        0.7,
        lambda: cpu_rate(lambda: task.render(states, CELL, out=out, threads=1), COUNT),
        lambda: ceiling.frames("full"),
    )
    assert (task.decode(out, CELL) == states).all()
    return line


def new_array(task: recommit.Puzzle, states: np.ndarray) -> Line:
    """``task.render(states)`` as it is called without ``out``; the yardstick is the same with it."""
    out = np.zeros((COUNT, SIDE * CELL, SIDE * CELL, 3), np.uint8)
    shown = task.render(states, CELL)

    def again() -> None:
        nonlocal shown
        shown = task.render(states, CELL, threads=1)

    line = measured(
        f"{task.task}: 1024 frames into a fresh array, against one array",
        "frames/s",
        0.7,
        lambda: cpu_rate(again, COUNT),
        lambda: cpu_rate(lambda: task.render(states, CELL, out=out, threads=1), COUNT),
    )
    assert np.array_equal(shown, out)
    return line


def persistent(task: recommit.Puzzle, states: np.ndarray, ceiling: Ceiling) -> Line:
    batches = walks(states, 6)
    frames = task.frames(states, CELL)

    def once() -> None:
        for batch in batches:
            frames.update(batch, threads=1)

    line = measured(
        "sokoban: persistent frames, 3 changed cells",
        "frames/s",
        0.5,
        lambda: cpu_rate(once, COUNT * len(batches)),
        lambda: ceiling.frames("dirty"),
    )
    assert (task.decode(frames.images.copy(), CELL) == batches[-1]).all()
    assert all(((a != b).sum((1, 2)) == 3).all() for a, b in itertools.pairwise(batches))
    return line


def numpy_copy(bytes_: int) -> float:
    """Bytes per second that numpy's memcpy moves between two arrays of this size."""
    source, target = np.ones(bytes_, np.uint8), np.zeros(bytes_, np.uint8)
    return cpu_rate(lambda: np.copyto(target, source), bytes_)


def patches(task: recommit.Puzzle, states: np.ndarray, dtype: Literal["float32", "bfloat16"]) -> Line:
    states = states[:256]
    values, grid = task.patches(states, CELL, dtype=dtype)
    out = np.zeros_like(values)
    line = measured(
        f"{task.task}: patches {dtype}, 224x224, against memcpy",
        "GB/s",
        0.8,
        lambda: cpu_rate(lambda: task.patches(states, CELL, dtype=dtype, out=out, threads=1), values.nbytes / 1e9),
        lambda: numpy_copy(values.nbytes) / 1e9,
    )
    assert (out == values).all()
    assert (grid == [1, 16, 16]).all()
    return line


def against_processor(task: recommit.Puzzle, states: np.ndarray) -> list[Line]:
    """Ours against the image processor of transformers, which starts from pictures and always makes fresh arrays."""
    try:
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
    except ImportError as error:
        print(f"transformers: skipped ({error})", file=sys.stderr)
        return []
    process = Qwen2VLImageProcessorPil(min_pixels=3136, max_pixels=12845056)
    states = states[:64]
    images = list(task.render(states, CELL))
    values, _ = task.patches(states, CELL)
    assert (process(images, return_tensors="np")["pixel_values"] == values).all()
    out = np.zeros_like(values)

    def against(what: str, ours: Callable[[], object]) -> Line:
        return measured(
            f"{task.task}: patches {what}, against the transformers processor",
            "images/s",
            None,
            lambda: cpu_rate(ours, len(states)),
            lambda: cpu_rate(lambda: process(images, return_tensors="np"), len(states)),
        )

    return [
        against("into fresh arrays", lambda: task.patches(states, CELL, threads=1)),
        against("into one array", lambda: task.patches(states, CELL, threads=1, out=out)),
    ]


def table(lines: list[Line]) -> str:
    """As Markdown."""
    rows = ["| what | ours | yardstick | ratio | at least |", "|---|---|---|---|---|"]
    for line in lines:
        short = (lambda value: f"{value:,.1f}") if line.unit == "GB/s" else (lambda value: f"{value:,.0f}")
        there = "skipped" if line.yardstick is None else f"{short(line.yardstick)} {line.unit}"
        ratio = "skipped" if line.ratio is None else f"{line.ratio:.2f}"
        rows.append(f"| {line.what} | {short(line.ours)} {line.unit} | {there} | {ratio} | {line.target or '-'} |")
    return "\n".join(rows)


def main() -> int:
    """Measure, print, and say by the exit status whether every target was met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    arguments = parser.parse_args()
    sokoban, sliding = recommit.Sokoban(SIDE), recommit.Sliding(4)
    states = levels(COUNT)
    boards = sliding.generate(256, seed=0).states
    with tempfile.TemporaryDirectory() as folder:
        ceiling = Ceiling(Path(folder))
        lines = [
            new_array(sokoban, states),
            fresh(sokoban, states, ceiling),
            persistent(sokoban, states, ceiling),
            patches(sokoban, states, "float32"),
            patches(sokoban, states, "bfloat16"),
        ]
    lines += against_processor(sokoban, states)
    room = np.zeros((256, 224, 224, 3), np.uint8)
    rate = cpu_rate(lambda: sliding.render(boards, 56, threads=1, out=room), 256)
    assert (sliding.decode(room, 56) == boards).all()
    lines.append(Line("sliding: 224x224 frames (4x4 cells of 56) into one array", "frames/s", rate, None, None))
    print(table(lines))
    if arguments.json:
        rows = [asdict(line) | {"ratio": line.ratio} for line in lines]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(line.target and line.ratio is not None and line.ratio < line.target for line in lines))


if __name__ == "__main__":
    sys.exit(main())
