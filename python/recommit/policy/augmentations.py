"""Symmetry augmentations: flip and transpose a picture cell by cell, and average the policy's distributions.

Only cells change places: the drawing inside a cell stays upright, as in the picture of a transformed state. So a policy
augments its observation, and needs no state. The first copy is the original picture, the first two mirror columns, the
first four rows and columns, and the others (of square pictures alone) are these four transposed: every prefix of 1, 2,
4 and 8 copies is a group.

With several copies z is [N, copies, width], and they go through the decoder side by side. After every action the
distributions are mapped back to the original frame and averaged; the chosen action is fed to every copy in that copy's
frame. z of one copy is [N, width].
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

#: Row and column steps of up, down, left, right.
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
#: Log mean probabilities closer than this are ties: rounding must not choose between the actions of a symmetric
#: picture.
TIE = 1e-5


@lru_cache(maxsize=64)
def cell_order(rows: int, cols: int, copy: int) -> Tensor:
    """The cell of the picture at each place of a copy, counted row by row."""
    cells = torch.arange(rows * cols).view(rows, cols)
    if copy >= 4:
        if rows != cols:
            raise ValueError(f"augmentation: expected one of the first 4 of {rows}x{cols} cells, got {copy}")
        cells = cells.T
    turned = cells.flip(*(axis for axis in (0, 1) if copy >> (1 - axis) & 1)) if copy % 4 else cells
    return turned.flatten()


def action_in(copy: int, action: int) -> int:
    """The action of a copy that is ``action`` in the original picture."""
    row, col = STEPS[action]
    if copy >= 4:
        row, col = col, row
    return STEPS.index((-row if copy & 2 else row, -col if copy & 1 else col))


@lru_cache(maxsize=8)
def action_table(copies: int) -> Tensor:
    """``action_in`` of the first copies: [copies, 4]."""
    return torch.tensor([[action_in(copy, action) for action in range(len(STEPS))] for copy in range(copies)])


def count(augmentations: int, rows: int, cols: int) -> int:
    """Number of the augmentations that keep the shape of a picture of rows x cols cells."""
    return augmentations if rows == cols else min(augmentations, 4)


def augment_patches(pixels: Tensor, pictures: int, cells: tuple[int, int], grid: tuple[int, int], copy: int) -> Tensor:
    """An augmented copy of pictures that a backbone has prepared: patches, token by token of a ``grid``."""
    (rows, cols), high, wide = cells, grid[0] // cells[0], grid[1] // cells[1]
    if (rows * high, cols * wide) != grid or pixels.ndim != 2:
        raise ValueError(f"augmentations: expected patches of {rows}x{cols} cells of whole tokens, got grid {grid}")
    blocks = pixels.view(pictures, rows, high, cols, wide, -1).transpose(2, 3).flatten(1, 2)
    moved = blocks.index_select(1, cell_order(rows, cols, copy).to(pixels.device))
    return moved.unflatten(1, (rows, cols)).transpose(2, 3).reshape(pixels.shape)


class Copies:
    """The augmented copies of a batch of z, and actions in the frame of each."""

    def __init__(self, z: Tensor) -> None:
        self.count = z.shape[1] if z.ndim == 3 else 0
        self._actions = action_table(self.count).to(z.device) if self.count else None

    def rows(self, z: Tensor) -> Tensor:
        """z with one row per copy."""
        return z.flatten(0, 1) if self.count else z

    def repeated(self, values: Tensor | None) -> Tensor | None:
        """Values [N] that all copies share, one row per copy."""
        return values if values is None or not self.count else values.repeat_interleave(self.count, dim=0)

    def inward(self, actions: Tensor) -> Tensor:
        """Actions of the original picture, [N, ...], in the frame of each copy: [N * copies, ...]."""
        if self._actions is None:
            return actions
        return self._actions.T[actions].movedim(-1, 1).flatten(0, 1)

    def best(self, logits: Tensor) -> Tensor:
        """The likeliest action by the logits of ``mean``."""
        return logits.float().argmax(dim=-1) if self._actions is None else likeliest(logits)

    def mean(self, logits: Tensor) -> Tensor:
        """Logarithms of the mean probabilities [N, ..., 4]; for a single copy the logits, unchanged."""
        if self._actions is None:
            return logits
        logs = F.log_softmax(logits.float(), dim=-1).unflatten(0, (-1, self.count))
        shape = (1, self.count, *(1 for _ in logits.shape[1:-1]), logits.shape[-1])
        own = logs.gather(-1, self._actions.view(shape).expand(logs.shape))  # of the original picture's actions
        return torch.logsumexp(own, dim=1) - math.log(self.count)


def likeliest(means: Tensor) -> Tensor:
    """The first of the likeliest actions, by logarithms of mean probabilities [..., 4]."""
    return (means >= means.amax(-1, keepdim=True) - TIE).int().argmax(-1)
