"""D4: every part computes, to the last bit, what the committed numbers say, with other compilers,
optimisation levels and machines: one 64-bit number each for generated boards, steps, pictures, patches and plans of
sliding puzzles and Sokoban. The icy cave, level files and random ties have none. ``bench/signature.cpp`` computes the
same numbers without Python.

A change of a number means that some result changed; it must be deliberate and said in the changelog.
``python -m tests.verify.signature --accept`` writes the numbers of this package.
Platforms build ``bench/signature.cpp``; the foreign machines are emulated: apt-get install qemu-user
g++-aarch64-linux-gnu g++-s390x-linux-gnu clang
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.verify.harness import BUILD, ROOT, expect, run

from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.rng import mix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

GOLDEN = ROOT / "tests" / "golden" / "signature.json"


#: Small and large, square and not: the signature covers these.
SHAPES: tuple[Puzzle, ...] = (
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
#: These are solved in a moment.
SOLVED: tuple[Puzzle, ...] = (Sokoban(6, boxes=1), Sokoban(8, boxes=2))

Words = np.uint64


def digest(pieces: Iterable[NDArray[np.uint8] | NDArray[np.bool_]]) -> int:
    """64 bits that depend on every byte of every piece, and on their order."""
    total = np.zeros(1, Words)
    for piece in pieces:
        data = np.ascontiguousarray(piece).view(np.uint8).ravel()
        words = np.zeros((data.size + 7) // 8, "<u8")
        words.view(np.uint8)[: data.size] = data
        places = mix(np.arange(1, words.size + 1, dtype=Words))
        total = mix(total ^ (mix(words.astype(Words) ^ places).sum(dtype=Words, keepdims=True) + Words(data.size)))
    return int(total[0])


def signature(threads: int | None = None) -> dict[str, int]:
    """The numbers, by name."""
    return {
        "gen": digest(_boards(threads)),
        "sim": digest(_play(threads)),
        "render": digest(_frames(threads)),
        "patches": digest(_patches(threads)),
        "solve": digest(_plans(threads)),
    }


def _boards(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    for task in SHAPES:
        yield task.generate(BOARDS, seed=SEED, start=START, threads=threads).states


def _play(threads: int | None) -> Iterator[NDArray[np.uint8] | NDArray[np.bool_]]:
    for task in SHAPES:
        states = task.generate(BOARDS, seed=SEED, start=START, threads=threads).states
        for step in range(STEPS):
            actions = (mix(np.arange(BOARDS, dtype=Words) + Words(step << 32)) >> Words(62)).astype(np.uint8)
            states = task.step(states, actions, threads=threads)
            yield states
            yield task.action_masks(states, threads=threads)
            yield task.is_solved(states, threads=threads)


def _frames(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    for task in SHAPES:
        states = task.generate(FRAMES, seed=SEED, start=START, threads=threads).states
        for theme in ("light", "dark"):
            for cell in (4, 9, 28, 56):
                yield task.render(states, cell=cell, theme=theme, threads=threads)


def _patches(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    for task in SHAPES:
        states = task.generate(FRAMES, seed=SEED, start=START, threads=threads).states
        values, _ = task.patches(states, cell=28, threads=threads)
        yield values.view(np.uint32).astype("<u4").view(np.uint8)
        bits, _ = task.patches(states, cell=28, dtype="bfloat16", threads=threads)
        yield bits.astype("<u2").view(np.uint8)


def _plans(threads: int | None) -> Iterator[NDArray[np.uint8]]:
    """Distances and first plans: each is determined by the rules of the puzzle, not by how it was found."""
    for task in SOLVED:
        states = task.generate(BOARDS, seed=SEED, start=START, threads=threads).states
        plans = task.solve(states, threads=threads)
        yield plans.length.astype("<i4").view(np.uint8)
        yield np.ascontiguousarray(plans.actions, np.uint8)
        yield task.optimal_actions(states, threads=threads).view(np.uint8)


#: name -> (compiler, flags, what runs the program)
PLATFORMS = {
    "g++ -O0": ("g++", ["-O0"], []),
    "g++ -O3 native": ("g++", ["-O3", "-march=native"], []),
    "clang -O0": ("clang++", ["-O0"], []),
    "clang -O3 native": ("clang++", ["-O3", "-march=native"], []),
    "x86-64 without AVX": ("g++", ["-O2", "-static"], ["qemu-x86_64", "-cpu", "Nehalem"]),
    "aarch64": ("aarch64-linux-gnu-g++", ["-O2", "-static"], ["qemu-aarch64"]),
    "s390x, big-endian": ("s390x-linux-gnu-g++", ["-O2", "-static"], ["qemu-s390x"]),
}
PARTS = ("core", "sliding", "sokoban")


def compiler(name: str) -> str | None:
    """The program itself; Debian's clang has its version in its name."""
    return next((c for c in (name, f"{name}-16", f"{name}-15", f"{name}-14") if shutil.which(c)), None)


def build(name: str, found: str, flags: list[str], plant: bool) -> Path:
    """One program per platform."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / ("signature-" + "".join(c if c.isalnum() else "-" for c in name))
    sources = [path for part in PARTS for path in sorted((ROOT / "cpp" / part).rglob("*.cpp"))]
    defect = ["-DRECOMMIT_PLANT_DEFECT"] if plant else []
    main_file = ROOT / "bench" / "signature.cpp"
    run([found, "-std=c++20", *flags, *defect, f"-I{ROOT / 'cpp'}", main_file, *sources, "-pthread", "-o", program])
    return program


def platforms(plant: bool) -> tuple[int, str]:
    """Every platform must be there: one that is missing is a finding, not a pass."""
    golden = json.loads(GOLDEN.read_text())
    tried = dict(list(PLATFORMS.items())[:1]) if plant else PLATFORMS
    for name, (wanted, flags, runner) in tried.items():
        found = compiler(wanted)
        expect(
            found and all(shutil.which(word) for word in runner), f"{name}: {wanted} {runner} not installed; {__doc__}"
        )
        found_numbers = json.loads(run([*runner, build(name, str(found), flags, plant)]))
        differing = {
            part: (number, golden.get(part)) for part, number in found_numbers.items() if golden.get(part) != number
        }
        expect(found_numbers and not differing, f"{name}: (found, expected) {differing}")
    return len(tried), "platforms: " + ", ".join(tried)


if __name__ == "__main__" and sys.argv[1:] == ["--accept"]:
    numbers = {part: f"{number:016x}" for part, number in signature().items()}
    GOLDEN.write_text(json.dumps(numbers, indent=2) + "\n")
