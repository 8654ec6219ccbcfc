"""Slow twins of drawing, written from the definitions: pictures from sprites, and patches from pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PATCH, MERGE, SLOTS = 14, 2, 2
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)
MIN_PIXELS, MAX_PIXELS = 3136, 12845056

Picture = NDArray[np.uint8]


def blit(state: Picture, sprites: dict[int, Picture], crop: bool) -> Picture:
    """One picture, sprite by sprite."""
    shown = state[1:-1, 1:-1] if crop else state
    rows, cols = shown.shape
    cell = len(next(iter(sprites.values())))
    out = np.zeros((rows * cell, cols * cell, 3), np.uint8)
    for row in range(rows):
        for col in range(cols):
            out[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell] = sprites[int(shown[row, col])]
    return out


def normalised(value: int, channel: int) -> np.float32:
    """One value, with the image processor's roundings in its order."""
    scaled = np.float32(np.float64(value) * (1 / 255))
    return np.float32(np.float32(scaled - np.float32(MEAN[channel])) / np.float32(STD[channel]))


def patches(picture: Picture) -> NDArray[np.float32]:
    """The rows of one picture: tokens in reading order, each 2x2 patches in reading order; a row is channel, time
    slot, then the patch in reading order.
    """
    height, width, _ = picture.shape
    table = [[normalised(value, channel) for value in range(256)] for channel in range(3)]
    rows = []
    for token_y in range(height // (PATCH * MERGE)):
        for token_x in range(width // (PATCH * MERGE)):
            for inner_y in range(MERGE):
                for inner_x in range(MERGE):
                    top, remaining = (token_y * MERGE + inner_y) * PATCH, (token_x * MERGE + inner_x) * PATCH
                    patch = picture[top : top + PATCH, remaining : remaining + PATCH].tolist()
                    rows.append(
                        [
                            table[channel][pixel[channel]]
                            for channel in range(3)
                            for _ in range(SLOTS)
                            for line in patch
                            for pixel in line
                        ]
                    )
    return np.array(rows, np.float32)


def bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper half of each float32: of the two bfloat16 neighbours the nearer one, and the even one of two equally
    near.
    """
    bits = values.view(np.uint32)
    low = bits & np.uint32(0xFFFF0000)
    high = low + np.uint32(0x10000)
    exact = values.astype(np.float64)
    below = np.abs(exact - low.view(np.float32))
    above = np.abs(high.view(np.float32) - exact)
    up = (above < below) | ((above == below) & ((low >> 16) % 2 == 1))
    return np.asarray(np.where(up, high, low) >> 16, np.uint16)
