"""From states to visual features, by the cheapest exact method that a backbone allows; and the prompt around them.

``Puzzle.patches`` has the core write patches straight from states (``cpp/core/draw/patches.hpp``), bit for bit as the
published image processor would make them. Families that the core does not support cut up a rendered picture. Features
are then looked up in a cache, or encoded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recommit.policy import augmentations
from recommit.policy.config import MAX_REMAINING, PolicyConfig
from recommit.policy.prompt import load_prompt
from recommit.policy.tensors import to_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.policy.backbones.backbone import Backbone, PromptInputs
    from recommit.puzzles.puzzle import Puzzle


def group(states: int) -> int:
    """Batch size of a frozen encoder, 8 to 64, for a run that observes ``states`` at a time. The last batch is padded:
    rounding depends on the number of rows, and cached features must not depend on which others were missing, since a
    resumed run starts with an empty cache."""
    return min(max(8, 1 << states.bit_length() - 1), 64)


class Vision:
    """Draws and encodes states: each distinct cell once where features are cell-local, each distinct state once where
    the encoder is frozen, else every state."""

    def __init__(self, backbone: Backbone, config: PolicyConfig, *, cache_bytes: int = 1 << 30) -> None:
        self.backbone = backbone
        self.config = config
        if config.cell % backbone.token_pixels:
            raise ValueError(
                f"cell: expected a multiple of {backbone.token_pixels} (one visual token of this backbone), "
                f"got {config.cell}"
            )
        backbone.grid(1, 1, config.cell)  # raises if the family cannot draw this size
        self.cell_local = backbone.cell_local and config.cell in (0, backbone.token_pixels)
        self.together = group(1)
        self._legends: dict[tuple[str, tuple[int, int]], Tensor] = {}
        self._cache: OrderedDict[bytes, Tensor] = OrderedDict()
        self._cache_bytes, self._cached = cache_bytes, 0

    def crops(self, task: Puzzle) -> bool:
        """True if this task's picture omits the constant outer wall."""
        return self.config.crop and task.ringed

    def grid(self, task: Puzzle, shape: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of visual tokens for states of ``shape``."""
        return self.backbone.grid(*self.cells(task, shape), self.config.cell)

    def cells(self, task: Puzzle, shape: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of the cells that a picture of states of ``shape`` shows."""
        ring = 2 * self.crops(task)
        return shape[0] - ring, shape[1] - ring

    def augmentations(self, task: Puzzle, shape: tuple[int, int]) -> int:
        """Number of augmented copies of a picture: the ``augmentations`` that keep its shape."""
        if self.config.augmentations > 1 and not task.turns:
            raise ValueError(
                f"augmentations: expected 1 for {task.task}, whose goal does not turn with the picture, "
                f"got {self.config.augmentations}"
            )
        return augmentations.count(self.config.augmentations, *self.cells(task, shape))

    def features(self, task: Puzzle, states: NDArray[np.uint8], *, frozen: bool, copy: int = 0) -> Tensor:
        """[states, tokens, width] of an augmented copy of the pictures; a ``frozen`` encoder's features are cached."""
        if self.cell_local:
            return self._gather(task, states, copy)
        if not frozen:
            return self._encode(task, states, copy)
        with torch.no_grad():
            return self._cached_features(task, states, copy)

    def _encode(self, task: Puzzle, states: NDArray[np.uint8], copy: int = 0) -> Tensor:
        config, shape = self.config, (states.shape[1], states.shape[2])
        pixels = self.backbone.pixels(task, states, cell=config.cell, theme=config.theme, crop=self.crops(task))
        grid = self.grid(task, shape)
        if copy:
            pixels = augmentations.augment_patches(pixels, len(states), self.cells(task, shape), grid, copy)
        features, tokens = self.backbone.features(pixels, grid), grid[0] * grid[1]
        if (got := features.shape[1]) != tokens:
            source = f"{type(self.backbone).__name__}, whose token_pixels is {self.backbone.token_pixels}"
            raise ValueError(f"backbone: expected {tokens} features of a picture from {source}, got {got}")
        return features

    def _gather(self, task: Puzzle, states: NDArray[np.uint8], copy: int) -> Tensor:
        key = task.task, (states.shape[1], states.shape[2])
        if key not in self._legends:
            self._legends[key] = self.legend(task)
        table = self.backbone.features(self._legends[key], (1, 1))[:, 0]
        seen = self._seen(task, states)
        codes = to_device(np.ascontiguousarray(seen).reshape(len(states), -1), table.device)
        cells = table[codes.long()]
        return cells if copy == 0 else cells[:, augmentations.cell_order(*seen.shape[1:], copy).to(cells.device)]

    def _seen(self, task: Puzzle, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return states[:, 1:-1, 1:-1] if self.crops(task) else states

    def kinds(self, task: Puzzle, states: NDArray[np.uint8]) -> Tensor | None:
        """The kind of every cell of the pictures, [N, rows, cols]; None if the depth head reads no world model."""
        config = self.config.world_model
        if config is None or not self.config.head.reads("world-model"):
            return None
        seen, own = self._seen(task, states), (config.task, config.rows, config.cols)
        if own != (task.task, *seen.shape[1:]):
            raise ValueError(f"world_model: expected pictures of {own}, got {(task.task, *seen.shape[1:])}")
        device = next(self.backbone.model.parameters()).device
        return to_device(np.ascontiguousarray(seen), device).long()

    def legend(self, task: Puzzle) -> Tensor:
        """Patches of one cell per code, taken from states that show them all."""
        states, codes = task.legend()
        pixels = self.backbone.pixels(task, states, cell=0, theme=self.config.theme, crop=False)
        cells = pixels.view(-1, 4, pixels.shape[-1])
        return cells[torch.from_numpy(codes)].flatten(0, 1)

    def _cached_features(self, task: Puzzle, states: NDArray[np.uint8], copy: int) -> Tensor:
        head = f"{task.task}{states.shape[1:]}{f' in copy {copy}' if copy else ''}".encode()
        keys = [head + state.tobytes() for state in states]
        missing = {key: i for i, key in enumerate(keys) if key not in self._cache}
        fresh: dict[bytes, Tensor] = {}
        if self._split():  # every rank must run the encoder exactly once
            encoded = self._encode(task, states[list(missing.values()) or [0]], copy)
            fresh = dict(zip(missing, encoded, strict=False))
        for begin in range(0, len(missing) if not fresh else 0, self.together):
            part = list(missing)[begin : begin + self.together]
            encoded = self._encode(task, states[np.resize([missing[key] for key in part], self.together)], copy)
            fresh |= dict(zip(part, encoded, strict=False))
        out = torch.stack([fresh[key] if key in fresh else self._cache[key] for key in keys])
        for key, value in fresh.items():
            self._remember(key, value)
        for key in keys:
            if key in self._cache:
                self._cache.move_to_end(key)
        return out

    def _split(self) -> bool:
        """True if every rank holds a part of the encoder (ZeRO-3): then all ranks must encode together."""
        return any(hasattr(parameter, "ds_id") for parameter in self.backbone.vision_parameters())

    def forget(self) -> None:
        """Empty the cache."""
        self._cache.clear()
        self._cached = 0

    def _remember(self, key: bytes, value: Tensor) -> None:
        size = value.numel() * value.element_size()
        if size > self._cache_bytes:
            return
        self._cache[key] = value.clone()
        self._cached += size
        while self._cached > self._cache_bytes:
            _, oldest = self._cache.popitem(last=False)
            self._cached -= oldest.numel() * oldest.element_size()


class PromptCache:
    """Tokenized prompts by task, picture size and, with ``show_budget``, number of remaining decisions."""

    def __init__(self, backbone: Backbone, vision: Vision, config: PolicyConfig) -> None:
        self.backbone, self.vision, self.config = backbone, vision, config
        self._geometries: dict[tuple[str, int, int, int], PromptInputs] = {}

    def of(self, task: Puzzle, shape: tuple[int, int], remaining: int = 0) -> PromptInputs:
        """Prompt of states of ``shape`` with ``remaining`` decisions."""
        rows, cols = self.vision.grid(task, shape)
        key = (task.task, rows, cols, remaining if self.config.show_budget else 0)
        if key not in self._geometries:
            prompt = load_prompt(self.config.prompts[self.config.task_index(task.task)])
            wording = prompt.with_remaining(remaining) if self.config.show_budget else prompt
            self._geometries[key] = self.backbone.tokenize_prompt(wording, rows, cols)
        return self._geometries[key]

    def of_each(self, task: Puzzle, shape: tuple[int, int], remaining: NDArray[np.integer] | None) -> PromptInputs:
        """Prompts that differ in the number of ``remaining`` decisions, and in no other token."""
        if not self.config.show_budget:
            return self.of(task, shape)
        if remaining is None or not len(remaining) or not (remaining.min() >= 1 and remaining.max() <= MAX_REMAINING):
            raise ValueError(
                f"remaining: expected a count for each state, 1..{MAX_REMAINING}, as show_budget says, got {remaining}"
            )
        numbers, which = np.unique(remaining, return_inverse=True)
        every = [self.of(task, shape, int(number)) for number in numbers]
        if len({len(each.tokens) for each in every}) > 1:
            raise ValueError(
                "show_budget: expected a tokenizer to which numbers of two digits are equally long, got another"
            )
        rows = to_device(which.astype(np.int64), every[0].tokens.device)
        return replace(every[0], tokens=torch.stack([each.tokens for each in every])[rows])


@torch.no_grad()
def check_backbone(backbone: Backbone, task: Puzzle) -> None:
    """Check a caller's backbone class, loaded in float32: one feature per visual token, z independent of the rest of
    the batch, and z dependent on the first and last pixel of a picture."""
    vision = Vision(backbone, config := PolicyConfig(lora=None, tasks=(task.task,), prompts=("sliding-v2",)))
    states, geometry = task.generate(2, seed=0).states, PromptCache(backbone, vision, config).of(task, task.shape)
    parts = (states, states[:1], states[1:])
    z, *alone = (backbone.z(vision.features(task, part, frozen=False), geometry) for part in parts)
    if not (far := float((z - torch.cat(alone)).abs().max() / z.abs().max())) <= 1e-4:  # or NaN
        raise ValueError(f"backbone: expected the same z alone and in a batch, got {far:.1g} of it apart")
    wrong = backbone.pixels(task, states, cell=0, theme=config.theme, crop=vision.crops(task)).contiguous().clone()
    wrong.view(-1)[[0, -1]] += 1
    if bool((backbone.z(backbone.features(wrong, vision.grid(task, task.shape)), geometry) == z).all(dim=1).any()):
        raise ValueError("backbone: expected another z for a picture with a wrong pixel, got the same")
