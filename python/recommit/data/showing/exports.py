"""Data sets in the formats that other trainers read, with pictures in them.

Every format is one function from rows to the bytes of a file; ``export`` cuts a data set into pieces, names the files
and writes each of them safely.
"""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import rows, shards, table
from recommit.data.dataset import Dataset
from recommit.data.feeding import samples
from recommit.puzzles.frames import encode_png
from recommit.puzzles.registry import TASKS
from recommit.storage import errors, files, ownership
from recommit.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.data.rows import LabelledRows

ACTIONS = ("up", "down", "left", "right")


def export(
    dataset: Dataset,
    folder: str | Path,
    form: str,
    *,
    cell: int = 28,
    states_per_file: int = 4096,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """Write ``dataset`` as ``parquet`` (one row per (state, depth), with an Image column), ``tensors`` (Parquet of
    numbers whose lengths are fixed, one row per state), ``webdataset`` (tar files, one sample per state) or ``chat``
    (JSON lines of messages, one per (state, depth)). The names of the files; others
    of the same form, from an earlier export with smaller files, are removed."""
    if form not in FORMS:
        raise errors.WrongDataSpec(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    if states_per_file < 1:
        raise errors.WrongDataSpec(f"states_per_file: expected at least 1, got {states_per_file}")
    ending, make = FORMS[form]
    target, work, names = Path(folder).absolute(), Files(), []
    _refuse_strangers(target)
    files.make_folders(work, target)
    for number, (split, content) in enumerate(_pieces(dataset, states_per_file)):
        pictures = [] if form == "tensors" else _pictures(dataset, content, cell, threads)
        names.append(f"{split}-{number:05d}.{ending}")
        files.replace(work, target / names[-1], make(dataset, split, content, pictures))
        if progress:
            progress(len(content))
    _remove_others(work, target, ending, set(names))
    return names


def _pictures(dataset: Dataset, content: LabelledRows, cell: int, threads: int | None) -> list[bytes]:
    return [encode_png(image) for image in dataset.puzzle.render(content.states, cell=cell, threads=threads)]


#: Name of a file of an export.
_OURS = re.compile(r"(train|validation|test)-[0-9]{5,}\.(parquet|tar|jsonl)", re.ASCII)


def _refuse_strangers(folder: Path) -> None:
    """A reader takes every file of the folder, so that somebody else's do not belong there."""
    ours = [entry.name for entry in folder.iterdir() if _OURS.fullmatch(entry.name)] if folder.is_dir() else []
    ownership.refuse_foreign(folder, tuple(ours), "an export")


def _remove_others(work: Files, folder: Path, ending: str, names: set[str]) -> None:
    """A reader takes every file of the folder: rows would come twice."""
    for path in folder.glob(f"*.{ending}"):
        if path.name not in names and re.fullmatch(r"(train|validation|test)-[0-9]{5,}", path.stem, re.ASCII):
            work.remove(path)


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
    chosen = content[expanded.row]
    image = pa.DictionaryArray.from_arrays(expanded.row.astype(np.int32), pa.array(pictures, pa.binary()))
    nowhere = pa.nulls(len(expanded), pa.string())
    columns = table.to_table(dataset.spec, split, chosen).drop_columns(["actions", "dead"])
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


def _tensors(_dataset: Dataset, _split: str, content: LabelledRows, _pictures: list[bytes]) -> memoryview:
    """Numbers that ``with_format("torch")`` stacks into batches: ``actions`` has -1 behind the ``n`` expert actions."""
    pa, pq, many = table.pa, table.pq, len(content)
    actions = np.where(content.actions == rows.NO_ACTION, -1, content.actions.astype(np.int16)).astype(np.int8)
    fixed = {"state": content.states.reshape(many, -1), "actions": actions, "optimal": rows.masks(content.optimal)}
    columns = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
        for name, values in fixed.items()
    }
    plain = {"n": content.count, "distance": content.distance, "length": content.length, "t": content.t}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({**columns, **{name: pa.array(values) for name, values in plain.items()}}), sink)
    return memoryview(sink.getvalue())


_IMAGE = ["bytes", "path"]


def _plain(kind: Any) -> Any:
    return kind.value_type if table.pa.types.is_dictionary(kind) else kind


def _features(schema: Any) -> dict[str, Any]:
    """What ``datasets`` should take the columns for."""
    features: dict[str, Any] = {"image": {"_type": "Image"}}
    features["actions"] = {"feature": {"dtype": "uint8", "_type": "Value"}, "_type": "List"}
    return {field.name: features.get(field.name, {"dtype": str(field.type), "_type": "Value"}) for field in schema}


def _webdataset(dataset: Dataset, split: str, content: LabelledRows, pictures: list[bytes]) -> bytes:
    """A tar with NNN.png and NNN.json per state; no names, times or owners of the machine in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for i, described in enumerate(_described(dataset, split, content)):
            key = f"{described['id'].replace('/', '_').replace(':', '_').replace('.', '-')}_{i:07d}"
            for ending, data in (("png", pictures[i]), ("json", json.dumps(described, sort_keys=True).encode())):
                info = tarfile.TarInfo(f"{key}.{ending}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _described(dataset: Dataset, split: str, content: LabelledRows) -> Iterator[dict[str, Any]]:
    """Each row in plain JSON values."""
    masks = rows.masks(content.optimal)
    for i, name in enumerate(dataset.ids(content)):
        distance = int(content.distance[i])
        yield {
            "id": name,
            "task": dataset.spec.task,
            "split": split,
            "kind": rows.KINDS[content.kind[i]],
            "t": int(content.t[i]),
            "length": int(content.length[i]),
            "state": content.states[i].tolist(),
            "distance": distance,
            "depths": [depth for depth in rows.DEPTHS if depth <= distance],
            "actions": content.actions[i, : content.count[i]].tolist(),
            "optimal": np.flatnonzero(masks[i]).tolist(),
        }


def _chat(dataset: Dataset, _split: str, content: LabelledRows, pictures: list[bytes]) -> bytes:
    """One conversation per (state, depth), pictures inside as data URLs: a file that needs no other file."""
    expanded, lines = samples.expand(content), []
    rules = TASKS[dataset.spec.task].rules
    urls = ["data:image/png;base64," + base64.b64encode(picture).decode() for picture in pictures]
    ids = dataset.ids(content)
    for row, depth, actions in zip(expanded.row, expanded.depth, expanded.actions, strict=True):
        question = f"{rules} " + _ANSWER.format(depth=depth, s="" if depth == 1 else "s")
        answer = json.dumps({"actions": [ACTIONS[a] for a in actions[:depth]]})
        lines.append(
            {
                "id": f"{ids[row]}#{int(content.t[row])}h{int(depth)}",
                "messages": [
                    {"role": "user", "content": f"<image>{question}"},
                    {"role": "assistant", "content": answer},
                ],
                "images": [urls[row]],
            }
        )
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


_ANSWER = 'Answer with the next {depth} action{s} as JSON: {{"actions": [...]}}.'

#: name -> (file ending, rows to bytes)
FORMS: dict[str, tuple[str, Callable[[Dataset, str, LabelledRows, list[bytes]], bytes | memoryview]]] = {
    "parquet": ("parquet", _parquet),
    "tensors": ("parquet", _tensors),
    "webdataset": ("tar", _webdataset),
    "chat": ("jsonl", _chat),
}
