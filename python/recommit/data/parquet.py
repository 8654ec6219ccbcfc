"""Rows as Arrow tables and Parquet bytes, which are deterministic for one version of pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import rows
from recommit.data.rows import LabelledRows
from recommit.storage import errors
from recommit.storage.safe_open import content

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise errors.need("pyarrow", "data") from None

__all__ = ["pa", "pq"]  # re-exported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec

#: Rows per row group, the unit of loading.
GROUP = 16384
#: Most bytes of states per file: Arrow's offsets are 32-bit.
_MOST_BYTES = 2**31 - 1
#: Decompression bombs: files beyond both this unpacked size and this ratio are refused.
MOST_UNSAID, MOST_GROWTH = 1 << 30, 100
#: Arrow types of text.
_TEXTS = (pa.string(), pa.binary())

#: name -> (Arrow type, description), in file order. Printed in the data card.
COLUMNS = {
    "id": (pa.string(), "instance the state belongs to: task/difficulty/seed/number"),
    "task": (pa.string(), "the puzzle"),
    "difficulty": (pa.string(), "size, and boxes and range of lengths of the instance"),
    "split": (pa.string(), "`train`, `validation` or `test`; by the start of the instance, or as published"),
    "kind": (
        pa.string(),
        "`expert` (on the expert path), `perturbed` (off it) or `on-policy` (brought to be labelled)",
    ),
    "length": (pa.int16(), "optimal length of the instance"),
    "t": (pa.uint16(), "actions drawn since the start of the instance"),
    "rows": (pa.uint8(), "rows of the grid"),
    "cols": (pa.uint8(), "columns of the grid"),
    "state": (pa.binary(), "the grid, one byte per cell, row by row"),
    "distance": (pa.int16(), "exact number of actions to the goal; -1 = dead, the goal is out of reach"),
    "dead": (pa.bool_(), "is the goal out of reach?"),
    "optimal": (pa.uint8(), "bit a is set iff action a starts an optimal solution"),
    "actions": (pa.list_(pa.int8()), "the next 8 expert actions: 0 up, 1 down, 2 left, 3 right; -1 behind the last"),
}
#: Dictionary-encoded columns, with few distinct values; for the others plain encoding is smaller and faster.
_CODED = ["id", "task", "difficulty", "split", "kind", "optimal", "actions.list.element"]


def to_table(spec: DataSpec, split: str, content: LabelledRows) -> pa.Table:
    """The rows as an Arrow table with ``COLUMNS``."""
    n = len(content)
    size = np.full(n, spec.size[0], np.uint8), np.full(n, spec.size[1], np.uint8)
    columns = {
        "id": _ids(spec, content),
        "task": _constant(n, spec.task),
        "difficulty": _coded(content.difficulty, spec.difficulty_names),
        "split": _constant(n, split),
        "kind": _coded(content.kind, list(rows.KINDS)),
        "length": _plain(content.length),
        "t": _plain(content.t),
        "rows": _plain(size[0]),
        "cols": _plain(size[1]),
        "state": _binary(content.states),
        "distance": _plain(content.distance),
        "dead": _bits(content.dead),
        "optimal": _plain(content.optimal),
        "actions": _lists(content.actions),
    }
    return pa.table(columns)


def _constant(n: int, word: str) -> pa.Array:
    return _coded(np.zeros(n, np.int8), [word])


def _plain(column: NDArray[Any]) -> pa.Array:
    """Numbers without conversion. (`pa.array` would first import pandas, if installed, which takes a second.)"""
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, pa.py_buffer(column)])


def _bits(column: NDArray[np.bool_]) -> pa.Array:
    packed = np.packbits(column, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(column), [None, pa.py_buffer(packed)])


def _coded(codes: NDArray[Any], words: list[str]) -> pa.Array:
    encoded = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.DictionaryArray.from_arrays(_plain(codes), pa.Array.from_buffers(pa.string(), len(words), buffers))


def _ids(spec: DataSpec, content: LabelledRows) -> pa.Array:
    """Instance ids, one string per run of equal numbers: rows of one instance are adjacent."""
    if not len(content):
        return _constant(0, "")
    same = (content.instance[1:] == content.instance[:-1]) & (content.difficulty[1:] == content.difficulty[:-1])
    first = np.concatenate([[True], ~same])
    words = spec.ids(content.difficulty[first].tolist(), content.instance[first].tolist())
    return _coded((np.cumsum(first) - 1).astype(np.int32), words)


def _binary(states: NDArray[np.uint8]) -> pa.Array:
    n, cells = len(states), int(np.prod(states.shape[1:]))
    offsets = np.arange(n + 1, dtype=np.int64) * cells
    if offsets[-1] > _MOST_BYTES:
        raise errors.WrongDataSpec(f"shard: expected states of at most 2 GiB in one file, got {offsets[-1]} bytes")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(states))]
    return pa.Array.from_buffers(pa.binary(), n, buffers)


def _lists(actions: NDArray[np.uint8]) -> pa.Array:
    """Lists of fixed length eight, so that they can be stacked into batches; ``NO_ACTION`` becomes -1."""
    offsets = np.arange(len(actions) + 1, dtype=np.int32) * rows.NEXT
    return pa.ListArray.from_arrays(_plain(offsets), _plain(np.ascontiguousarray(actions).view(np.int8).ravel()))


def encode(table: pa.Table) -> memoryview:
    """Deterministic Parquet bytes: fixed settings, no Arrow schema, no time or machine metadata."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=GROUP,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=1,
        use_dictionary=_CODED,
        write_statistics=["length", "t", "distance"],
        store_schema=False,
    )
    return memoryview(sink.getvalue())


