"""Qwen2.5-VL and Qwen3-VL, with pictures as a batch axis of the vision encoder instead of a loop over windows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy.backbones import transformer
from recommit.policy.backbones.transformer import (
    Normalization,
    TransformersBackbone,
    normalize,
    normed,
    patches,
    rotate,
    signed,
)
from recommit.policy.prompt import Markers
from recommit.policy.tensors import to_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: Normalisation of Qwen3-VL's image processor; the smallest picture is one token here, since small boards must not be
#: enlarged.
NORMALIZATION = Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


class VisionPass:
    """The constant part of the vision encoder for one picture size: rotary angles and window masks.

    Tokens keep the order of the patches; windows are a block mask instead of a permutation and a loop.
    """

    def __init__(self, visual: Any, grid: tuple[int, int], device: torch.device) -> None:
        config = visual.config
        (rows, cols), merge = grid, int(config.spatial_merge_size)
        row = torch.arange(rows).view(rows, 1, 1, 1) * merge + torch.arange(merge).view(1, 1, merge, 1)
        col = torch.arange(cols).view(1, cols, 1, 1) * merge + torch.arange(merge).view(1, 1, 1, merge)
        shape = (rows, cols, merge, merge)
        row, col = row.expand(shape).reshape(-1), col.expand(shape).reshape(-1)
        head = config.hidden_size // config.num_heads
        theta = (getattr(config, "rope_parameters", None) or {}).get("rope_theta", 10000.0)
        frequencies = 1.0 / theta ** (torch.arange(0, head // 2, 2, dtype=torch.float) / (head // 2))
        angles = torch.cat([row[:, None] * frequencies, col[:, None] * frequencies], dim=-1)
        angles = torch.cat([angles, angles], dim=-1)
        self.cos, self.sin = angles.cos().to(device), signed(angles.sin()).to(device)
        self.patches, self.merge_unit = len(row), merge * merge
        self.masks = self._masks(config, row, col, cols * merge, device)

    def _masks(self, config: Any, row: Tensor, col: Tensor, width: int, device: torch.device) -> list[Tensor | None]:
        """Attention masks between patches by layer; None: full attention."""
        side = config.window_size // config.patch_size
        window = (row // side) * math.ceil(width / side) + col // side
        mask = (window[:, None] == window[None]).to(device)
        return [None if layer in config.fullatt_block_indexes else mask for layer in range(config.depth)]

    def run(self, visual: Any, pixels: Tensor) -> Tensor:
        """[pictures * patches, values] -> [pictures, merged tokens, width of the language model, once per level]."""
        x = self._embed(visual, pixels)
        taps, deeper = self._taps(visual), []
        for layer, (block, mask) in enumerate(zip(visual.blocks, self.masks, strict=True)):
            x = x + self._attend(block.attn, normed(block.norm1, x), mask)
            x = x + block.mlp(normed(block.norm2, x))
            if layer in taps:
                deeper.append(taps[layer](x.flatten(0, 1)))
        merged = torch.cat([visual.merger(x.flatten(0, 1)), *deeper], dim=-1)
        return merged.view(len(x), self.patches // self.merge_unit, -1)

    def _embed(self, visual: Any, pixels: Tensor) -> Tensor:
        project = visual.patch_embed.proj
        if hasattr(project.weight, "ds_id"):  # sharded over ranks: gathered in the module's forward hook only
            x = visual.patch_embed(pixels)
        else:  # the same convolution as one matrix product
            x = F.linear(pixels.to(project.weight.dtype), project.weight.flatten(1), project.bias)
        return x.view(-1, self.patches, visual.config.hidden_size)

    def _taps(self, visual: Any) -> dict[int, nn.Module]:  # noqa: ARG002
        """Modules that read features of inner layers, by layer index."""
        return {}

    def _attend(self, attention: Any, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, patches, width = x.shape
        qkv = attention.qkv(x).view(batch, patches, 3, attention.num_heads, -1)
        rotated, v = qkv.permute(2, 0, 3, 1, 4).split([2, 1])
        q, k = rotate(rotated.float(), self.cos, self.sin).to(v.dtype)
        attended = F.scaled_dot_product_attention(q, k, v[0], attn_mask=mask)
        return attention.proj(attended.transpose(1, 2).reshape(batch, patches, width))


class DeepVisionPass(VisionPass):
    """Learned positions interpolated from the square grid of pretraining, no windows, and taps."""

    def __init__(self, visual: Any, grid: tuple[int, int], device: torch.device) -> None:
        super().__init__(visual, grid, device)
        side, merge = int(visual.config.num_position_embeddings**0.5), int(visual.config.spatial_merge_size)
        places = [_between(count * merge, side) for count in grid]
        (low_y, high_y, share_y), (low_x, high_x, share_x) = places
        places_of = [(y, x) for y in (low_y, high_y) for x in (low_x, high_x)]
        shares_of = [(y, x) for y in (1 - share_y, share_y) for x in (1 - share_x, share_x)]
        near = torch.stack([y[:, None] * side + x for y, x in places_of], dim=-1)
        share = torch.stack([y[:, None] * x for y, x in shares_of], dim=-1)
        self.near, self.share = (_by_token(t, merge).to(device) for t in (near, share))

    def _masks(self, config: Any, *_: Any) -> list[Tensor | None]:
        return [None] * int(config.depth)

    def _embed(self, visual: Any, pixels: Tensor) -> Tensor:
        x = super()._embed(visual, pixels)
        positions = (visual.pos_embed(self.near) * self.share[..., None]).sum(dim=1)
        return x + positions.to(x.dtype)

    def _taps(self, visual: Any) -> dict[int, nn.Module]:
        return dict(zip(visual.deepstack_visual_indexes, visual.deepstack_merger_list, strict=True))


class QwenBackbone(TransformersBackbone):
    """See ``Backbone``."""

    model_class = "Qwen2_5_VLModel"
    vision_pass: type[VisionPass] = VisionPass
    markers = Markers("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(model, tokenizer)
        vision = self.config.vision_config
        self.token_pixels = int(vision.spatial_merge_size) * int(vision.patch_size)
        self._passes: dict[tuple[int, int], VisionPass] = {}
        self.cell_local = self._is_cell_local(vision)

    def _is_cell_local(self, vision: Any) -> bool:
        everywhere = any(layer < vision.depth for layer in vision.fullatt_block_indexes)
        return bool(vision.window_size == self.token_pixels and not everywhere)

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        values, _ = task.patches(states, cell=cell or self.token_pixels, theme=theme, crop=crop)
        return to_device(values, self.device)

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        visual = self.base.visual
        if grid not in self._passes:
            self._passes[grid] = self.vision_pass(visual, grid, pixels.device)
        return transformer.region(VisionPass.run, self.compiled)(self._passes[grid], visual, pixels)

    def positions(self, count: int, start: int, rows: int, cols: int) -> Tensor:
        """By the multimodal rule: text counts up in all three axes, the picture's tokens
        carry (start, start + row, start + column), and text goes on after the larger side. [3, 1, count]"""
        positions = torch.empty(3, count, dtype=torch.long)
        positions[:, :start] = torch.arange(start)
        cell = torch.arange(rows * cols)
        positions[:, start : start + rows * cols] = start + torch.stack([cell * 0, cell // cols, cell % cols])
        rest = count - start - rows * cols
        positions[:, count - rest :] = start + max(rows, cols) + torch.arange(rest)
        return positions[:, None]

    def vision_modules(self) -> list[nn.Module]:
        return [self.base.visual]

    def processor(self) -> dict[str, Any]:
        vision = self.config.vision_config
        return {
            "image_processor_type": "Qwen2VLImageProcessor",
            "min_pixels": 3136,
            "max_pixels": 12845056,
            "patch_size": int(vision.patch_size),
            "temporal_patch_size": int(vision.temporal_patch_size),
            "merge_size": int(vision.spatial_merge_size),
        }


class Qwen3Backbone(QwenBackbone):
    """Qwen3-VL: patches of 16 pixels, learned positions, and features of inner vision layers that are added to the
    first layers of the language model; they are concatenated to the features, one width per level."""

    model_class = "Qwen3VLModel"
    vision_pass = DeepVisionPass

    def _is_cell_local(self, vision: Any) -> bool:  # noqa: ARG002
        return False

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        vision = self.config.vision_config
        frames = task.render(states, cell=cell or self.token_pixels, theme=theme, crop=crop)
        normal = normalize(to_device(frames, self.device), NORMALIZATION)
        return patches(normal, vision.patch_size, vision.spatial_merge_size, vision.temporal_patch_size)

    def processor(self) -> dict[str, Any]:
        sides = {"shortest_edge": self.token_pixels**2, "longest_edge": 16777216}
        rest = {name: value for name, value in super().processor().items() if not name.endswith("_pixels")}
        return {**rest, "size": sides, "image_mean": list(NORMALIZATION.mean), "image_std": list(NORMALIZATION.std)}


def _between(count: int, side: int) -> tuple[Tensor, Tensor, Tensor]:
    """``count`` points spread evenly over a row of ``side``: both neighbours of each, and the upper one's weight."""
    place = torch.arange(count) * ((side - 1) / max(count - 1, 1))
    low = place.floor().long()
    return low, (low + 1).clamp(max=side - 1), place - low


def _by_token(grid: Tensor, merge: int) -> Tensor:
    """Reorder [height, width, ...] into the order of the patches, token by token."""
    height, width, *rest = grid.shape
    return grid.view(height // merge, merge, width // merge, merge, *rest).transpose(1, 2).flatten(0, 3)
