"""A model of text alone as the backbone of a policy: it reads a board cell by cell, a letter for each.

    recommit train sft --recipe laptop-sliding --data data --out run \
        --backbone ./llama --backbone-class docs/examples/text_backbone.py:Llama
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from recommit.policy.backbones.transformer import TransformersBackbone
from recommit.policy.prompt import Markers
from recommit.policy.tensors import to_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: A token for each code of a cell, up to the tiles of 5x5: letters are one token each, two digits may not be.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXY"


class Llama(TransformersBackbone):
    """Any model of transformers that is built like Llama, with the name of its class below."""

    model_class = "LlamaModel"
    tokenizer_class = "PreTrainedTokenizerFast"
    #: The token whose place a cell takes: one that the prompts do not have.
    markers = Markers("\n", "<|endoftext|>", "\n")
    lora_targets = r".*layers\.\d+\.(self_attn\.(q|k|v|o)_proj|mlp\.(gate|up|down)_proj)"
    #: Cells have one token each, whatever size pictures are drawn in.
    token_pixels = 28

    @property
    def language_model(self) -> Any:
        """The whole model."""
        return self.base

    def vision_modules(self) -> list[nn.Module]:
        """What makes features."""
        return [self.base.embed_tokens]

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:  # noqa: ARG002
        """Token ids [N, cells]; no picture is drawn."""
        seen = states[:, 1:-1, 1:-1] if crop else states
        ids = torch.tensor(self.tokenizer.convert_tokens_to_ids(list(LETTERS)), device=self.device)
        return ids[to_device(np.ascontiguousarray(seen), self.device).long()].flatten(1)

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:  # noqa: ARG002
        """[N, cells, width]"""
        return self.base.embed_tokens(pixels)

    def processor(self) -> dict[str, Any]:
        """It has none."""
        return {}
