"""``recommit data build|import|show``."""

from __future__ import annotations

import itertools
import json as jsons
import time
from typing import Any

from recommit.data.options import BuildOptions, ImportOptions, ShowOptions
from recommit.storage.terminal_text import StatusLine, tell


def build(options: BuildOptions, json: bool = False) -> None:
    """Build a data set, or finish one that was interrupted.

    Args:
        json: Print the result as JSON.
    """
    from recommit.data import builder
    from recommit.data.manifest import overlap_text

    spec, line = options.spec(), StatusLine(terminal_only=json)

    begin, made = time.monotonic(), itertools.count(1)

    def progress(done: int, shards: int, rows: int) -> None:
        left = (time.monotonic() - begin) / next(made) * (shards - done)
        line.show(f"{done}/{shards} shards, {rows:,} rows, {left:.0f} s left")

    try:
        manifest = builder.build(
            spec, options.out, workers=options.workers, engine=options.engine, progress=None if json else progress
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where it was") from None
    finally:
        line.end()
    total, content = manifest.total("rows"), manifest.content
    values = {"folder": str(options.out), "content_sha256": content, "rows": total, "overlap": manifest.overlap}
    overlap = f"\noverlap: {overlap_text(manifest.overlap)}" if manifest.overlap else ""
    _answer(values if json else f"{options.out}: {total:,} rows, content {content[:16]}{overlap}")


def import_(options: ImportOptions, json: bool = False) -> None:
    """Check a copy of published levels, such as Boxoban's, and keep it for data sets.

    Args:
        json: Print JSON.
    """
    from recommit.data import boxoban

    line = StatusLine(terminal_only=True)
    try:
        found = boxoban.import_levels(options.folder, line.show)
    finally:
        line.clear()
    kept = ", ".join(f"{name} ({many:,})" for name, many in found.items())
    _answer({"folder": str(boxoban.cached()), "levels": found} if json else f"{boxoban.cached()}: {kept}")


def show(options: ShowOptions, json: bool = False) -> None:
    """Print statistics of a data set, or check it.

    Args:
        json: Print JSON.
    """
    from recommit.data import card
    from recommit.data.dataset import open_folder

    folder = options.folder
    data = open_folder(folder, options.split)
    if options.verify:
        from recommit.data.verification import verify

        checked = verify(data, labels=options.labels)
        right = {"folder": str(folder), "rows": checked, "labels": options.labels, "right": True}
        _answer(right if json else f"{folder}: {checked:,} rows, all as they should be")
        return
    statistics = card.describe(data)
    _answer(statistics if json else card.text(statistics))


def _answer(said: str | dict[str, Any]) -> None:
    tell(said if isinstance(said, str) else jsons.dumps(said, indent=2))
