"""How fast PufferLib's Boxoban steps: ``python bench/peers/puffer_steps.py CHECKOUT``, a clone of PufferLib.

Its environment in C alone, on levels of ours, on one thread; its pictures are left out. After 100 steps of random
actions every slot must be where ours is.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import recommit

SLOTS, STEPS, RING = 4096, 100, 13
#: What its header wants of raylib, for pictures that nobody draws.
RAYLIB = "#include <stdbool.h>\ntypedef struct { int width, height; } Texture2D;\n"


def planes(states: np.ndarray) -> np.ndarray:
    """Player, walls, boxes and targets, as it keeps a board: codes are floor, wall, target, box, box on target, player,
    player on target."""
    return np.stack([np.isin(states, codes) for codes in ((5, 6), (1,), (3, 4), (2, 4, 6))], axis=1).astype(np.uint8)


def main() -> None:
    task = recommit.Sokoban(10, 4)
    levels = task.generate(SLOTS, seed=0).states
    header = Path(sys.argv[1], "pufferlib", "ocean", "boxoban", "boxoban.h").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "boxoban.h").write_text(header.partition("/*Rendering stuff*/")[0], encoding="utf-8")
        (place / "raylib.h").write_text(RAYLIB, encoding="utf-8")
        (place / "maps").write_bytes(planes(levels).tobytes())
        source, program = str(Path(__file__).with_name("puffer.c")), str(place / "puffer")
        subprocess.run(["cc", "-O3", "-march=native", "-w", f"-I{folder}", source, "-o", program], check=True)
        command = [program, str(place / "maps"), str(SLOTS), str(STEPS)]
        rate = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        after = (place / "maps.after").read_bytes()
    boards = np.frombuffer(after[: SLOTS * 400], np.uint8).reshape(SLOTS, 4, 10, 10)
    ring = np.frombuffer(after[SLOTS * 400 :], np.int32).reshape(RING, SLOTS)
    # Its down, up, left and right are 1 to 4.
    ours = np.array([0, *(recommit.ACTIONS.index(name) for name in ("down", "up", "left", "right"))], np.uint8)
    states, solved = levels, np.zeros(SLOTS, bool)
    for step in range(STEPS):
        states = task.step(states, ours[ring[step % RING]])
        solved |= task.is_solved(states)  # it begins another level there
    assert np.array_equal(planes(states)[~solved], boards[~solved])
    print(f"PufferLib, Boxoban in C, 10x10, 4 boxes, {SLOTS} slots: {rate} M steps/s of CPU time")


if __name__ == "__main__":
    main()
