"""What a backbone must offer, and how one is loaded and gets LoRA adapters.

A backbone sees pictures of one size at a time, so everything but the pixels is constant and computed once: that is a
``PromptInputs``. To support another family, write one class with the members of ``Backbone`` and add it to ``FAMILIES``
(docs/guides/backbones.md shows one); ``TransformersBackbone`` is most of it for models of the transformers library.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recommit.storage import files, hub, verified

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from recommit.policy.prompt import PicturePrompt
    from recommit.puzzles.puzzle import Puzzle

#: model_type of config.json -> the class that adapts it.
FAMILIES = {
    "qwen2_5_vl": "recommit.policy.backbones.qwen:QwenBackbone",
    "qwen3_vl": "recommit.policy.backbones.qwen:Qwen3Backbone",
    "internvl": "recommit.policy.backbones.internvl:InternBackbone",
}


@dataclass(frozen=True)
class PromptInputs:
    """The constant part of a forward pass for pictures of one size under one prompt."""

    #: Grid of merged visual tokens.
    rows: int
    cols: int
    #: Token ids of the whole sequence, placeholders included: [n], or [pictures, n] where they differ.
    tokens: Tensor
    #: Positions for the rotary embedding: [3, 1, n], or [1, n] where they only count.
    positions: Tensor
    #: Where the visual tokens go: image_start .. image_start + rows * cols.
    image_start: int


class Backbone(Protocol):
    """A vision-language model reduced to what a policy needs."""

    #: Width of z.
    width: int
    #: Side of a visual token in pixels; a drawn cell is a multiple of it wide.
    token_pixels: int
    #: The language model's projections that LoRA adapts, as a regular expression over module names.
    lora_targets: str
    #: True if a cell's features depend on that cell alone, so that a board is a gather from a few of them. Only where
    #: ``pixels`` are the core's patches.
    cell_local: bool
    model: nn.Module
    #: Keep no activations inside layers; compute them again on the way back.
    recompute: bool

    def grid(self, rows: int, cols: int, cell: int) -> tuple[int, int]:
        """Rows and columns of visual tokens of a board with cells of ``cell`` pixels; 0: as the family likes."""

    def cell_pixels(self, rows: int, cols: int, cell: int) -> int:
        """How wide a cell of a board of rows x cols is drawn; asked of families whose ``pixels`` are whole tiles."""

    def tokenize_prompt(self, prompt: PicturePrompt, rows: int, cols: int) -> PromptInputs:
        """Everything constant for pictures of rows x cols visual tokens."""

    def pixels(self, task: Puzzle, states: NDArray[np.uint8], *, cell: int, theme: str, crop: bool) -> Tensor:
        """States drawn and prepared for ``features``, on the model's device."""

    def features(self, pixels: Tensor, grid: tuple[int, int]) -> Tensor:
        """Visual features [pictures, tokens, any width] of pictures of one ``grid`` (rows, columns of tokens)."""

    def z(self, features: Tensor, geometry: PromptInputs) -> Tensor:
        """Final hidden state at the last token of the prompt, [pictures, width]."""

    def vision_parameters(self) -> Iterator[nn.Parameter]:
        """Parameters of the picture encoder."""

    def frozen_state(self) -> dict[str, Tensor]:
        """The weights under any adapter, by their published names."""

    def save(self, folder: Path) -> None:
        """Write the whole model in its published format, with what ``save_processor`` writes."""

    def save_processor(self, folder: Path) -> None:
        """Write tokenizer and image processor."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers quiet: no progress bars, which mean nothing for small folders, no table of absent tensors."""
    from transformers.utils import logging

    was, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if was:
            logging.enable_progress_bar()


def load_backbone(path: str | Path, **options: Any) -> Backbone:
    """The backbone of a local folder or hub repository, by the model type of its configuration.

    ``dtype`` and ``device`` say what its weights become while they are read.
    """
    folder = Path(path)
    if folder.is_dir():
        files.refuse_pipes(folder)
        verified.verify(folder)
        model_type = verified.values(folder, "config.json").get("model_type")
    else:
        model_type = _type_on_hub(path)
    if model_type not in FAMILIES:
        raise ValueError(f"backbone: expected a model type of {', '.join(FAMILIES)}, got {model_type} in {path}")
    backbone: Backbone = family(model_type).from_pretrained(path, **options)
    return backbone


def _type_on_hub(name: str | Path) -> str:
    """The model type of a repository; a name that can be none is not looked up."""
    if not hub.is_repository(name):
        raise ValueError(f"backbone: expected a folder, or OWNER/NAME on a hub, got {name}")
    from transformers import AutoConfig

    try:
        return str(AutoConfig.from_pretrained(str(name)).model_type)
    except OSError as error:
        raise hub.unreachable("backbone", name, error) from error


def family(model_type: str) -> Any:
    """The class of a family."""
    module, _, name = FAMILIES[model_type].partition(":")
    return getattr(import_module(module), name)
