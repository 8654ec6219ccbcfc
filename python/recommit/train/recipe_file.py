"""Recipes as files: one YAML per experiment, a section per stage, and the puzzles that it was made for."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from recommit.storage import recipe_text


def section(recipe: str | Path, stage: str) -> dict[str, Any]:
    """What a recipe says of a stage; empty if it says nothing."""
    whole = _whole(recipe)
    if not isinstance(whole, dict) or not isinstance(whole.get(stage) or {}, dict):
        raise ValueError(f"recipe: expected a mapping with the stage {stage}, got {type(whole).__name__} in {recipe}")  # noqa: TRY004
    return whole.get(stage) or {}


def tasks(recipe: str | Path) -> tuple[str, ...]:
    """The puzzles that a recipe was made for; empty if it does not say."""
    whole = _whole(recipe)
    return tuple(whole.get("tasks", ())) if isinstance(whole, dict) else ()


def _whole(recipe: str | Path) -> Any:
    text = _text(recipe)
    try:
        return recipe_text.read(text) or {}
    except ValueError as error:
        raise ValueError(f"recipe: {error} in {recipe}") from None


def recipes() -> list[str]:
    """Names of the recipes in this package."""
    return sorted(p.name.removesuffix(".yaml") for p in _folder().iterdir() if p.name.endswith(".yaml"))


def _folder() -> Any:
    return files("recommit") / "recipes"


def _text(recipe: str | Path) -> str:
    named = _folder() / f"{recipe}.yaml"
    if named.is_file():
        return str(named.read_text(encoding="utf-8"))
    if Path(recipe).is_file():
        return Path(recipe).read_text(encoding="utf-8")
    raise ValueError(f"recipe: expected a file or one of {', '.join(recipes())}, got {recipe}")