#: Columns that `decode` reads, text first; the others are constant or derived.
_WORDS = ("id", "kind", "difficulty")
_READ = [*_WORDS, "length", "t", "state", "distance", "optimal", "actions"]


def decode(spec: DataSpec, table: pa.Table) -> LabelledRows:
    """The rows of a table that was read with columns ``_READ`` and dictionary-encoded text."""
    column = {name: table[name].unify_dictionaries().combine_chunks() for name in _READ}
    if any(array.null_count for array in column.values()):
        raise errors.Damaged("a shard has nulls in it")
    width = spec.size[0] * spec.size[1]
    cells = column["state"].cast(pa.binary(width))
    states = np.frombuffer(cells.buffers()[1] or b"", np.uint8)[cells.offset * width :][: len(cells) * width]
    flat = _numpy(column["actions"].cast(pa.list_(pa.int8(), rows.NEXT)).flatten())
    actions = flat.view(np.uint8).reshape(-1, rows.NEXT)
    distance, optimal = _numpy(column["distance"]), _numpy(column["optimal"])
    count = np.clip(distance, 0, rows.NEXT).astype(np.uint8)
    there = np.arange(rows.NEXT) < count[:, None]
    if ((actions < 4) != there).any() or (actions[~there] != rows.NO_ACTION).any() or (optimal > 15).any():
        raise errors.Damaged("a shard has actions that there are not")
    return LabelledRows(
        instance=_numbers(column["id"], lambda word: int(word.rpartition("/")[2])),
        difficulty=_numbers(column["difficulty"], spec.difficulty_names.index).astype(np.uint8),
        length=_numpy(column["length"]),
        t=_numpy(column["t"]),
        kind=_numbers(column["kind"], rows.KINDS.index).astype(np.uint8),
        states=states.reshape(-1, *spec.size),
        distance=distance,
        optimal=optimal,
        count=count,
        actions=actions,
    )


def _numpy(array: pa.Array) -> NDArray[Any]:
    """The values of an integer array, without a copy, and without pandas, which pyarrow before 26 needs to map a type
    to numpy."""
    dtype = np.dtype(str(array.type))
    return np.frombuffer(array.buffers()[1] or b"", dtype)[array.offset :][: len(array)]


def _numbers(column: pa.DictionaryArray, number_of: Callable[[str], int]) -> NDArray[np.int64]:
    """Map the words of a dictionary-encoded column to numbers."""
    lookup = np.array([number_of(word) for word in column.dictionary.to_pylist()], np.int64)
    return lookup[_numpy(column.indices)]


def reader(source: Any) -> pq.ParquetFile:
    """Open a Parquet file for `decode`; checks its columns and the size of its row groups."""
    if isinstance(source, str | Path):
        source = pa.BufferReader(content(source))
    try:
        file = pq.ParquetFile(source, read_dictionary=list(_WORDS), memory_map=False)
    except KeyError as error:
        raise pa.ArrowInvalid(f"expected a column {error}, got none") from None
    for name in _READ:
        kind, wanted = [each.type for each in file.schema_arrow if each.name == name], COLUMNS[name][0]
        wanted = pa.dictionary(pa.int32(), wanted) if name in _WORDS else wanted
        if kind != [wanted]:
            raise pa.ArrowInvalid(f"expected a column {name} of {wanted}, got {', '.join(map(str, kind)) or 'none'}")
    for group in range(file.num_row_groups):
        if (many := file.metadata.row_group(group).num_rows) > GROUP:
            raise pa.ArrowInvalid(f"expected groups of at most {GROUP:,} rows, got one of {many:,}")
    return file


