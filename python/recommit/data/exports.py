"""Data sets in the formats that other trainers read, with pictures in them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit import ACTIONS
from recommit.data import rows, samples, shards, table
from recommit.puzzles.frames import encode_png
from recommit.puzzles.registry import TASKS
from recommit.storage import errors, files, ownership
from recommit.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows

Form = Literal["parquet", "chat"]
#: Name of a file of an export.
_OURS = re.compile(r"(train|validation|test)-[0-9]{5,}\.(parquet|jsonl)", re.ASCII)
_IMAGE = ["bytes", "path"]
_ANSWER = 'Answer with the next {depth} action{s} as JSON: {{"actions": [...]}}.'


def export(
    dataset: Dataset,
    folder: str | Path,
    form: Form,
    *,
    cell: int = 28,
    states_per_file: int = 4096,
    threads: int | None = None,
) -> list[str]:
    """Write ``dataset`` with one row per (state, depth): as ``parquet`` with an Image column, or as ``chat``, JSON
    lines of messages. Returns the names of the files; others of the same form, from an earlier export with smaller
    files, are removed."""
    if form not in FORMS:
        raise errors.WrongDataSpec(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    if states_per_file < 1:
        raise errors.WrongDataSpec(f"states_per_file: expected at least 1, got {states_per_file}")
    ending, write = FORMS[form]
    target, work, names = Path(folder).absolute(), Files(), list[str]()
    # A reader takes every file of the folder: somebody else's do not belong there, and no row may come twice.
    ours = [entry.name for entry in target.iterdir() if _OURS.fullmatch(entry.name)] if target.is_dir() else []
    ownership.refuse_foreign(target, tuple(ours), "an export")
    files.make_folders(work, target)
    for number, (split, content) in enumerate(_pieces(dataset, states_per_file)):
        images = dataset.puzzle.render(content.states, cell=cell, threads=threads)
        names.append(f"{split}-{number:05d}.{ending}")
        files.replace(work, target / names[-1], write(dataset, split, content, [encode_png(image) for image in images]))
    for name in ours:
        if name.endswith(ending) and name not in names:
            work.remove(target / name)
    return names


def _pieces(dataset: Dataset, most: int) -> Iterator[tuple[str, LabelledRows]]:
    """(split, rows) of every file: stretches of shards, without dead rows, which have nothing to imitate."""
    for record in dataset.records:
        content = shards.read(dataset.folder, dataset.spec, record)
        content = content[~content.dead]
        for begin in range(0, len(content), most):
            yield shards.parse_name(record.name)[0], content[begin : begin + most]


def _parquet(dataset: Dataset, split: str, content: LabelledRows, pictures: list[bytes]) -> memoryview:
    """Rows of samples. A picture is stored once per state: its column is coded by dictionary."""
    pa, pq = table.pa, table.pq
    expanded = samples.expand(content)
    offsets = np.concatenate([[0], np.cumsum(expanded.depth)]).astype(np.int32)
    image = pa.DictionaryArray.from_arrays(expanded.row.astype(np.int32), pa.array(pictures, pa.binary()))
    nowhere = pa.nulls(len(expanded), pa.string())
    columns = table.to_table(dataset.spec, split, content[expanded.row]).drop_columns(["actions", "dead"])
    columns = columns.append_column("image", pa.StructArray.from_arrays([image.cast(pa.binary()), nowhere], _IMAGE))
    columns = columns.append_column("depth", pa.array(expanded.depth))
    flat = expanded.actions[np.arange(rows.NEXT) < expanded.depth[:, None]]
    columns = columns.append_column("actions", pa.ListArray.from_arrays(offsets, flat))
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


def _plain(kind: Any) -> Any:
    return kind.value_type if table.pa.types.is_dictionary(kind) else kind


def _features(schema: Any) -> dict[str, Any]:
    """What ``datasets`` should take the columns for."""
    features: dict[str, Any] = {"image": {"_type": "Image"}}
    features["actions"] = {"feature": {"dtype": "uint8", "_type": "Value"}, "_type": "List"}
    return {field.name: features.get(field.name, {"dtype": str(field.type), "_type": "Value"}) for field in schema}


def _chat(dataset: Dataset, _split: str, content: LabelledRows, pictures: list[bytes]) -> bytes:
    """One conversation per (state, depth), pictures inside as data URLs: a file that needs no other file."""
    expanded, lines = samples.expand(content), []
    rules = TASKS[dataset.spec.task].rules
    urls = ["data:image/png;base64," + base64.b64encode(picture).decode() for picture in pictures]
    ids = dataset.ids(content)
    for row, depth, actions in zip(expanded.row, expanded.depth, expanded.actions, strict=True):
        question = f"{rules} " + _ANSWER.format(depth=depth, s="" if depth == 1 else "s")
        answer = json.dumps({"actions": [ACTIONS[a] for a in actions[:depth]]})
        messages = [
            {"role": "user", "content": f"<image>{question}"},
            {"role": "assistant", "content": answer},
        ]
        name = f"{ids[row]}#{int(content.t[row])}h{int(depth)}"
        lines.append(json.dumps({"id": name, "messages": messages, "images": [urls[row]]}) + "\n")
    return "".join(lines).encode()


#: name -> (file ending, rows to bytes)
FORMS: dict[str, tuple[str, Callable[[Dataset, str, LabelledRows, list[bytes]], bytes | memoryview]]] = {
    "parquet": ("parquet", _parquet),
    "chat": ("jsonl", _chat),
}
