"""The backbone protocol; finding and loading backbones.

A backbone sees pictures of one size at a time, so everything but the pixels is constant and computed once: a
``PromptInputs``. To add a family, pass a class with the members of ``Backbone`` (docs/guides/backbones.md shows two);
``TransformersBackbone`` is most of it for models of the transformers library.
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
from recommit.storage.errors import NeedsFlag
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
#: A commit, tag or branch; the pattern is strict because the hub client builds a path from it.
_REVISION = re.compile(r"(\w[\w.-]*(/\w[\w.-]*)*)?", re.ASCII)
#: Published backbones that a file may name, and the commit of each that is loaded; empty: the newest, see
#: docs/security.md.
LISTED = dict.fromkeys(("Qwen/Qwen2.5-VL-3B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen3-VL-8B-Instruct"), "")
#: Stands in a file for any other backbone: the caller passes its place, and its fingerprint has to match.
GIVEN = "given"
#: The caller's place of backbones that are neither listed nor in the policy's folder, and class for those of no known
#: family.
_GIVEN: ContextVar[tuple[str, Any]] = ContextVar("backbone", default=("", None))
GUIDE = "docs/guides/backbones.md#your-own-backbone"
#: Far above any real model: an untrusted folder that declares more layers would only exhaust memory.
MOST_LAYERS = 1 << 10
#: Index of a sharded checkpoint: the file of each weight.
INDEX = "model.safetensors.index.json"

#: Files to download of a repository, which may also hold the same weights in other formats and in subfolders.
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
    """The interface of a vision-language model that a policy uses."""

    #: Width of z.
    width: int
    #: Side of a visual token in pixels; a drawn cell is a multiple of it wide.
    token_pixels: int
    #: Regular expression over module names: the language model's projections that LoRA adapts.
    lora_targets: str
    #: True if a cell's features depend on that cell alone, so that a board is a gather from a small table. Requires
    #: ``pixels`` to be the core's patches.
    cell_local: bool
    model: nn.Module
    #: Activation checkpointing: recompute activations inside layers in the backward pass.
    recompute: bool
    #: torch.compile backend for passes of a frozen backbone; ``none``: eager.
    compiled: str

    def grid(self, rows: int, cols: int, cell: int) -> tuple[int, int]:
        """Rows and columns of visual tokens of a board with cells of ``cell`` pixels; 0: one token per cell."""

    def tokenize_prompt(self, prompt: PicturePrompt, rows: int, cols: int) -> PromptInputs:
        """The constant inputs for pictures of rows x cols visual tokens."""

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
        """Write the whole model in its published format, and the files of ``save_processor``."""

    def save_processor(self, folder: Path) -> None:
        """Write tokenizer and image processor."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers and the hub: no progress bars, which mean nothing for small folders, no table of absent
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


def load_backbone(path: str | Path, *, revision: str = "", backbone_class: Any = None, **options: Any) -> Backbone:
    """The backbone of a local folder or hub repository, by ``backbone_class``, or by the model type of its
    configuration.

    ``revision`` is a commit, tag or branch of the repository. Weights are converted to ``dtype`` and ``device`` while
    they are read.
    """
    with given_backbone(None, backbone_class):
        folder, _ = find_backbone(path, revision)
    files.refuse_links(folder, links=True)
    verified.verify(folder)
    return resident.read(family_of(folder, backbone_class), folder, options)


def family_of(folder: Path, own: Any = None) -> Any:
    """The class that loads a folder, whose configuration is checked first: the caller's ``own``, or its family's."""
    model_type = "" if own is not None else _known_type(folder)
    _refuse_more(folder, verified.values(folder, "config.json"))
    return own or family(model_type)


def _known_type(folder: Path) -> str:
    """The folder's model type, if in ``FAMILIES``; else raise an error that names ``--backbone-class``."""
    about = verified.values(folder, "config.json")
    if isinstance(model_type := about.get("model_type"), str) and model_type in FAMILIES:
        return model_type
    blind = "" if "vision_config" in about else " (without a vision_config: a class may write states as text)"
    wanted = f"a model type of {', '.join(FAMILIES)}, or a class of your own that reads others ({GUIDE})"
    raise NeedsFlag(f"backbone: expected {wanted}, got {brief(model_type)} in {folder}{blind}", class_flag())


def refuse_foreign(place: str | Path | None) -> None:
    """Refuse a folder that needs a caller's class if none was given. Reads its configuration only, and no torch."""
    if place and _GIVEN.get()[1] is None and Path(place).is_dir():
        _known_type(Path(place))


