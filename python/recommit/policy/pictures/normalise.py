"""From drawn boards to what image processors make of them, for backbones whose patches the core does not draw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from recommit.policy.transfer import to_device


@dataclass(frozen=True)
class Normal:
    """What an image processor subtracts from values in 0..1 and divides by, per channel."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


@lru_cache(maxsize=8)
def table(normal: Normal, device: torch.device) -> Tensor:
    """float32[3, 256]: the value of each byte, rounded as image processors round."""
    bytes_ = (np.arange(256, dtype=np.float64) * (1 / 255)).astype(np.float32)
    rows = [(bytes_ - np.float32(mean)) / np.float32(std) for mean, std in zip(normal.mean, normal.std, strict=True)]
    return to_device(np.stack(rows), device)


def normalised(frames: Tensor, normal: Normal) -> Tensor:
    """uint8[N, height, width, 3] -> float32[N, 3, height, width]."""
    values = table(normal, frames.device)
    return torch.stack([values[channel][frames[..., channel].int()] for channel in range(3)], dim=1)


def patches(pictures: Tensor, side: int, merge: int, times: int) -> Tensor:
    """[N, 3, height, width] -> [N * patches, 3 * times * side * side]: patches token by token, row by row, each of
    them repeated ``times`` times, since a still picture is a film of equal frames."""
    count, channels, height, width = pictures.shape
    rows, cols = height // (side * merge), width // (side * merge)
    cut = pictures.view(count, channels, rows, merge, side, cols, merge, side).permute(0, 2, 5, 3, 6, 1, 4, 7)
    return cut.unsqueeze(6).expand(*cut.shape[:6], times, side, side).reshape(-1, channels * times * side * side)
