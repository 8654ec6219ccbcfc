"""The eight ways of turning a square picture cell by cell: where its cells go, and what becomes of the actions.

Only cells of the picture change places: what is drawn in a cell stays upright, as it is in the picture of a state that
is really turned. So a policy can turn what it sees, and needs no state for it. The first view is the picture as it is,
the first two mirror columns, the first four rows and columns, and the others (of square pictures alone) are these four
transposed: every prefix of 1, 2, 4 and 8 views is a group.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

#: Row and column steps of up, down, left, right.
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def transposed(view: int) -> bool:
    """Does a view change rows with columns?"""
    return view >= 4


@lru_cache(maxsize=64)
def order(rows: int, cols: int, view: int) -> Tensor:
    """Which cell of the picture stands at each place of the view, counted row by row."""
    cells = torch.arange(rows * cols).view(rows, cols)
    if transposed(view):
        if rows != cols:
            raise ValueError(f"view: expected one of the first 4 of a picture of {rows}x{cols} cells, got {view}")
        cells = cells.T
    turned = cells.flip(*(axis for axis in (0, 1) if view >> (1 - axis) & 1)) if view % 4 else cells
    return turned.flatten()


def action_in(view: int, action: int) -> int:
    """What an action of the picture as it is looks like in a view."""
    row, col = STEPS[action]
    if transposed(view):
        row, col = col, row
    return STEPS.index((-row if view & 2 else row, -col if view & 1 else col))


@lru_cache(maxsize=8)
def actions(views: int) -> Tensor:
    """``action_in`` of the first so many views: [views, 4]."""
    return torch.tensor([[action_in(view, action) for action in range(len(STEPS))] for view in range(views)])


def possible(views: int, rows: int, cols: int) -> int:
    """How many of the views keep the shape of a picture of so many cells."""
    return views if rows == cols else min(views, 4)


def turned_patches(pixels: Tensor, pictures: int, cells: tuple[int, int], grid: tuple[int, int], view: int) -> Tensor:
    """Pictures that a backbone has prepared, in a view: patches token by token of a ``grid``."""
    (rows, cols), high, wide = cells, grid[0] // cells[0], grid[1] // cells[1]
    if (rows * high, cols * wide) != grid or pixels.ndim != 2:
        raise ValueError(f"views: expected patches of {rows}x{cols} cells of whole tokens, got a grid of {grid}")
    return _moved(pixels.view(pictures, rows, high, cols, wide, -1), 1, view).reshape(pixels.shape)


def turned_tiles(pixels: Tensor, cells: tuple[int, int], side: int, view: int) -> Tensor:
    """Tiles [N, channels, height, width] in a view; the board is at the top left, with cells of ``side`` pixels."""
    (rows, cols), result = cells, pixels.clone()
    board = pixels[:, :, : rows * side, : cols * side]
    moved = _moved(board.unflatten(3, (cols, side)).unflatten(2, (rows, side)), 2, view)
    result[:, :, : rows * side, : cols * side] = moved.reshape(board.shape)
    return result


def _moved(blocks: Tensor, axis: int, view: int) -> Tensor:
    """[..., rows, high, columns, wide, ...], from ``axis`` on, with other cells at every place."""
    rows, cols = blocks.shape[axis], blocks.shape[axis + 2]
    cells = blocks.transpose(axis + 1, axis + 2).flatten(axis, axis + 1)
    chosen = cells.index_select(axis, order(rows, cols, view).to(blocks.device))
    return chosen.unflatten(axis, (rows, cols)).transpose(axis + 1, axis + 2)
