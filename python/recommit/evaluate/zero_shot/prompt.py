"""What a model is told: versioned files, named and hashed in every run's manifest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

#: The wordings in use. A published file never changes; a new wording is a new file.
VERSION = "v1"


@dataclass(frozen=True)
class Prompt:
    """One file of ``prompts``."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Identifies the wording."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load(name: str) -> Prompt:
    """The prompt of a file, by name without suffix."""
    folder = files(__package__) / "prompts"
    source = folder / f"{name}.txt"
    if not source.is_file():
        known = sorted(entry.name.removesuffix(".txt") for entry in folder.iterdir())
        raise ValueError(f"prompt: expected one of {', '.join(known)}, got {name}")
    return Prompt(name, source.read_text(encoding="utf-8").strip())


def of(task: str) -> tuple[Prompt, Prompt]:
    """The system prompt, and the prompt beside the picture."""
    return load(f"system-{VERSION}"), load(f"{task}-{VERSION}")
