"""Batches for torch. The only file of this package that knows torch."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch

from recommit.data import samples
from recommit.data.loading import Feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows


@dataclass(frozen=True)
class Batch:
    """One batch, by state. ``pixel_values`` and ``image_grid_thw`` are there if the loader was asked for pixels."""

    rows: LabelledRows
    states: torch.Tensor  #: uint8[N, rows, columns]
    actions: torch.Tensor  #: int64[N, 8], 0 where ``weights`` is 0
    weights: torch.Tensor  #: float32[N, 8]: in how many samples of the row a position has a target
    pixel_values: torch.Tensor | None = None
    image_grid_thw: torch.Tensor | None = None


class Loader:
    """Hands out the batches of a Feed as tensors, made ahead by one background thread.

    The thread reads, gathers and (with ``pixels``) draws patches while the trainer computes; the core releases the
    GIL, so no processes, no copies between them, and no pickling. ``state_dict`` says where the *consumer* is, not how
    far the thread has run ahead. With ``reuse`` pixels are drawn into a few buffers in turn, which is several times
    faster than into fresh memory: a batch's pixels are then good until the next batch is taken.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch: int,
        *,
        pixels: bool = False,
        cell: int = 28,
        dtype: Literal["float32", "bfloat16"] = "float32",
        reuse: bool = False,
        ahead: int = 2,
        threads: int = 1,
        **feed: Any,
    ) -> None:
        if ahead < 1:
            raise ValueError(f"ahead: expected at least 1, got {ahead}")
        self.feed = Feed(dataset, batch, **feed)
        self.puzzle = dataset.puzzle
        self.pixels, self.cell, self.dtype, self.ahead, self.threads = pixels, cell, dtype, ahead, threads
        self.position = 0
        # One that the consumer has, and those that are being made.
        self._buffers: list[Any] | None = [None] * (ahead + 1) if reuse else None
        self._next = 0

    def __iter__(self) -> Iterator[Batch]:
        self.feed.position = self.position
        pool = ThreadPoolExecutor(1)
        try:
            made = deque(pool.submit(self._make_next) for _ in range(self.ahead))
            while (item := made.popleft().result()) is not None:
                batch, self.position = item
                made.append(pool.submit(self._make_next))
                yield batch
        finally:
            pool.shutdown(cancel_futures=True)

    def _make_next(self) -> tuple[Batch, int] | None:
        content = next(self.feed, None)
        return None if content is None else (self.make(content), self.feed.position)

    def make(self, content: LabelledRows) -> Batch:
        """The tensors of some rows."""
        weights = torch.from_numpy(samples.position_weights(content.distance))
        actions = torch.from_numpy(content.actions).to(torch.int64)
        batch = content, torch.from_numpy(content.states), actions * (weights > 0), weights.to(torch.float32)
        if not self.pixels:
            return Batch(*batch)
        values, grid = self._patches(content)
        tensor = torch.from_numpy(values)
        return Batch(
            *batch, tensor.view(torch.bfloat16) if self.dtype == "bfloat16" else tensor, torch.from_numpy(grid)
        )

    def _patches(self, content: LabelledRows) -> tuple[Any, Any]:
        slot = self._next
        out = self._buffers[slot] if self._buffers else None
        values, grid = self.puzzle.patches(
            content.states, cell=self.cell, dtype=self.dtype, out=out, threads=self.threads
        )
        if self._buffers:
            self._buffers[slot] = values
            self._next = (slot + 1) % len(self._buffers)
        return values, grid

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer is; plain values."""
        return {**self.feed.state_dict(), "position": self.position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with the exact next row. Takes effect at the next ``iter``."""
        self.feed.load_state_dict(state)
        self.position = self.feed.position
