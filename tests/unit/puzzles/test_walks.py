"""Boards from random walks: the distribution of plain rejection, the twin's boards."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import sliding as slow

import recommit
from recommit import rng
from recommit.puzzles import walks

BOTH = pytest.mark.parametrize("generator", ["walk", "walk_nobacktrack"])


def chances(rows, cols, length, *, plain):
    """Of the walker's own walks, by where they end: all of them, followed to the end."""
    bounds, to = walks.thresholds(rows, cols, length, plain=plain), walks.neighbours(rows, cols)
    under_way = {(slow.goal(rows, cols), walks.NONE): 1.0}
    for remaining in reversed(range(length)):
        following = {}
        for (board, last), here in under_way.items():
            for action, share in enumerate(np.diff(bounds[remaining, board.index(0), last], prepend=0.0)):
                if share > 0:
                    assert to[board.index(0), action] >= 0
                    key = slow.after(board, rows, cols, action), action
                    following[key] = following.get(key, 0.0) + here * share
        under_way = following
    ends = {}
    for (board, _), here in under_way.items():
        ends[board] = ends.get(board, 0.0) + here
    return ends


@pytest.mark.parametrize(("rows", "cols", "length"), [(2, 2, 4), (2, 3, 5), (2, 3, 12), (3, 3, 9), (4, 2, 10)])
@pytest.mark.parametrize("plain", [True, False])
def test_accepted_boards_have_the_distribution_of_rejection(rows, cols, length, plain):
    table = slow.distances(rows, cols, length)
    drawn = {board: here for board, here in chances(rows, cols, length, plain=plain).items() if table[board] == length}
    asked_for = slow.walk_ends(rows, cols, length, turns_back=plain)
    assert drawn.keys() == asked_for.keys()
    for board, here in drawn.items():
        assert here / sum(drawn.values()) == pytest.approx(asked_for[board] / sum(asked_for.values()), rel=1e-12)


@BOTH
@pytest.mark.parametrize(("shape", "length"), [((2, 3), (3, 9)), ((3, 2), 7), ((3, 3), 6)])
def test_boards_are_those_of_the_slow_twin(shape, length, generator):
    boards = recommit.Sliding(*shape).generate(12, seed=3, start=40, length=length, generator=generator)
    low, high = length if isinstance(length, tuple) else (length, length)
    for i, state in enumerate(boards.states):
        stream = rng.streams(3, rng.Purpose.WALK, 40 + i)
        chosen = low + int(rng.below(rng.draw(stream, 0), high - low + 1)[0])

        def numbers(n, stream=stream):
            return int(rng.draw(stream, 1 + n)[0] >> np.uint64(11)) * 2.0**-53

        assert boards.length[i] == chosen
        twin = slow.walked(*shape, chosen, numbers, turns_back=generator == "walk")
        assert tuple(state.ravel().tolist()) == twin


@BOTH
@pytest.mark.parametrize("task", [recommit.Sliding(2), recommit.Sliding(3), recommit.Sliding(4)], ids=repr)
def test_lengths_are_exact_whatever_the_slice(task, generator, monkeypatch):
    window = (2, 5) if task.rows == 2 else (6, 18)
    whole = task.generate(150, seed=5, length=window, generator=generator)
    assert np.array_equal(task.distance(whole.states), whole.length)
    assert set(whole.length.tolist()) == set(range(window[0], window[1] + 1))
    assert whole.ids[0] == f"sliding/{task.size_name}-{generator}/5/0"
    monkeypatch.setattr(walks, "BLOCK", 7)
    monkeypatch.setattr(walks, "AT_ONCE", 64)
    for count, start, threads in ((150, 0, 1), (40, 100, 3)):
        part = task.generate(count, seed=5, start=start, length=window, generator=generator, threads=threads)
        assert np.array_equal(part.states, whole.states[start : start + count])
