"""Published figures: how many boards have each distance, and the lengths of Korf's instances."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import recommit

LAYERS = {
    (2, 2): [1, 2, 2, 2, 2, 2, 1],
    (2, 3): [1, 2, 3, 5, 6, 7, 10, 12, 12, 16, 23, 25, 28, 39, 44, 40, 29, 21, 18, 12, 6, 1],
    (3, 3): [
        *(1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529, 10878, 16993),
        *(17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2),
    ],
}


@pytest.mark.parametrize("shape", LAYERS, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_layers(shape: tuple[int, int]) -> None:
    assert recommit._core.sliding.layer_sizes(*shape) == LAYERS[shape]
    assert recommit._core.sliding.layer_sizes(*reversed(shape)) == LAYERS[shape]


@pytest.mark.parametrize(("shape", "states", "farthest"), [((2, 4), 20_160, 36), ((2, 5), 1_814_400, 55)])
def test_totals(shape: tuple[int, int], states: int, farthest: int) -> None:
    sizes = recommit._core.sliding.layer_sizes(*shape)
    assert sum(sizes) == states
    assert len(sizes) - 1 == farthest


def korf() -> tuple[np.ndarray, np.ndarray]:
    """Boards and optimal lengths, or a skip."""
    beside = Path(__file__).resolve().parents[2].parent / "shared"
    path = Path(os.environ.get("RECOMMIT_SHARED", beside)) / "data" / "korf50.txt"
    if not path.is_file():
        pytest.skip(f"no known answers at {path} (set RECOMMIT_SHARED)")
    rows = np.loadtxt(path, dtype=np.int64)
    return rows[:, 2:].astype(np.uint8).reshape(-1, 4, 4), rows[:, 1].copy()


def test_korf() -> None:
    boards, lengths = korf()
    assert len(boards) == 50
    task = recommit.Sliding(4)
    solutions = task.solve(boards)
    assert solutions.length.tolist() == lengths.tolist()
    width = int(lengths.max())
    actions = np.zeros((len(boards), width), np.uint8)
    for i in range(len(boards)):
        actions[i, : lengths[i]] = solutions[i]
    outcome = task.execute(boards, actions, lengths)
    assert outcome.solved.all()
    assert np.array_equal(outcome.executed, lengths)
    assert np.array_equal(outcome.moved, lengths)
