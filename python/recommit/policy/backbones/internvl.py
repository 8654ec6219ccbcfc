"""InternVL3 (the transformers format) as a backbone: a picture is one tile of fixed size, whatever the board.

The published processor enlarges every picture to whole tiles of 448 pixels, bicubic and with a changed aspect ratio.
Here the board is drawn to fit one tile instead, with cells of whole visual tokens, and the rest of the tile is left
dark: the processor then finds nothing to resize or to split.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from recommit.policy.backbones.transformer import Normalization, TransformersBackbone, normalize
from recommit.policy.prompt import Markers
from recommit.policy.tensors import to_device
from recommit.puzzles.frames import MAX_CELL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

NORMALIZATION = Normalization((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


class InternBackbone(TransformersBackbone):
    """See ``Backbone``."""

    model_class = "InternVLModel"
    markers = Markers("<img>", "<IMG_CONTEXT>", "</img>")
    language_models = MappingProxyType({"qwen2": "Qwen2Config", "qwen3": "Qwen3Config"})

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(model, tokenizer)
        vision = self.config.vision_config
        self.side = int(vision.image_size[0])
        self.token_pixels = int(vision.patch_size[0] / self.config.downsample_ratio)
        if self.config.vision_feature_layer != -1 or self.config.vision_feature_select_strategy != "default":
            raise ValueError(
                "backbone: expected an InternVL whose language model reads the last vision layer without its class "
                f"token, got layer {self.config.vision_feature_layer}, {self.config.vision_feature_select_strategy}"
            )

    def cell_pixels(self, rows: int, cols: int, cell: int) -> int:
        """By default as many whole tokens per cell as fit."""
        fits = self.side // (max(rows, cols) * self.token_pixels) * self.token_pixels
        if not fits or cell > fits:
            raise ValueError(
                f"cell: expected at most {fits} pixels, a {rows}x{cols} board on a tile of {self.side}, "
                f"got {cell or self.token_pixels}"
            )
        return cell or min(fits, MAX_CELL // self.token_pixels * self.token_pixels)

    def grid(self, rows: int, cols: int, cell: int) -> tuple[int, int]:
        self.cell_pixels(rows, cols, cell)
        return self.side // self.token_pixels, self.side // self.token_pixels

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        """Tiles [N, 3, side, side], the board at the top left."""
        frames = to_device(self.tiles(task, states, cell=cell, theme=theme, crop=crop), self.device)
        return normalize(frames, NORMALIZATION)

    def tiles(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> NDArray[np.uint8]:
        rows, cols = (size - 2 * crop for size in states.shape[1:])
        frames = task.render(states, cell=self.cell_pixels(rows, cols, cell), theme=theme, crop=crop)
        tiles = np.zeros((len(states), self.side, self.side, 3), np.uint8)
        tiles[:, : frames.shape[1], : frames.shape[2]] = frames
        return tiles

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        base, merge = self.base, round(1 / self.config.downsample_ratio)
        seen = base.vision_tower(pixel_values=pixels).last_hidden_state[:, 1:]
        shuffled = base.pixel_shuffle(seen.unflatten(1, (grid[0] * merge, -1)), scale_factor=1 / merge)
        features: Tensor = base.multi_modal_projector(shuffled.flatten(1, 2))
        return features

    def _positions(self, count: int, start: int, rows: int, cols: int) -> Tensor:  # noqa: ARG002
        """Tokens of a picture count up like text. [1, count]"""
        return torch.arange(count)[None]

    def vision_modules(self) -> list[nn.Module]:
        return [self.base.vision_tower, self.base.multi_modal_projector]

    def processor(self) -> dict[str, Any]:
        return {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": self.side, "width": self.side},
            "crop_to_patches": False,
            "min_patches": 1,
            "max_patches": 12,
            "image_mean": list(NORMALIZATION.mean),
            "image_std": list(NORMALIZATION.std),
        }
