"""From states to visual features, by the cheapest exact way that a backbone allows."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.policy.backbone import Backbone
    from recommit.policy.config import PolicyConfig
    from recommit.puzzles.puzzle import Puzzle


class Vision:
    """Draws states as patches and encodes them: every distinct cell once where features are cell-local, every distinct
    state once where the encoder is frozen, else every state."""

    def __init__(self, backbone: Backbone, config: PolicyConfig, *, cache_bytes: int = 1 << 30) -> None:
        self.backbone = backbone
        self.config = config
        self.cell_local = backbone.cell_local and config.cell == 28
        self._legends: dict[tuple[str, tuple[int, int]], Tensor] = {}
        self._cache: OrderedDict[bytes, Tensor] = OrderedDict()
        self._cache_bytes, self._cached = cache_bytes, 0

    def crops(self, task: Puzzle) -> bool:
        """Does this task's picture leave out the constant outer wall?"""
        return self.config.crop and task.ringed

    def grid(self, task: Puzzle, shape: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of visual tokens for states of ``shape``."""
        ring, tokens = 2 * self.crops(task), self.config.cell // 28
        return (shape[0] - ring) * tokens, (shape[1] - ring) * tokens

    def features(self, task: Puzzle, states: NDArray[np.uint8], *, frozen: bool) -> Tensor:
        """[states, tokens, width]; ``frozen`` says that the encoder gets no gradient and does not change."""
        if self.cell_local:
            return self._gather(task, states)
        if not frozen:
            return self._encode(task, states)
        with torch.no_grad():
            return self._cached_features(task, states)

    def _device(self) -> torch.device:
        return next(self.backbone.model.parameters()).device

    def _pixels(self, task: Puzzle, states: NDArray[np.uint8]) -> Tensor:
        crop = self.crops(task)
        pixels, _ = task.patches(states, cell=self.config.cell, theme=self.config.theme, crop=crop)
        return torch.from_numpy(pixels).to(self._device(), non_blocking=True)

    def _encode(self, task: Puzzle, states: NDArray[np.uint8]) -> Tensor:
        rows, cols = self.grid(task, states.shape[1:])
        return self.backbone.features(self._pixels(task, states), (2 * rows, 2 * cols))

    def _gather(self, task: Puzzle, states: NDArray[np.uint8]) -> Tensor:
        key = task.task, (states.shape[1], states.shape[2])
        if key not in self._legends:
            self._legends[key] = self.legend(task)
        table = self.backbone.features(self._legends[key], (2, 2))[:, 0]
        seen = states[:, 1:-1, 1:-1] if self.crops(task) else states
        codes = torch.from_numpy(np.ascontiguousarray(seen).reshape(len(states), -1)).to(table.device, torch.long)
        return table[codes]

    def legend(self, task: Puzzle) -> Tensor:
        """Patches of one cell per code, taken from states that show them all."""
        states, codes = task.legend()
        pixels, _ = task.patches(states, cell=28, theme=self.config.theme)
        cells = torch.from_numpy(pixels).view(-1, 4, pixels.shape[-1])
        return cells[torch.from_numpy(codes)].flatten(0, 1).to(self._device())

    def _cached_features(self, task: Puzzle, states: NDArray[np.uint8]) -> Tensor:
        head = f"{task.task}{states.shape[1:]}".encode()
        keys = [head + state.tobytes() for state in states]
        missing = list({key: i for i, key in enumerate(keys) if key not in self._cache}.values())
        fresh = (
            dict(zip((keys[i] for i in missing), self._encode(task, states[missing]), strict=True)) if missing else {}
        )
        out = torch.stack([fresh[key] if key in fresh else self._cache[key] for key in keys])
        for key, value in fresh.items():
            self._remember(key, value)
        for key in keys:
            if key in self._cache:
                self._cache.move_to_end(key)
        return out

    def _remember(self, key: bytes, value: Tensor) -> None:
        size = value.numel() * value.element_size()
        if size > self._cache_bytes:
            return
        self._cache[key] = value.clone()
        self._cached += size
        while self._cached > self._cache_bytes:
            _, oldest = self._cache.popitem(last=False)
            self._cached -= oldest.numel() * oldest.element_size()
