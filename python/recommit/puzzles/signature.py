"""64-bit hashes of generated boards, steps, pictures, patches and plans of sliding puzzles and Sokoban, which must be
equal for every build on every machine. The icy cave, level files and random ties are not covered.

A changed hash means that some result changed; it must be deliberate and noted in the changelog. ``bench/signature.cpp``
computes the same hashes without Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.rng import mix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: Puzzles covered by the signature.
TASKS: tuple[Puzzle, ...] = (
    Sliding(2),
    Sliding(3),
    Sliding(3, 5),
    Sliding(4),
    Sliding(5),
    Sokoban(8, boxes=2),
    Sokoban(10, boxes=4),
    Sokoban((7, 12), boxes=3),
)
SEED, START = 7, 1000
BOARDS, STEPS, FRAMES = 64, 64, 4
#: Puzzles whose plans are covered: fast to solve.
SOLVED: tuple[Puzzle, ...] = (Sokoban(6, boxes=1), Sokoban(8, boxes=2))

Words = np.uint64


def digest(pieces: Iterable[NDArray[np.uint8] | NDArray[np.bool_]]) -> int:
    """64-bit hash of all bytes of all pieces, in order."""
    total = np.zeros(1, Words)
    for piece in pieces:
        data = np.ascontiguousarray(piece).view(np.uint8).ravel()
        words = np.zeros((data.size + 7) // 8, "<u8")
        words.view(np.uint8)[: data.size] = data
        places = mix(np.arange(1, words.size + 1, dtype=Words))
        total = mix(total ^ (mix(words.astype(Words) ^ places).sum(dtype=Words, keepdims=True) + Words(data.size)))
    return int(total[0])


def signature(threads: int | None = None) -> dict[str, int]:
    """The hashes by name."""
    return {
        "gen": digest(task.generate(BOARDS, seed=SEED, start=START, threads=threads).states for task in TASKS),
        "sim": digest(_play(threads)),
        "render": digest(_frames(threads)),
        "patches": digest(_patches(threads)),
        "solve": digest(_plans(threads)),
    }


def _play(threads: int | None) -> Iterator[NDArray[np.uint8] | NDArray[np.bool_]]:
    for task in TASKS:
        states = task.generate(BOARDS, seed=SEED, start=START, threads=threads).states
        for step in range(STEPS):
            actions = (mix(np.arange(BOARDS, dtype=Words) + Words(step << 32)) >> Words(62)).astype(np.uint8)
            states = task.step(states, actions, threads=threads)
            yield states
            yield task.action_masks(states, threads=threads)
            yield task.is_solved(states, threads=threads)


def _frames(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    for task in TASKS:
        states = task.generate(FRAMES, seed=SEED, start=START, threads=threads).states
        for theme in ("light", "dark"):
            for cell in (4, 9, 28, 56):
                yield task.render(states, cell=cell, theme=theme, threads=threads)


def _patches(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    for task in TASKS:
        states = task.generate(FRAMES, seed=SEED, start=START, threads=threads).states
        values, _ = task.patches(states, cell=28, threads=threads)
        yield values.view(np.uint32).astype("<u4").view(np.uint8)
        bits, _ = task.patches(states, cell=28, dtype="bfloat16", threads=threads)
        yield bits.astype("<u2").view(np.uint8)


def _plans(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    """Distances and first plans, which the rules determine, whatever the search."""
    for task in SOLVED:
        states = task.generate(BOARDS, seed=SEED, start=START, threads=threads).states
        plans = task.solve(states, threads=threads)
        yield plans.length.astype("<i4").view(np.uint8)
        yield np.ascontiguousarray(plans.actions, np.uint8)
        yield task.optimal_actions(states, threads=threads).view(np.uint8)
