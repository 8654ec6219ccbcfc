"""What a player is told: versioned files, named and hashed in every run's manifest."""

from __future__ import annotations

from importlib.resources import files

from recommit.policy.prompt import Prompt, read_prompt

#: The wordings in use. A published file never changes; a new wording is a new file.
VERSION = "v1"
#: What moves in the direction that an action of the sliding puzzle names: the blank, or the tile that changes places
#: with it.
MOVES = ("blank", "tile")
#: How a board is shown: as a picture, or as the rows of a level file.
VIEWS = ("image", "text")


def load(name: str) -> Prompt:
    """The prompt of a file, by name without suffix."""
    return read_prompt(files("recommit.zero_shot") / "prompts", name)


def of(task: str, moves: str = MOVES[0], view: str = VIEWS[0]) -> tuple[Prompt, Prompt]:
    """The system prompt, and the prompt beside the picture or above the rows."""
    if moves != MOVES[0] and (moves not in MOVES or task != "sliding"):
        raise ValueError(f"moves: expected {MOVES[0]}, or {MOVES[1]} for sliding, got {moves} for {task}")
    if view not in VIEWS:
        raise ValueError(f"view: expected one of {', '.join(VIEWS)}, got {view!r}")
    named = task if moves == MOVES[0] else f"{task}-{moves}"
    before = "" if view == VIEWS[0] else f"{view}-"
    return load(f"{before}system-{VERSION}"), load(f"{before}{named}-{VERSION}")
