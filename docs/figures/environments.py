"""Draws docs/assets/environment-*.gif: an optimal plan on one level of every puzzle, action by action.

python docs/figures/environments.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import recommit
from recommit.report import animation

ASSETS = Path(__file__).resolve().parents[1] / "assets"
CELL, FOOT = 40, 34
START, ACTION, END = 1200, 350, 2200  # milliseconds that a picture stays
BACK, INK = "#ffffff", "#1f2430"
#: Puzzle, and the exact length of the level that is played.
LEVELS: dict[str, tuple[recommit.Puzzle, int]] = {
    "sliding": (recommit.Sliding(3), 20),
    "sokoban": (recommit.Sokoban(8, 2), 30),
    "ice": (recommit.Ice(8), 9),
}


def trail(task: recommit.Puzzle, length: int) -> tuple[list[NDArray[np.uint8]], list[str]]:
    """The states of an optimal plan, and a line under each."""
    state = task.generate(1, seed=1, length=length).states
    states, lines = [state[0]], [f"{length} actions to go"]
    for number, action in enumerate(task.solve(state)[0], 1):
        state = task.step(state, np.array([action], np.uint8))
        states.append(state[0])
        left = f"{length - number} to go" if number < length else "solved"
        lines.append(f"{recommit.ACTIONS[action]}, {left}")
    return states, lines


def draw(board: NDArray[np.uint8], line: str) -> Image.Image:
    """One board with its line."""
    height, width, _ = board.shape
    picture = Image.new("RGB", (width, height + FOOT), BACK)
    picture.paste(Image.fromarray(board), (0, 0))
    pen = ImageDraw.Draw(picture)
    pen.text((width // 2, height + FOOT // 2), line, INK, ImageFont.load_default(16), anchor="mm")
    return picture


def pictures(name: str) -> list[Image.Image]:
    """What the moving picture of a puzzle shows."""
    task, length = LEVELS[name]
    states, lines = trail(task, length)
    boards = task.render(np.stack(states), cell=CELL if name != "sliding" else 2 * CELL)
    return [draw(board, line) for board, line in zip(boards, lines, strict=True)]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name in LEVELS:
        drawn = pictures(name)
        out = ASSETS / f"environment-{name}.gif"
        animation.save_pictures(out, drawn, [START, *[ACTION] * (len(drawn) - 2), END])
        print(f"{out.name}: {len(drawn)} pictures, {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
