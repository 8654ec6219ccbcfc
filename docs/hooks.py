"""Puts every docs/benchmarks*.md into the navigation, so that a new table needs no other edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Fill in the empty entry 'Benchmarks'; without a table it disappears."""
    pages = sorted(path.name for path in Path(config["docs_dir"]).glob("benchmarks*.md"))
    config["nav"] = [_filled(entry, pages) for entry in config["nav"] if "Benchmarks" not in entry or pages]
    return config


def _filled(entry: dict[str, Any], pages: list[str]) -> dict[str, Any]:
    if "Benchmarks" not in entry:
        return entry
    return {"Benchmarks": pages[0] if len(pages) == 1 else pages}
