"""States to draw, and the yardstick bench/peers/frames.cpp, for bench/quick/test_drawing.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
COUNT, SIDE, CELL, ROUNDS = 1024, 8, 28, 5
FRAME = (SIDE * CELL) ** 2 * 3


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
