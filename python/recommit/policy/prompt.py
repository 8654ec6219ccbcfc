"""Fixed task prompts: versioned files, named in the configuration and by hash in every run's manifest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

IMAGE = "{image}"


class Markers(NamedTuple):
    """What a family of backbones writes around a picture, and for each of its tokens."""

    before: str
    token: str
    after: str


@dataclass(frozen=True)
class Prompt:
    """The text around the image. A published prompt file never changes; a new wording is a new file."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Identifies the wording in manifests."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def with_left(self, left: int) -> Prompt:
        """The same with the number of decisions left behind the picture, always of two digits."""
        return Prompt(self.name, self.text.replace(IMAGE, f"{IMAGE}Decisions left: {left:02}. "))

    def expand(self, visual_tokens: int, markers: Markers) -> str:
        """The text with as many placeholders as the picture has tokens."""
        return self.text.replace(IMAGE, markers.before + markers.token * visual_tokens + markers.after)


def load_prompt(name: str) -> Prompt:
    """The prompt of a file in ``policy/prompts``, by name without suffix."""
    source = files("recommit.policy") / "prompts" / f"{name}.txt"
    if not source.is_file():
        names = sorted(p.name.removesuffix(".txt") for p in (files("recommit.policy") / "prompts").iterdir())
        raise ValueError(f"prompts: expected one of {', '.join(names)}, got {name}")
    text = source.read_text(encoding="utf-8").removesuffix("\n")
    if text.count(IMAGE) != 1:
        raise ValueError(f"prompts: expected {IMAGE} exactly once in {name}, got {text.count(IMAGE)}")
    return Prompt(name, text)
