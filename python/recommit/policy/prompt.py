"""Task prompts: versioned files, named in the configuration; zero-shot runs also record their hashes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from recommit.storage.recipe_text import brief

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

IMAGE = "{image}"
#: Around a text of the user's own: the turns of Qwen's chat template, which ``expand`` changes for other families.
_USER, _END = "<|im_start|>user\n", "<|im_end|>"
CHAT = f"<|im_start|>system\nYou are a helpful assistant.{_END}\n{_USER}%s{_END}\n<|im_start|>assistant\n"


class Markers(NamedTuple):
    """A backbone family's text around a picture, and the placeholder of a visual token."""

    before: str
    token: str
    after: str


@dataclass(frozen=True)
class Prompt:
    """The text of one file. A published file never changes; a new wording is a new file."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class PicturePrompt(Prompt):
    """A prompt with one picture in it, at ``IMAGE``."""

    def with_remaining(self, remaining: int) -> PicturePrompt:
        """The prompt with the number of remaining decisions behind the picture, always two digits."""
        return PicturePrompt(self.name, self.text.replace(IMAGE, f"{IMAGE}Decisions left: {remaining:02}. "))

    def expand(self, visual_tokens: int, markers: Markers, chat: Callable[[str], str]) -> str:
        """The text with one placeholder per visual token; the user's turn is formatted by ``chat``, if not empty."""
        said = self.text.partition(_USER)[2].partition(_END)[0]
        text = (chat(said) if said else "") or self.text
        return text.replace(IMAGE, markers.before + markers.token * visual_tokens + markers.after)


def read_prompt(folder: Traversable, name: str, argument: str = "prompt") -> Prompt:
    """The prompt of a file in ``folder``, by name without suffix; errors name ``argument``."""
    texts = {path.name.removesuffix(".txt"): path for path in folder.iterdir()}
    if name not in texts:
        raise ValueError(f"{argument}: expected one of {', '.join(sorted(texts))}, got {name}")
    return Prompt(name, texts[name].read_text(encoding="utf-8").removesuffix("\n"))


def load_prompt(name: str) -> PicturePrompt:
    """The prompt of a file in ``policy/prompts``, by name without suffix, or a user's own text with ``IMAGE``."""
    own = IMAGE in name
    text = CHAT % name if own else read_prompt(files("recommit.policy") / "prompts", name, "prompts").text
    if (many := text.count(IMAGE)) != 1:
        raise ValueError(f"prompts: expected {IMAGE} exactly once in {brief(name)}, got it {many} times")
    return PicturePrompt("the prompt" if own else name, text)
