"""The protocol of a backbone, and how one is found and loaded.

A backbone sees pictures of one size at a time, so everything but the pixels is constant and computed once: that is a
``PromptInputs``. To support another family, write one class with the members of ``Backbone`` and add it to ``FAMILIES``
(docs/guides/backbones.md shows one); ``TransformersBackbone`` is most of it for models of the transformers library.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recommit.policy.backbones import resident
from recommit.storage import files, verified
from recommit.storage.recipe_text import brief
from recommit.storage.terminal_text import say

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
    "recommit_conv": "recommit.policy.backbones.conv:ConvBackbone",
}

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
#: A commit, tag or branch; a hub's client makes a path of it.
_REVISION = re.compile(r"(\w[\w.-]*(/\w[\w.-]*)*)?", re.ASCII)
#: Published backbones that a file may name, and the commit of each that is read; empty: the newest, see
#: docs/security.md.
LISTED = dict.fromkeys(
    (
        "Qwen/Qwen2.5-VL-3B-Instruct",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "Qwen/Qwen3-VL-8B-Instruct",
    ),
    "",
)
#: The name in a file of any other backbone: its place is an argument of the reader, and a fingerprint has to fit.
GIVEN = "given"
#: The backbone that a command names by ``--backbone``, for every policy whose own is neither listed nor in its folder.
_GIVEN: ContextVar[str] = ContextVar("backbone", default="")
#: Far more than any of them has: a stranger's folder that asks for more would only take this machine's memory.
MOST_LAYERS = 1 << 10
#: The list of files by weight, where there are several.
INDEX = "model.safetensors.index.json"

#: Files of a repository that are read: other formats of the same weights may lie beside them, and in folders.
READ = ["*.json", "*.safetensors", "*.txt", "*.jinja", "*.model"]


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
        """Rows and columns of visual tokens of a board with cells of ``cell`` pixels; 0: one token per cell."""

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
    """Keep transformers and the hub quiet: no progress bars, which mean nothing for small folders, no table of absent
    tensors."""
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


def load_backbone(path: str | Path, *, revision: str = "", **options: Any) -> Backbone:
    """The backbone of a local folder or hub repository, by the model type of its configuration.

    ``revision`` is a commit, tag or branch of the repository. ``dtype`` and ``device`` say what its weights become
    while they are read.
    """
    folder, _ = find_backbone(path, revision)
    files.refuse_links(folder, links=True)
    verified.verify(folder)
    backbone: Backbone = resident.read(family_of(folder), folder, options)
    return backbone


def family_of(folder: Path) -> Any:
    """The class of the family of a folder, which may be a stranger's."""
    about = verified.values(folder, "config.json")
    model_type = about.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise ValueError(
            f"backbone: expected a model type of {', '.join(FAMILIES)}, got {brief(model_type)} in {folder}; "
            "docs/guides/backbones.md says how to add one"
        )
    _refuse_more(folder, about)
    return family(model_type)


def _refuse_more(folder: Path, about: dict[str, Any]) -> None:
    """Refuse what transformers would do beside reading weights: unpack others by programs that it fetches, put an
    adapter on them that no fingerprint tells, take them from elsewhere, or make layers without end."""
    if "quantization_config" in about:
        raise ValueError(f"backbone: expected weights that are not quantised, got a quantization_config in {folder}")
    if os.path.lexists(folder / "adapter_config.json"):
        raise ValueError(f"backbone: expected a whole model, got one with adapter_config.json in {folder}")
    if os.path.lexists(folder / INDEX):
        shards = verified.values(folder, INDEX, {"weight_map": dict})["weight_map"].values()
        if outside := [name for name in shards if not isinstance(name, str) or verified.leads_out(name)]:
            raise ValueError(f"backbone: expected files of {folder} in its {INDEX}, got {outside[0]!r:.80}")
    for part in (about, about.get("text_config"), about.get("vision_config")):
        for name in ("num_hidden_layers", "depth"):
            many = part.get(name, 1) if isinstance(part, dict) else 1
            if type(many) is not int or not 1 <= many <= MOST_LAYERS:
                raise ValueError(f"backbone: expected {name} of 1..{MOST_LAYERS}, got {brief(many)} in {folder}")


@contextmanager
def given_backbone(place: str | Path | None) -> Iterator[None]:
    """Read policies on this backbone meanwhile, where their own is neither listed nor in their folder."""
    token = _GIVEN.set(str(place or ""))
    try:
        yield
    finally:
        _GIVEN.reset(token)


def given_place() -> str:
    """The place that ``given_backbone`` has; empty if there is none."""
    return _GIVEN.get()


def is_repository(name: str | Path) -> bool:
    """Can this be a repository, OWNER/NAME, and no place on this disk? A path is none, nor what would lie in a folder
    that is here."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and not Path(name).parent.is_dir()


def find_backbone(path: str | Path, revision: str = "") -> tuple[Path, str]:
    """Where a backbone lies on this machine, downloaded if need be, and the commit of its repository; a folder has
    none. A repository may have its commit, tag or branch behind an @."""
    if Path(path).is_dir():
        if revision:
            raise ValueError(f"revision: expected none of the folder {path}, which has no history, got {revision}")
        return Path(path), ""
    name, _, of_name = str(path).partition("@")
    revision = revision or of_name or LISTED.get(name, "")
    if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
        raise ValueError(f"revision: expected a commit, tag or branch, got {revision!r:.80}")
    if not is_repository(name):
        raise ValueError(f"backbone: expected a folder, or OWNER/NAME on a hub, got {path}")
    folder = snapshot("backbone", name, revision, allow_patterns=READ, ignore_patterns=["*/*"])
    return folder, folder.name


def snapshot(what: str, name: str, revision: str = "", **patterns: list[str]) -> Path:
    """The local copy of a repository, a folder that is called like its commit; its size and place are printed before a
    download. Without a network, or with HF_HUB_OFFLINE=1, the copy that is there."""
    import huggingface_hub
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.errors import DryRunError

    waits = os.environ.get("LOCAL_RANK", "0") != "0"  # for the first rank of its machine, which shows how far it is
    options: dict[str, Any] = {"revision": revision or None, **patterns}
    missing = 0
    try:
        with quiet(), suppress(DryRunError):  # no hub answers, and perhaps nothing is missing
            every = huggingface_hub.snapshot_download(name, dry_run=True, **options)
            missing = sum(each.file_size for each in every if each.will_download)
            if missing and not waits:
                say(f"{what}: {missing / 1e9:.2f} GB of {name} go to {HF_HUB_CACHE} (HF_HOME chooses another place)")
        with quiet() if waits or not missing else nullcontext():
            return Path(huggingface_hub.snapshot_download(name, **options))
    except Exception as error:  # a hub's client raises errors of its own and of what it is made with
        asked, reason = f"{name} at {revision}" if revision else name, str(error).strip().partition("\n")[0]
        reason = reason or type(error).__name__
        wanted = "a folder, or a repository that the hub has"
        raise ValueError(f"{what}: expected {wanted}, got {asked}: {reason}") from error


def family(model_type: str) -> Any:
    """The class of a family."""
    module, _, name = FAMILIES[model_type].partition(":")
    return getattr(import_module(module), name)
