"""Draws the digits 0..9 with a round pen and writes them as bitmaps for the pictures of tiles.

``python cpp/core/draw/digits.py > cpp/core/draw/digits.inc``

The font is ours. Each digit is a few strokes; a bit is set where the pen comes within half its width. The C++ core
embeds the bitmaps, never this file.
"""

from __future__ import annotations

import itertools
import math

WIDTH, HEIGHT, PEN = 44, 64, 11.5
LEFT, RIGHT, TOP, BOTTOM = PEN / 2, WIDTH - PEN / 2, PEN / 2, HEIGHT - PEN / 2
MIDDLE = WIDTH / 2

Stroke = list[tuple[float, float]]


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Stroke:
    """Part of an ellipse around (x, y), in degrees clockwise from three o'clock."""
    steps = max(8, int(abs(end - start) / 4))
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


def six() -> list[Stroke]:
    """A bowl, and a stem that bends over its top."""
    rx, ry = (RIGHT - LEFT) / 2, 13.2
    bowl = arc(MIDDLE, BOTTOM - ry, rx, ry, 0, 360)
    stem = [(LEFT, BOTTOM - ry), *arc(MIDDLE + 1.5, TOP + 19, rx + 1.5, 19, 180, 292)]
    return [bowl, stem]


def digits() -> list[list[Stroke]]:
    """The strokes of each digit."""
    rx = (RIGHT - LEFT) / 2
    upper, lower = 12.0, (BOTTOM - TOP) / 2 - 12.0
    waist = TOP + 2 * upper
    oval = [
        *arc(MIDDLE, TOP + rx + 3, rx, rx + 3, 180, 360),
        *arc(MIDDLE, BOTTOM - rx - 3, rx, rx + 3, 0, 180),
        (LEFT, TOP + rx + 3),
    ]
    return [
        [oval],
        [
            [(MIDDLE - 10, TOP + 9), (MIDDLE + 3, TOP), (MIDDLE + 3, BOTTOM)],
            [(MIDDLE - 9, BOTTOM), (MIDDLE + 15, BOTTOM)],
        ],
        [[*arc(MIDDLE, TOP + 15, rx - 0.5, 15, 190, 360 + 40), (LEFT, BOTTOM), (RIGHT, BOTTOM)]],
        [
            [*arc(MIDDLE - 1, TOP + upper, rx - 2, upper, 200, 360 + 90), (MIDDLE - 7, waist)],
            arc(MIDDLE - 1, BOTTOM - lower, rx, lower, -90, 155),
        ],
        [
            [(MIDDLE + 1, TOP), (LEFT, BOTTOM - 16), (RIGHT, BOTTOM - 16)],
            [(MIDDLE + 9, TOP + 24), (MIDDLE + 9, BOTTOM)],
        ],
        [
            [
                (RIGHT - 2, TOP),
                (LEFT + 3, TOP),
                (LEFT + 1, TOP + 24),
                *arc(MIDDLE - 1, BOTTOM - 15.5, rx, 15.5, 218, 360 + 150),
            ]
        ],
        six(),
        [[(LEFT, TOP), (RIGHT, TOP), (MIDDLE - 6, BOTTOM)]],
        [arc(MIDDLE, TOP + upper, rx - 2, upper, 0, 360), arc(MIDDLE, BOTTOM - lower, rx, lower, 0, 360)],
        [[(WIDTH - x, HEIGHT - y) for x, y in stroke] for stroke in six()],
    ]


def near(px: float, py: float, stroke: Stroke) -> bool:
    """Does the pen, following this stroke, touch the point?"""
    for (ax, ay), (bx, by) in itertools.pairwise(stroke):
        dx, dy = bx - ax, by - ay
        length2 = dx * dx + dy * dy
        t = 0.0 if length2 == 0 else max(0.0, min(1.0, ((px - ax) * dx + (py - ay) * dy) / length2))
        if math.hypot(px - ax - t * dx, py - ay - t * dy) <= PEN / 2:
            return True
    return False


def rows(strokes: list[Stroke]) -> list[int]:
    """One integer per row; the leftmost column is the highest bit."""
    result = []
    for y in range(HEIGHT):
        bits = 0
        for x in range(WIDTH):
            bits = bits << 1 | any(near(x + 0.5, y + 0.5, stroke) for stroke in strokes)
        result.append(bits)
    return result


def main() -> None:
    """Print the table."""
    print(
        f"// Written by digits.py: ten digits of {WIDTH}x{HEIGHT} bits, one row per integer, leftmost column highest."
    )
    for digit, strokes in enumerate(digits()):
        table = rows(strokes)
        print(f"{{ // {digit}")
        for i in range(0, HEIGHT, 7):
            print("  " + " ".join(f"0x{row:011x}," for row in table[i : i + 7]))
        print("},")


if __name__ == "__main__":
    main()
