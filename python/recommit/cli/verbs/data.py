"""``recommit data build|show|export``."""

from __future__ import annotations

import json as jsons
from typing import TYPE_CHECKING, Any

from recommit.cli.boards import check_place
from recommit.data.options import BuildOptions, ExportOptions, ShowOptions
from recommit.storage.terminal_text import StatusLine, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.data.builder import BuildProgress
    from recommit.data.manifest import Manifest


def build(options: BuildOptions, json: bool = False) -> None:
    """Build a data set, or finish one that was interrupted.

    Args:
        json: Print the result as JSON.
    """
    from recommit.data import builder

    specs, many = options.specs()
    out, line = options.out, StatusLine(terminal_only=json)

    def progress(now: BuildProgress) -> None:
        remaining = f"{now.remaining:.0f} s left" if now.remaining < 1e9 else ""
        line.show(f"{now.shards}/{now.all_shards} shards, {now.rows:,} rows, {now.rate:,.0f} rows/s, {remaining}")

    how: dict[str, Any] = {
        "workers": options.workers,
        "threads": options.threads,
        "engine": options.engine,
        "progress": None if json else progress,
    }
    try:
        if many:
            manifests = {out / name: each for name, each in builder.build_all(specs, out, **how).items()}
        else:
            manifests = {out: builder.build(specs[0], out, states=options.states, **how)}
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where it was") from None
    finally:
        line.end()
    _answer([_built(folder, manifest, json) for folder, manifest in manifests.items()])


def _built(folder: Path, manifest: Manifest, json: bool) -> dict[str, Any] | str:
    """What was built, as JSON says it or in words."""
    rows, seen = manifest.total("rows"), manifest.overlap
    if json:
        return {"folder": str(folder), "content_sha256": manifest.content, "rows": rows, "overlap": seen}
    text = f"{folder}: {rows:,} rows, content {manifest.content[:16]}"
    if not seen:
        return text
    return (
        f"{text}\noverlap: {seen['test_starts_on_training_paths']} of {seen['test_starts']} test starts and "
        f"{seen['test_states_on_training_paths']} of {seen['test_states']} test states lie on training paths"
    )


def show(options: ShowOptions, json: bool = False) -> None:
    """Print what is in a data set, draw it, or check it.

    Args:
        json: Print JSON.
    """
    from recommit.data import show as shown
    from recommit.data.dataset import open_all

    folder, picture = options.folder, options.picture
    if picture:
        check_place(picture)
    every = open_all(folder, None if options.split == "all" else options.split)
    if options.verify:
        from recommit.data.verification import verify

        checked = sum(verify(data, labels=options.labels) for data in every)
        right = {"folder": str(folder), "rows": checked, "labels": options.labels, "right": True}
        _answer([right if json else f"{folder}: {checked:,} rows, all as they should be"])
        return
    described = {data: shown.describe(data) for data in every}
    _answer([statistics if json else shown.text(statistics) for statistics in described.values()])
    if picture:
        for data, statistics in described.items():
            own = picture.with_stem(f"{picture.stem}-{data.folder.name}") if len(described) > 1 else picture
            shown.picture(data, own, statistics)


def export(options: ExportOptions, json: bool = False) -> None:
    """Write a data set, with pictures, in a format that other trainers read; or put it on a hub.

    Args:
        json: Print JSON.
    """
    if options.push is not None:
        _push(options, options.push)
        return
    from recommit.data.dataset import open_all
    from recommit.data.exports import export as write

    assert options.out is not None
    every, written = open_all(options.folder, None if options.split == "all" else options.split), []
    for data in every:
        place = options.out / data.folder.name if every[1:] else options.out
        names = write(data, place, options.form, cell=options.cell, states_per_file=options.states_per_file)
        written.append({"folder": str(place), "files": len(names)} if json else f"{place}: {len(names)} files")
    _answer(written)


def _push(options: ExportOptions, repo: str) -> None:
    from recommit.data.card import card
    from recommit.data.manifest import read
    from recommit.storage import hub

    folder = options.folder.absolute()
    upload = hub.Upload(repo, "dataset", folder, {"README.md": card(read(folder), repo)})
    _answer([hub.push(upload, options.hub, options.send)])


def _answer(parts: Sequence[Any]) -> None:
    """Print what there is to say of every data set of a folder; JSON of several is one list."""
    if all(isinstance(part, str) for part in parts):
        tell("\n".join(parts))
    else:
        tell(jsons.dumps(parts[0] if len(parts) == 1 else list(parts), indent=2))
