"""SmolVLM2 as the backbone of a policy: a class that the command names, since no file of a model or a policy may.

    recommit train sft --recipe qwen7b-sliding --data data --out run \
        --backbone HuggingFaceTB/SmolVLM2-500M-Video-Instruct \
        --backbone-class docs/examples/smolvlm_backbone.py:SmolVLM

Copy it for another model of transformers. Its language model has to be built like Llama's; everything else is below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from recommit.policy.backbones.transformer import Normalization, TransformersBackbone, normalize
from recommit.policy.prompt import IMAGE, Markers
from recommit.policy.tensors import to_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: That of the published image processor.
NORMALIZATION = Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


class SmolVLM(TransformersBackbone):
    """A board is one picture without splitting, drawn with one visual token per cell, and not enlarged: 3x3 cells of 64
    pixels are 9 tokens, where the published processor would make 512 x 512 pixels and 64 tokens of them."""

    #: In transformers: the class without a language-model head, and one that takes tokenizer.json as it is.
    model_class = "SmolVLMModel"
    tokenizer_class = "PreTrainedTokenizerFast"
    #: Its configuration leaves open which language model it has.
    config_parts = {"text_config": "LlamaConfig"}
    #: What the published processor writes for a picture, with the token in the middle once per visual token.
    markers = Markers("<fake_token_around_image><global-img>", "<image>", "<fake_token_around_image>")
    lora_targets = TransformersBackbone.lora_targets.replace("language_model", "text_model")

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(model, tokenizer)
        self.token_pixels = int(self.config.vision_config.patch_size) * int(self.config.scale_factor)

    @property
    def language_model(self) -> Any:
        """It has a name of its own here."""
        return self.base.text_model

    def chat(self, said: str) -> str:
        """The published chat template (transformers has it: DEFAULT_CHAT_TEMPLATE of processing_smolvlm.py), which has
        a space only before words."""
        return f"<|im_start|>User:{'' if said.startswith(IMAGE) else ' '}{said}<end_of_utterance>\nAssistant:"

    def vision_modules(self) -> list[nn.Module]:
        """Frozen under LoRA; then their output is cached by state."""
        return [self.base.vision_model, self.base.connector]

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        """float32[N, 3, height, width], as the published processor normalises it."""
        frames = task.render(states, cell=cell or self.token_pixels, theme=theme, crop=crop)
        return normalize(to_device(frames, self.device), NORMALIZATION)

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        """The published encoder and connector; the connector's own shuffle takes square pictures alone."""
        vision, scale, (rows, cols) = self.base.vision_model, self.config.scale_factor, grid
        there = torch.ones(len(pixels), rows * scale, cols * scale, dtype=torch.bool, device=pixels.device)
        embedded = vision.embeddings(pixels.to(next(vision.parameters()).dtype), there)
        seen = vision.post_layernorm(vision.encoder(embedded).last_hidden_state)
        tokens = seen.view(len(pixels), rows, scale, cols, scale, -1).transpose(2, 3).flatten(3).flatten(1, 2)
        return self.base.connector.modality_projection(tokens)

    def processor(self) -> dict[str, Any]:
        """Settings for other programs that read the folder; theirs enlarge the picture to that of the training."""
        return {
            "image_processor_type": "SmolVLMImageProcessor",
            "do_resize": False,
            "do_image_splitting": False,
            "max_image_size": {"longest_edge": int(self.config.vision_config.image_size)},
            "image_mean": list(NORMALIZATION.mean),
            "image_std": list(NORMALIZATION.std),
        }
