"""L2, L4 and L5: distances against what the rules alone say, and searches against complete answers.

far       random 4x4 boards: plan, parity, bound and neighbours
rules     the long tier of a C++ test: no pruning rule of Sokoban calls a live state dead, none changes a length
switches  the same for sliding: equal lengths with every table, view and automaton switched off
"""

from __future__ import annotations

import re

import numpy as np
from tests.verify.harness import cpp_tests, expect, run

import recommit

FAR = 1000


def planted(distances: np.ndarray, plant: bool) -> np.ndarray:
    """The planted defect: one answer that is off by two, which parity alone would not notice."""
    if plant:
        distances[len(distances) // 2] += 2
    return distances


def solvable(board: np.ndarray) -> bool:
    """The sign of the permutation is that of the blank's way home."""
    cells = board.ravel().tolist()
    inversions = sum(a > b for i, a in enumerate(cells) for b in cells[i + 1 :])
    blank = cells.index(0)
    return (inversions + 15) % 2 == (3 - blank // 4 + 3 - blank % 4) % 2


def far(plant: bool) -> tuple[int, str]:
    """Uniform random solvable 4x4 boards."""
    task, rng = recommit.Sliding(4), np.random.default_rng(15)
    boards = np.array([rng.permutation(16) for _ in range(FAR)], np.uint8).reshape(-1, 4, 4)
    for board in boards[task.distance(boards, recommit.Limits(nodes=1)) == recommit.UNSOLVABLE]:
        expect(not solvable(board), f"a solvable board refused: {board.tolist()}")
    for board in boards:
        if not solvable(board):  # two tiles exchanged: now it is
            first, second = np.flatnonzero(board)[:2]
            board.flat[[first, second]] = board.flat[[second, first]]
    plans = task.solve(boards)
    expect((plans.status == recommit.Status.EXACT).all(), "an even board without a plan")
    lengths = planted(plans.length.copy(), plant)
    for i, board in enumerate(boards):
        done = task.execute(board[None], plans[i][None], np.array([len(plans[i])], np.int32))
        expect(done.solved[0] and done.executed[0] == lengths[i], f"board {board.tolist()}: its plan is no plan")
    taxicab = np.abs(np.argwhere(boards == 0)[:, 1:] - 3).sum(axis=1)
    expect((taxicab % 2 == lengths % 2).all(), "a length whose parity is not that of the blank's way")
    bounds = task.solve(boards, recommit.Limits(nodes=1)).bound
    expect((bounds <= lengths).all(), "a bound above the length")
    sample = np.flatnonzero(lengths <= np.median(lengths))[:100]
    for i in sample:
        after = np.concatenate([task.step(boards[i : i + 1], np.array([action], np.uint8)) for action in range(4)])
        moved = after[(after != boards[i]).any(axis=(1, 2))]
        best = task.distance(moved).min()
        expect(best + 1 == lengths[i], f"board {boards[i].tolist()}: {lengths[i]}, but its nearest neighbour {best}")
    return FAR, f"boards of length {lengths.min()}..{lengths.max()}, neighbours of {len(sample)}"


def output_of(program: str, plant: bool) -> str:
    """What a C++ test says in its long tier; what is planted is found in the short one."""
    folder = cpp_tests()
    return run([folder / program], env={"RECOMMIT_PLANT": "1"} if plant else {"RECOMMIT_LONG": "1"})


def rules(plant: bool) -> tuple[int, str]:
    """Verdicts and lengths of the bounded search."""
    output = output_of("test_sokoban_search", plant)
    searches = [int(n) for n in re.findall(r"(\d+) searches", output)]
    judged = re.findall(r"(\d+) states, (\d+) dead, (\d+) called dead, (\d+) wrong", output)
    expect(len(searches) == 1 and len(judged) >= 4, f"the test says nothing:\n{output[-2000:]}")
    states, dead, called, wrong = (sum(int(rule[k]) for rule in judged) for k in range(4))
    expect(wrong == 0, f"{wrong} live states called dead")
    return states, (
        f"states judged by {len(judged)} rules ({dead} dead, {called} called so, 0 wrong); {searches[0]} searches"
    )


def switches(plant: bool) -> tuple[int, str]:
    """Lengths of the pattern search."""
    found = re.findall(r"(\d+) states, (\d+) variants", output_of("test_sliding_solver", plant))
    expect(found, "the test says nothing")
    return sum(int(states) * int(variants) for states, variants in found), f"searches of {len(found)} shapes, all equal"
