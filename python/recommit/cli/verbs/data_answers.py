"""What ``recommit data`` prints: a line while it builds, and a sentence or JSON for every data set at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recommit.storage.terminal_text import StatusLine, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.data.building.builder import BuildProgress
    from recommit.data.manifest import Manifest


def summary(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """What was built, as JSON says it."""
    return {
        "folder": str(folder),
        "content_sha256": manifest.content,
        "rows": manifest.total("rows"),
        "overlap": manifest.overlap,
    }


def sentence(folder: Path, manifest: Manifest) -> str:
    """What was built, in words."""
    return f"{folder}: {manifest.total('rows'):,} rows, content {manifest.content[:16]}{_overlap(manifest.overlap)}"


def _overlap(counts: dict[str, int]) -> str:
    if not counts:
        return ""
    return (
        f"\noverlap: {counts['test_starts_on_training_paths']} of {counts['test_starts']} test starts and "
        f"{counts['test_states_on_training_paths']} of {counts['test_states']} test states lie on training paths"
    )


class BuildLine(StatusLine):
    """How far a build is."""

    def __call__(self, now: BuildProgress) -> None:
        """Show it."""
        remaining = f"{now.remaining:.0f} s left" if now.remaining < 1e9 else ""
        self.show(f"{now.shards}/{now.all_shards} shards, {now.rows:,} rows, {now.rate:,.0f} rows/s, {remaining}")


def answer_each(parts: Sequence[Any]) -> None:
    """Print what there is to say of every data set of a folder; JSON of several is one list."""
    if all(isinstance(part, str) for part in parts):
        answer("\n".join(parts))
    else:
        answer(parts[0] if len(parts) == 1 else list(parts))


def answer(what: object) -> None:
    """Print a sentence as it is, anything else as JSON."""
    tell(what if isinstance(what, str) else json.dumps(what, indent=2))
