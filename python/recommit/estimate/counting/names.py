"""Published backbones by the preset of their shapes, so that an estimate needs no download; and what their tokenizer
makes of the task prompts."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.policy.prompt import Markers

RANDOM = "random:"
#: Name on the hub -> preset of ``recommit.policy.backbones.make``.
PUBLISHED = {
    "Qwen/Qwen2.5-VL-3B-Instruct": "3b",
    "Qwen/Qwen2.5-VL-7B-Instruct": "7b",
    "Qwen/Qwen3-VL-8B-Instruct": "qwen3-vl-8b",
    "OpenGVLab/InternVL3-8B-hf": "internvl3-8b",
}
#: Prompt -> tokens before and behind the picture, its two markers left out. Counted with the published vocabulary of
#: Qwen (151,643 byte pairs), which all of them share; prompt files never change.
_LENGTHS = {"bare-v1": (0, 0), "sliding-v1": (3, 48), "sokoban-v1": (3, 47), "ice-v1": (3, 51)}


def preset_of(backbone: str) -> str | None:
    """The preset that has a backbone's shapes; None for a local folder, which says them itself."""
    if Path(backbone).is_dir():
        return None
    preset = backbone.removeprefix(RANDOM) if backbone.startswith(RANDOM) else PUBLISHED.get(backbone)
    if preset is None:
        raise ValueError(
            f"model.backbone: expected a local folder, {RANDOM} and a name, or one of {', '.join(PUBLISHED)}, whose "
            f"shapes can be planned without a download, got {backbone}"
        )
    return preset


class PublishedTokenizer:
    """As many tokens as the published tokenizer makes of a task prompt with a picture, each with the id of its kind."""

    def __init__(self, markers: Markers, pad: int) -> None:
        self.markers, self.pad = markers, pad

    def __call__(self, text: str, **_options: Any) -> dict[str, list[int]]:
        """Token ids: those of the picture, and 0 for all others."""
        pictures = text.count(self.markers.token)
        lengths, digest = _lengths(), self._digest(text, pictures)
        if digest not in lengths:
            raise ValueError(f"prompts: expected one of {', '.join(_LENGTHS)}, whose tokens were counted, got another")
        before, behind = lengths[digest]
        return {"input_ids": [0] * (before + 1) + [self.pad] * pictures + [0] * (behind + 1)}

    def _digest(self, text: str, pictures: int) -> str:
        """Digest of the prompt that was expanded."""
        shown = self.markers.before + self.markers.token * pictures + self.markers.after
        return hashlib.sha256(text.replace(shown, "{image}").encode()).hexdigest()


def _lengths() -> dict[str, tuple[int, int]]:
    """By sha256 of the prompt."""
    folder = files("recommit.policy") / "prompts"
    texts = {name: (folder / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n") for name in _LENGTHS}
    return {hashlib.sha256(text.encode()).hexdigest(): _LENGTHS[name] for name, text in texts.items()}