def read_groups(spec: DataSpec, file: pq.ParquetFile, groups: list[int]) -> LabelledRows:
    """Rows of the given row groups of a file, in that order."""
    size = sum(file.metadata.row_group(group).num_rows for group in groups) * spec.size[0] * spec.size[1]
    if size > _MOST_BYTES:
        raise errors.Damaged(f"a shard cannot be decoded: expected states of at most 2 GiB, got {size:,} bytes")
    try:
        return decode(spec, file.read_row_groups(groups, columns=_READ, use_threads=False))
    except MemoryError:  # Arrow's is an ArrowException as well
        raise
    except (OSError, ValueError, KeyError, IndexError, OverflowError, pa.ArrowException) as error:
        raise errors.Damaged(f"a shard cannot be decoded: {error}") from error


def refuse_trap(file: pq.ParquetFile, size: int) -> None:
    """Refuse a decompression bomb of ``size`` bytes before its columns are read: any number of equal values compress to
    almost nothing."""
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    chunks = [(group, group.column(number)) for group in groups for number in range(group.num_columns)]
    unpacked = sum(max(8 * group.num_rows, 8 * c.num_values, c.total_uncompressed_size) for group, c in chunks)
    unpacked += sum(map(_bytes_of_lists, file.schema_arrow)) * file.metadata.num_rows
    if unpacked > max(MOST_UNSAID, MOST_GROWTH * size):
        raise pa.ArrowInvalid(f"expected at most {MOST_GROWTH} times its size, got {unpacked:,} bytes unpacked")


def _bytes_of_lists(field: pa.Field) -> int:
    """Bytes per row of a column of fixed-size lists, where nulls take the same space; else 0. Text within lists and
    other nested types are refused: they cannot be dictionary-encoded."""
    kind = field.type
    inner = kind.value_type if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) else kind
    if not (pa.types.is_primitive(inner) or pa.types.is_null(kind) or pa.types.is_dictionary(kind) or kind in _TEXTS):
        raise pa.ArrowInvalid(f"expected columns of numbers, lists of numbers, or texts, got {field.name}: {kind}")
    return int(kind.list_size) * inner.bit_width // 8 if pa.types.is_fixed_size_list(kind) else 0


def parsed(path: Path, data: bytes) -> pa.Table:
    """Parse a Parquet file, with dictionary-encoded text; decompression bombs are refused first. ``path`` is for error
    messages."""
    try:
        refuse_trap(file := pq.ParquetFile(pa.BufferReader(data)), len(data))
        words = [field.name for field in file.schema_arrow if field.type in _TEXTS]
        return pq.ParquetFile(pa.BufferReader(data), read_dictionary=words).read()
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise errors.Damaged(f"{path}: cannot be read: {error}") from None


def columns(path: Path, table: pa.Table, kinds: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Columns of a parsed table by name; refuses nulls and types other than those in ``kinds``."""
    result = {}
    for name, kind in kinds.items():
        types = [field.type for field in table.schema if field.name == name]
        found = [str(each.value_type if pa.types.is_dictionary(each) else each) for each in types]
        if found != [kind] or table[name].null_count:
            got = f"{', '.join(found)}{' with nulls' if found == [kind] else ''}" or "none"
            raise errors.Damaged(f"{path}: expected a column {name} of {kind}, got {got}")
        column = table[name].unify_dictionaries().combine_chunks()
        coded = pa.types.is_dictionary(column.type)
        result[name] = _every_word(column) if coded else column.to_numpy(zero_copy_only=False)
    return result


def _every_word(column: pa.DictionaryArray) -> NDArray[Any]:
    words = np.empty(len(column.dictionary), object)
    words[:] = column.dictionary.to_pylist()
    return words[_numpy(column.indices)]


def within(path: Path, name: str, values: NDArray[Any], low: int, high: int) -> None:
    """Refuse values of a column outside ``low``..``high``."""
    if wrong := values[(values < low) | (values > high)][:1].tolist():
        raise errors.Damaged(f"{path}: {name}: expected numbers {low}..{high}, got {wrong[0]}")
