"""Draws the pictures of the page of concepts: ``python docs/figures/concepts.py``. The same bytes every time.

Boards come from the project's own renderer; the level, its plan and every distance are computed, not written down.
"""

from __future__ import annotations

import base64
import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

import recommit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    States = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "assets"
CELL, GAP = 14, 16
TASK = recommit.Sokoban(7, boxes=1)
#: A small room in which one step of the way can go wrong for ever.
LEVEL = TASK.generate(1, seed=3, start=3, length=(8, 12)).states
PLAN = TASK.solve(LEVEL)[0]
ARROWS = "↑↓←→"
INK, SOFT, CARD, RULE, LOOK = "#1f2430", "#5b6373", "#faf8f4", "#d9d6cd", "#1f5fb0"
DEPTHS = {1: "#f5c451", 2: "#b9c96a", 4: "#4aa9a6", 8: "#2c3a7e"}


def path() -> list[States]:
    """The states on the way, the start first."""
    states = [LEVEL]
    for action in PLAN:
        states.append(TASK.step(states[-1], np.array([action], np.uint8)))
    return states


def distance(state: States) -> int:
    """Exact."""
    return int(TASK.distance(state)[0])


def board(state: States, x: float, y: float, cell: int = CELL) -> str:
    """A drawn state."""
    frame = TASK.render(state, cell=cell)[0]
    file = io.BytesIO()
    Image.fromarray(frame).save(file, format="PNG", optimize=True)
    link = base64.b64encode(file.getvalue()).decode()
    height, width, _ = frame.shape
    return f'<image x="{x}" y="{y}" width="{width}" height="{height}" href="data:image/png;base64,{link}"/>'


def text(
    x: float, y: float, words: str, colour: str = INK, size: int = 13, anchor: str = "middle", bold: bool = False
) -> str:
    """A line of text."""
    weight = ' font-weight="700"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" '
        f'text-anchor="{anchor}"{weight}>{escape(words)}</text>'
    )


def bar(x: float, y: float, width: float, depth: int, words: str) -> str:
    """A commitment: as wide as it is deep."""
    colour = "#fff" if depth == 8 else INK
    shape = f'<rect x="{x}" y="{y}" width="{width}" height="24" rx="4" fill="{DEPTHS[depth]}"/>'
    return shape + text(x + width / 2, y + 17, words, colour)


def picture(name: str, says: str, width: float, height: float, parts: list[str]) -> tuple[str, str]:
    """Name and content of a file that looks the same on a light and on a dark page."""
    card = f'<rect width="{width}" height="{height}" rx="8" fill="{CARD}" stroke="{RULE}"/>'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(says)}"'
    )
    return name, f'{head} font-family="system-ui, sans-serif">{card}{"".join(parts)}</svg>\n'


def clocks() -> tuple[str, str]:
    """The same eight actions, with eight observations or three."""
    side, top = 7 * CELL, 34.0
    states = path()
    pitch, left = side + GAP, 24.0
    width = left * 2 + pitch * len(states) - GAP + 24
    parts = [text(left + side / 2 + i * pitch, 22, f"t = {i}", SOFT) for i in range(len(states))]
    parts += [board(state, left + i * pitch, top) for i, state in enumerate(states)]
    middle = [left + side / 2 + i * pitch for i in range(len(states))]
    parts += [
        text((middle[i] + middle[i + 1]) / 2, top + side / 2 + 5, ARROWS[a], SOFT, 16) for i, a in enumerate(PLAN)
    ]
    for row, (caption, depths) in enumerate((("8 observations", [1] * 8), ("3 observations", [2, 4, 2]))):
        y, t = top + side + 28 + 58 * row, 0
        parts.append(text(middle[-1] - 16, y + 17, caption, LOOK, anchor="start", bold=True))
        for k, depth in enumerate(depths):
            parts.append(text(middle[t], y - 6, f"k = {k}", LOOK, 12))
            parts.append(bar(middle[t] - 18, y, depth * pitch - 8, depth, f"depth {depth}"))
            t += depth
    says = (
        "Nine boards of one Sokoban level, joined by eight actions; below, the same actions as eight "
        "commitments of depth 1 and as commitments of depths 2, 4 and 2."
    )
    return picture("concept-clocks.svg", says, width, top + side + 126, parts)


def distances() -> tuple[str, str]:
    """One state, and what each action makes of its distance."""
    states = path()
    turning = next(s for s in states if any(distance(_after(s, a)) == recommit.UNSOLVABLE for a in range(4)))
    cell, top, left = 22, 40.0, 24.0
    side = 7 * cell
    pitch = side + 3 * GAP
    parts = [board(turning, left, top, cell), text(left + side / 2, 26, f"distance {distance(turning)}", bold=True)]
    for i, action in enumerate(range(4)):
        after = _after(turning, action)
        d, x = distance(after), left + (i + 1) * pitch
        colour = "#b3261e" if d < 0 else "#0a7a5c" if d < distance(turning) else SOFT
        caption = "\u22121: out of reach for ever" if d < 0 else f"distance {d}"
        if (after == turning).all():
            caption += ", blocked"
        parts += [board(after, x, top, cell), text(x + side / 2, 26, f"{ARROWS[action]} {recommit.ACTIONS[action]}")]
        parts.append(text(x + side / 2, top + side + 22, caption, colour, bold=True))
    says = (
        "A Sokoban state and what follows from each of the four actions, with the exact distance to the goal; "
        "one of them can never be solved."
    )
    return picture("concept-distance.svg", says, 2 * left + 5 * pitch - 3 * GAP, top + side + 40, parts)


def _after(state: States, action: int) -> States:
    result: States = TASK.step(state, np.array([action], np.uint8))
    return result


def prefixes() -> tuple[str, str]:
    """One plan of eight actions holds four commitments."""
    states, step, left = path(), 60.0, 180.0
    side = 7 * CELL
    parts = [board(LEVEL, 24, 40), text(24 + side / 2, 28, "observation", LOOK, bold=True)]
    parts += [text(left + (i + 0.5) * step, 34, ARROWS[a], INK, 20) for i, a in enumerate(PLAN)]
    parts.append(text(left - 10, 33, "plan", SOFT, anchor="end"))
    for row, depth in enumerate((1, 2, 4, 8)):
        y = 46 + 30 * row
        parts.append(bar(left, y, depth * step - 4, depth, f"depth {depth}"))
    x = left + 8 * step + 24
    for i, depth in enumerate((1, 2, 4, 8)):
        at = x + i * (side + GAP)
        parts += [board(states[depth], at, 40), text(at + side / 2, 28, f"after {depth}", SOFT)]
        parts.append(text(at + side / 2, 40 + side + 20, f"d = {distance(states[depth])}", INK, bold=True))
    says = (
        "A board, a plan of eight actions, and four commitments that are its first one, two, four and eight "
        "actions, each with the board where it ends."
    )
    return picture("concept-prefixes.svg", says, x + 4 * (side + GAP) + 8, 180, parts)


def main() -> None:
    """Write all of them."""
    for name, content in (clocks(), distances(), prefixes()):
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
