"""Qwen2.5-VL as a backbone: the transformers modules, driven for many pictures of one size at once.

Three things differ from calling the stock model, none of them in the result: pictures are a batch axis of the vision
encoder instead of a loop over windows, positions and masks are computed once per picture size, and the last decoder
layer computes only the position that is read.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from recommit.policy.backbone import Geometry, quiet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recommit.policy.prompt import Prompt


class QwenBackbone(nn.Module):
    """See ``Backbone``. ``model`` may be wrapped by PEFT; the modules are looked up through ``base``."""

    lora_targets = r".*language_model\.layers\.\d+\.(self_attn\.(q|k|v|o)_proj|mlp\.(gate|up|down)_proj)"

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.model = model
        self.tokenizer: Any = tokenizer
        self.config: Any = model.config
        self.width = int(self.config.text_config.hidden_size)
        vision = self.config.vision_config
        self.merge = int(vision.spatial_merge_size)
        token_pixels = self.merge * int(vision.patch_size)
        self.cell_local = vision.window_size == token_pixels and not any(
            layer < vision.depth for layer in vision.fullatt_block_indexes
        )
        self._plans: dict[tuple[int, int], VisionPlan] = {}
        self.recompute = False

    @classmethod
    def from_pretrained(cls, path: str | Path, *, dtype: torch.dtype | None = None, **options: Any) -> QwenBackbone:
        """Load from a local folder or the hub; a checkpoint with a language-model head loads too, without it."""
        from transformers import AutoTokenizer, Qwen2_5_VLModel

        with quiet():
            model = Qwen2_5_VLModel.from_pretrained(path, dtype=dtype or torch.float32, **options)
        return cls(model, AutoTokenizer.from_pretrained(path))

    @property
    def base(self) -> Any:
        """The transformers model under any PEFT wrapper."""
        model: Any = self.model
        return model.get_base_model() if hasattr(model, "get_base_model") else model

    def geometry(self, prompt: Prompt, rows: int, cols: int) -> Geometry:
        """Token ids by the tokenizer; positions by the multimodal rotary rule: text counts up in all three axes, the
        picture's tokens carry (start, start + row, start + column), and text goes on after the larger side."""
        tokens = self.tokenizer(prompt.expand(rows * cols), add_special_tokens=False)["input_ids"]
        pad = self.config.image_token_id
        if tokens.count(pad) != rows * cols:
            raise ValueError(f"prompts: expected {rows * cols} image tokens in {prompt.name}, got {tokens.count(pad)}")
        start, length = tokens.index(pad), len(tokens)
        positions = torch.empty(3, length, dtype=torch.long)
        positions[:, :start] = torch.arange(start)
        cell = torch.arange(rows * cols)
        positions[:, start : start + rows * cols] = start + torch.stack([cell * 0, cell // cols, cell % cols])
        rest = length - start - rows * cols
        positions[:, length - rest :] = start + max(rows, cols) + torch.arange(rest)
        device = next(self.base.parameters()).device
        return Geometry(rows, cols, torch.tensor(tokens, device=device), positions[:, None].to(device), start)

    def features(self, pixel_values: Tensor, grid: tuple[int, int]) -> Tensor:
        """See ``Backbone.features``."""
        visual = self.base.visual
        if grid not in self._plans:
            self._plans[grid] = VisionPlan(visual, grid, self.merge, pixel_values.device)
        return self._plans[grid].run(visual, pixel_values)

    def z(self, features: Tensor, geometry: Geometry) -> Tensor:
        """See ``Backbone.z``."""
        language = self.base.language_model
        embedded = language.embed_tokens(geometry.tokens)
        batch, start, end = len(features), geometry.image_start, geometry.image_start + features.shape[1]
        x = torch.cat(
            [
                embedded[:start].expand(batch, -1, -1),
                features.to(embedded.dtype),
                embedded[end:].expand(batch, -1, -1),
            ],
            dim=1,
        )
        angles = language.rotary_emb(x, geometry.positions)
        *layers, last = language.layers
        for layer in layers:
            run = partial(layer, attention_mask=None, position_embeddings=angles)
            out = checkpoint(run, x, use_reentrant=False) if self.recompute and torch.is_grad_enabled() else run(x)
            x = out[0] if isinstance(out, tuple) else out
        return language.norm(last_position(last, x, angles))

    def vision_parameters(self) -> Iterator[nn.Parameter]:
        """See ``Backbone.vision_parameters``."""
        parameters: Iterator[nn.Parameter] = self.base.visual.parameters()
        return parameters

    def frozen_state(self) -> dict[str, Tensor]:
        """See ``Backbone.frozen_state``."""
        names = {name.replace(".base_layer", ""): tensor for name, tensor in self.base.state_dict().items()}
        return {name: tensor for name, tensor in names.items() if ".lora_" not in name}

    def save(self, folder: Path) -> None:
        """See ``Backbone.save``."""
        with quiet():
            self.base.save_pretrained(folder)
        self.save_processor(folder)

    def save_processor(self, folder: Path) -> None:
        """See ``Backbone.save_processor``."""
        self.tokenizer.save_pretrained(folder)
        vision = self.config.vision_config
        processor = {
            "image_processor_type": "Qwen2VLImageProcessor",
            "min_pixels": 3136,
            "max_pixels": 12845056,
            "patch_size": int(vision.patch_size),
            "temporal_patch_size": int(vision.temporal_patch_size),
            "merge_size": self.merge,
        }
        (folder / "preprocessor_config.json").write_text(json.dumps(processor, indent=2) + "\n", encoding="utf-8")


def last_position(layer: Any, x: Tensor, angles: tuple[Tensor, Tensor]) -> Tensor:
    """A decoder layer's output at the last position alone: keys and values of all positions, one query. [batch, width]"""
    attention = layer.self_attn
    normed = layer.input_layernorm(x)
    batch, head = len(x), attention.head_dim

    def split(projected: Tensor) -> Tensor:
        return projected.view(batch, projected.shape[1], -1, head).transpose(1, 2)

    q = split(attention.q_proj(normed[:, -1:]))
    k, v = split(attention.k_proj(normed)), split(attention.v_proj(normed))
    cos, sin = (angle[:, None] for angle in angles)
    q, k = rotate(q, cos[:, :, -1:], sin[:, :, -1:]), rotate(k, cos, sin)
    attended = F.scaled_dot_product_attention(q, k, v, scale=attention.scaling, enable_gqa=q.shape[1] != k.shape[1])
    out = x[:, -1] + attention.o_proj(attended.transpose(1, 2).reshape(batch, -1))
    return out + layer.mlp(layer.post_attention_layernorm(out))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding in the two-halves convention."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class VisionPlan:
    """The constant part of the vision encoder for one picture size: rotary angles and window masks.

    Tokens keep the order of the patches; windows are a block mask instead of a permutation and a loop.
    """

    def __init__(self, visual: Any, grid: tuple[int, int], merge: int, device: torch.device) -> None:
        config = visual.config
        height, width = grid
        rows, cols = height // merge, width // merge
        row = torch.arange(rows).view(rows, 1, 1, 1) * merge + torch.arange(merge).view(1, 1, merge, 1)
        col = torch.arange(cols).view(1, cols, 1, 1) * merge + torch.arange(merge).view(1, 1, 1, merge)
        shape = (rows, cols, merge, merge)
        row, col = row.expand(shape).reshape(-1), col.expand(shape).reshape(-1)
        head = config.hidden_size // config.num_heads
        theta = (getattr(config, "rope_parameters", None) or {}).get("rope_theta", 10000.0)
        frequencies = 1.0 / theta ** (torch.arange(0, head // 2, 2, dtype=torch.float) / (head // 2))
        angles = torch.cat([row[:, None] * frequencies, col[:, None] * frequencies], dim=-1)
        angles = torch.cat([angles, angles], dim=-1)
        self.cos, self.sin = angles.cos().to(device), angles.sin().to(device)
        side = config.window_size // config.patch_size
        window = (row // side) * math.ceil(width / side) + col // side
        self.mask = (window[:, None] == window[None]).to(device)
        self.full = {int(layer) for layer in config.fullatt_block_indexes}
        self.merge_unit = merge * merge

    def run(self, visual: Any, pixel_values: Tensor) -> Tensor:
        """[pictures * patches, 1176] -> [pictures, merged tokens, width of the language model]."""
        patches = len(self.mask)
        weight = visual.patch_embed.proj.weight
        if hasattr(weight, "ds_id"):  # split over ranks: gathered at the module's own entrance only
            x = visual.patch_embed(pixel_values).view(-1, patches, visual.config.hidden_size)
        else:  # the same sums as one matrix product
            x = F.linear(pixel_values.to(weight.dtype), weight.flatten(1)).view(-1, patches, len(weight))
        for i, block in enumerate(visual.blocks):
            x = x + self._attend(block.attn, block.norm1(x), None if i in self.full else self.mask)
            x = x + block.mlp(block.norm2(x))
        merged: Tensor = visual.merger(x.flatten(0, 1))
        return merged.view(-1, patches // self.merge_unit, merged.shape[-1])

    def _attend(self, attention: Any, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, patches, width = x.shape
        qkv = attention.qkv(x).view(batch, patches, 3, attention.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q = rotate(q.float(), self.cos, self.sin).to(v.dtype)
        k = rotate(k.float(), self.cos, self.sin).to(v.dtype)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        out: Tensor = attention.proj(attended.transpose(1, 2).reshape(batch, patches, width))
        return out