def _refuse_more(folder: Path, about: dict[str, Any]) -> None:
    """Refuse folders with which transformers would do more than read weights: quantised weights (it fetches code to
    unpack them), an adapter (not in the fingerprint), weights outside the folder, or an absurd number of layers."""
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
def given_backbone(place: str | Path | None, own: Any = None) -> Iterator[None]:
    """Within this context, use the backbone at ``place`` for policies whose own is neither listed nor in their folder,
    and class ``own`` for folders of no known family; None keeps the outer context's value."""
    if own is not None and not (isinstance(own, type) and hasattr(own, "from_pretrained")):
        raise ValueError(f"backbone_class: expected a class with from_pretrained, see {GUIDE}, got {brief(own)}")
    before = _GIVEN.get()
    token = _GIVEN.set((before[0] if place is None else str(place), before[1] if own is None else own))
    try:
        refuse_foreign(place)
        yield
    finally:
        _GIVEN.reset(token)


def given_place() -> str:
    """The place set by ``given_backbone``; empty if none."""
    return _GIVEN.get()[0]


def given_class() -> Any:
    """The class set by ``given_backbone``, or None."""
    return _GIVEN.get()[1]


def own_class(kind: Any) -> str:
    """Name of a backbone class from outside the package; empty for those of ``FAMILIES``."""
    return "" if f"{kind.__module__}:{kind.__name__}" in FAMILIES.values() else str(kind.__name__)


def class_flag(name: Any = "NAME") -> str:
    """The command-line flag that passes a class; ``name`` may come from an untrusted file."""
    return f"--backbone-class FILE:{name if isinstance(name, str) and name.isidentifier() else 'NAME'}"


def refuse_ungiven(place: str, name: Any) -> None:
    """Raise ``NeedsFlag`` for what the caller has to pass: a ``place`` (in words), a class ``name``; empty: nothing."""
    needs = [(place, "--backbone PLACE", "backbone=PLACE")] if place else []
    needs += [(f"the class {brief(name)}", class_flag(name), "backbone_class=CLASS")] if name else []
    if needs:
        wanted, flags, python = (" and ".join(each) for each in zip(*needs, strict=True))
        said = f"expected {wanted}, since no file names it, got none (from Python: {python}; see {GUIDE})"
        raise NeedsFlag(f"backbone: {said}", flags.replace(" and ", " "))


def is_repository(name: str | Path) -> bool:
    """True if ``name`` looks like a hub repository, OWNER/NAME, and not like a local path: no folder OWNER exists
    here."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and not Path(name).parent.is_dir()


def find_backbone(path: str | Path, revision: str = "") -> tuple[Path, str]:
    """Local folder of a backbone, downloaded if missing, and the commit of its repository (empty for a folder). A
    repository may be followed by ``@`` and a commit, tag or branch."""
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
    if name not in LISTED and given_class() is None:  # before downloading weights that no class could load
        _known_type(snapshot("backbone", name, revision, allow_patterns=["config.json"]))
    folder = snapshot("backbone", name, revision, allow_patterns=READ, ignore_patterns=["*/*"])
    return folder, folder.name


def snapshot(what: str, name: str, revision: str = "", **patterns: list[str]) -> Path:
    """The local copy of a repository, a folder named after its commit; size and destination are printed before a
    download. Without a network, or with HF_HUB_OFFLINE=1, the cached copy."""
    import huggingface_hub
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.errors import DryRunError

    waits = os.environ.get("LOCAL_RANK", "0") != "0"  # for this machine's first rank, which shows the progress
    options: dict[str, Any] = {"revision": revision or None, **patterns}
    missing = 0
    try:
        with quiet(), suppress(DryRunError):  # the hub is unreachable, but perhaps nothing is missing
            every = huggingface_hub.snapshot_download(name, dry_run=True, **options)
            missing = sum(each.file_size for each in every if each.will_download)
            if missing > 1e7 and not waits:
                say(f"{what}: {missing / 1e9:.2f} GB of {name} go to {HF_HUB_CACHE} (HF_HOME chooses another place)")
        with quiet() if waits or not missing else nullcontext():
            return Path(huggingface_hub.snapshot_download(name, **options))
    except Exception as error:  # the hub client raises its own errors and those of its libraries
        asked, reason = f"{name} at {revision}" if revision else name, str(error).strip().partition("\n")[0]
        reason = reason or type(error).__name__
        wanted = "a folder, or a repository that the hub has"
        raise ValueError(f"{what}: expected {wanted}, got {asked}: {reason}") from error


def family(model_type: str) -> Any:
    """Import the backbone class of a model type."""
    module, _, name = FAMILIES[model_type].partition(":")
    return getattr(import_module(module), name)
