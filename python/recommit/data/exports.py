"""Data sets for other trainers, with pictures and messages in them: Parquet that ``datasets`` and TRL read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import ACTIONS
from recommit.data import parquet, rows, shards
from recommit.puzzles.frames import encode_png
from recommit.puzzles.registry import TASKS
from recommit.storage import errors, files, ownership
from recommit.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows, Samples

#: Name of a file of an export.
_OURS = re.compile(r"(train|validation|test)-[0-9]{5,}\.parquet", re.ASCII)
_ANSWER = 'Answer with the next {depth} action{s} as JSON: {{"actions": [...]}}.'


def export(
    dataset: Dataset,
    folder: str | Path,
    *,
    states_per_file: int = 4096,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write ``dataset`` with one row per (state, depth): its columns, an ``image``, and ``messages`` of a question and
    its answer. Returns the names of the files; those of an earlier export are removed first. ``progress`` is called
    with the files and the states so far."""
    if states_per_file < 1:
        raise errors.WrongDataSpec(f"states_per_file: expected at least 1, got {states_per_file}")
    target, work, names, done = Path(folder).absolute(), Files(), list[str](), 0
    # A reader takes every file of the folder: foreign ones do not belong there, and no row may come twice.
    ours = [entry.name for entry in target.iterdir() if _OURS.fullmatch(entry.name)] if target.is_dir() else []
    ownership.refuse_foreign(target, tuple(ours), "an export")
    files.make_folders(work, target)
    for name in ours:  # before the first new file: an export that is broken off must not be taken for a whole one
        work.remove(target / name)
    for number, (split, content) in enumerate(_pieces(dataset, states_per_file)):
        images = dataset.puzzle.render(content.states)
        names.append(f"{split}-{number:05d}.parquet")
        files.replace(work, target / names[-1], _encoded(dataset, split, content, [*map(encode_png, images)]))
        done += len(content)
        if progress is not None:
            progress(len(names), done)
    return names


def _pieces(dataset: Dataset, most: int) -> Iterator[tuple[str, LabelledRows]]:
    """(split, rows) of every file: stretches of shards, without dead rows, which have nothing to imitate."""
    for record in dataset.records:
        content = shards.read(dataset.folder, dataset.spec, record)
        content = content[~content.dead]
        for begin in range(0, len(content), most):
            yield shards.parse_name(record.name)[0], content[begin : begin + most]


def _encoded(dataset: Dataset, split: str, content: LabelledRows, pictures: list[bytes]) -> memoryview:
    """The file of some rows. A picture is stored once per state: its column is coded by dictionary."""
    pa, pq = parquet.pa, parquet.pq
    expanded = rows.expand(content)
    offsets = np.concatenate([[0], np.cumsum(expanded.depth)]).astype(np.int32)
    flat = expanded.actions[np.arange(rows.NEXT) < expanded.depth[:, None]]
    image = pa.DictionaryArray.from_arrays(expanded.row.astype(np.int32), pa.array(pictures, pa.binary()))
    nowhere = pa.nulls(len(expanded), pa.string())
    columns = parquet.to_table(dataset.spec, split, content[expanded.row]).drop_columns(["actions", "dead"])
    for name, column in (
        ("image", pa.StructArray.from_arrays([image.cast(pa.binary()), nowhere], ["bytes", "path"])),
        ("depth", pa.array(expanded.depth)),
        ("actions", pa.ListArray.from_arrays(offsets, flat)),
        ("messages", _messages(dataset, expanded)),
    ):
        columns = columns.append_column(name, column)
    columns = columns.cast(pa.schema([field.with_type(_plain(field.type)) for field in columns.schema]))
    sink = pa.BufferOutputStream()
    pq.write_table(
        columns.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": _features(columns.schema)}})}),
        sink,
        row_group_size=1024,
        compression="zstd",
        use_dictionary=True,
        dictionary_pagesize_limit=1 << 30,
        write_statistics=False,
    )
    return memoryview(sink.getvalue())


def _messages(dataset: Dataset, expanded: Samples) -> Any:
    """A conversation per (state, depth), which the image goes before."""
    pa, texts, rules = parquet.pa, list[str](), TASKS[dataset.spec.task].rules
    for depth, actions in zip(expanded.depth.tolist(), expanded.actions, strict=True):
        answer = json.dumps({"actions": [ACTIONS[action] for action in actions[:depth]]})
        texts += [f"{rules} {_ANSWER.format(depth=depth, s='' if depth == 1 else 's')}", answer]
    roles = pa.array(["user", "assistant"] * len(expanded))
    turns = pa.StructArray.from_arrays([roles, pa.array(texts, pa.string())], ["role", "content"])
    return pa.ListArray.from_arrays(np.arange(0, len(texts) + 1, 2, dtype=np.int32), turns)


def _plain(kind: Any) -> Any:
    return kind.value_type if parquet.pa.types.is_dictionary(kind) else kind


def _features(schema: Any) -> dict[str, Any]:
    """The features of the columns for ``datasets``."""
    words = {name: {"dtype": "string", "_type": "Value"} for name in ("role", "content")}
    features: dict[str, Any] = {
        "image": {"_type": "Image"},
        "actions": {"feature": {"dtype": "uint8", "_type": "Value"}, "_type": "List"},
        "messages": {"feature": words, "_type": "List"},
    }
    return {field.name: features.get(field.name, {"dtype": str(field.type), "_type": "Value"}) for field in schema}
