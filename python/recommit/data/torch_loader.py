"""Batches for torch. The only file of this package that knows torch."""

from __future__ import annotations

import queue
import threading
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
        self.feed = Feed(dataset, batch, **feed)
        self.puzzle = dataset.puzzle
        self.pixels, self.cell, self.dtype, self.ahead, self.threads = pixels, cell, dtype, ahead, threads
        self.position = 0
        # One that the consumer has, one that the thread fills, and those in between.
        self._buffers: list[Any] | None = [None] * (ahead + 2) if reuse else None
        self._next = 0

    def __iter__(self) -> Iterator[Batch]:
        self.feed.position = self.position
        if not self.ahead:
            for content in self.feed:
                self.position = self.feed.position
                yield self.make(content)
            return
        yield from self._ahead()

    def _ahead(self) -> Iterator[Batch]:
        ready: queue.Queue[Any] = queue.Queue(self.ahead)
        stop = threading.Event()
        thread = threading.Thread(target=self._run, args=(ready, stop), daemon=True)
        thread.start()
        try:
            while (item := ready.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                batch, self.position = item
                yield batch
        finally:
            stop.set()
            while thread.is_alive():
                _drain(ready)
                thread.join(0.01)

    def _run(self, ready: queue.Queue[Any], stop: threading.Event) -> None:
        try:
            for content in self.feed:
                ready.put((self.make(content), self.feed.position))
                if stop.is_set():
                    return
            ready.put(None)
        except BaseException as error:  # noqa: BLE001  (raised again where the batches are taken)
            ready.put(error)

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


def _drain(ready: queue.Queue[Any]) -> None:
    try:
        while True:
            ready.get_nowait()
    except queue.Empty:
        return
