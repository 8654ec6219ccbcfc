"""Commitment graphs as folders, read with numpy and pyarrow alone.

nodes.parquet    a row per node: state, distance, plan, stop, landing_1 .. landing_8, probabilities, logits, and
                 features and samples where they were kept, with disagreement where a look has several views
starts.parquet   a row per start: node, group
manifest.json    what it is: format, task, shape, depths, counts, where it is from, sha256 of every column's content
DIGESTS          sha256 of the three files, checked by whoever reads one

The content hash is made from the numbers, not from the Parquet bytes: equal graphs have equal hashes on every machine
and with every version of pyarrow.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data.table import pa, parsed, pq
from recommit.graph.graph import PLAN, CommitmentGraph
from recommit.puzzles import registry
from recommit.storage import errors, files, ownership, verified
from recommit.storage.lock import Lock
from recommit.version import VERSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "recommit commitment graph 1"
#: Graphs that come with the package.
EXAMPLES = Path(__file__).parent / "examples"
#: Columns that a graph may have or not.
EXTRA = ("features", "samples", "disagreement")
MANIFEST, NODES, STARTS = "manifest.json", "nodes.parquet", "starts.parquet"
#: More nodes than this are refused before anything is read: some 800 bytes of memory each.
MOST_NODES = 1 << 24
#: A file that is small and becomes large is a trap: so many bytes are nothing to wonder at, nor is so much growth.
MOST_UNSAID, MOST_GROWTH = 1 << 30, 100
#: The numbers of a column by their name in Arrow, and how many of them are in a row.
StoredType = tuple[str, int]
ANY_WIDTH = -1
START_TYPES: dict[str, StoredType] = {"node": ("int32", 1), "group": ("int32", 1)}
FIELDS = {
    "format": str,
    "task": str,
    "shape": [int],
    "depths": [int],
    "nodes": int,
    "starts": int,
    "content": str,
    "source": dict,
}


def write(graph: CommitmentGraph, folder: str | Path) -> dict[str, Any]:
    """Write a graph into a folder of its own and give back its manifest; one that holds the same graph is left as it
    is.
    """
    place = Path(folder).absolute()
    work = files.Files()
    files.make_folders(work, place)
    with Lock(place, work="graph"):
        ownership.take(work, place, (MANIFEST, NODES, STARTS), "a commitment graph")
        manifest = describe(graph)
        verified.write_digests(work, place, {})
        files.replace(work, place / NODES, _parquet(_node_columns(graph)))
        files.replace(work, place / STARTS, _parquet({"node": pa.array(graph.starts), "group": pa.array(graph.groups)}))
        files.replace(work, place / MANIFEST, (json.dumps(manifest, indent=2, allow_nan=False) + "\n").encode())
        verified.seal(work, place, (NODES, STARTS, MANIFEST))
    return manifest


def describe(graph: CommitmentGraph) -> dict[str, Any]:
    """The manifest of a graph."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": graph.task,
        "shape": list(graph.states.shape[1:]),
        "depths": list(graph.depths),
        "nodes": len(graph),
        "looked": int(graph.looked.sum()),
        "starts": len(graph.starts),
        "groups": len(np.unique(graph.groups)),
        "closed": graph.closed,
        "features": 0 if graph.features is None else graph.features.shape[1],
        "samples": 0 if graph.samples is None else graph.samples.shape[1],
        "content": content(graph),
        "source": graph.source,
    }


def content(graph: CommitmentGraph) -> str:
    """sha256 of everything but where it is from."""
    digest = hashlib.sha256(json.dumps([FORMAT, graph.task, list(graph.depths)]).encode())
    for name in (
        "states",
        "distance",
        "looked",
        "plans",
        "probabilities",
        "logits",
        "landing",
        "stop",
        "starts",
        "groups",
    ):
        _update(digest, name, getattr(graph, name))
    for name in EXTRA:  # a graph without them has the hash that it had before there were any
        if (column := getattr(graph, name)) is not None:
            _update(digest, name, column)
    return digest.hexdigest()


def _update(digest: Any, name: str, values: NDArray[Any]) -> None:
    column = np.ascontiguousarray(values)
    digest.update(f"{name} {column.dtype.str} {column.shape}".encode())
    digest.update(column.data)


def read(folder: str | Path) -> CommitmentGraph:
    """A graph from its folder, or an example by its name, ``sliding-2x3``; checked: files against their digests,
    numbers against the manifest, edges against each other."""
    place = Path(folder)
    if not place.exists() and (EXAMPLES / place).is_dir() and len(place.parts) == 1:
        place = EXAMPLES / place
    if not verified.exists(place, MANIFEST):
        raise errors.WrongFolder(
            f"graph: expected a folder that recommit graph build wrote, or sliding-2x3, got {folder}"
        )
    manifest = verified.values(place, MANIFEST, FIELDS)
    if manifest["format"] != FORMAT:
        raise errors.Damaged(f"{place / MANIFEST}: format: expected {FORMAT!r}, got {manifest['format']!r}")
    for many in ("nodes", "starts"):
        if not 1 <= manifest[many] <= MOST_NODES:
            raise errors.Damaged(f"{place / MANIFEST}: {many}: expected 1..{MOST_NODES:,}, got {manifest[many]:,}")
    nodes = _table(place, NODES, manifest["nodes"], _node_types(manifest))
    starts = _table(place, STARTS, manifest["starts"], START_TYPES)
    try:
        graph = _graph(manifest, nodes, starts)
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise errors.Damaged(f"{place}: no commitment graph: {error}") from None
    if content(graph) != manifest["content"]:
        raise errors.Damaged(f"{place}: content: expected {manifest['content']}, got {content(graph)}")
    return graph


def _table(folder: Path, name: str, rows: int, types: dict[str, StoredType]) -> pa.Table:
    """The columns of a file, refused before they are read if they are others, or would fill the memory."""
    data, path = verified.content(folder, name), folder / name
    try:
        stored, schema = pq.read_metadata(pa.BufferReader(data)).num_rows, pq.read_schema(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise errors.Damaged(f"{path}: cannot be read: {error}") from None
    if stored != rows:
        raise errors.Damaged(f"{path}: expected {rows:,} rows as {MANIFEST} says, got {stored:,}")
    columns = {field.name: _stored_type(field.type) for field in schema}
    if wrong := [column for column, kind in columns.items() if not _alike(kind, types.get(column))]:
        raise errors.Damaged(f"{path}: {wrong[0]}: expected a column of a commitment graph, got {columns[wrong[0]]}")
    size = rows * sum(8 * width for _, width in columns.values())
    if size > max(MOST_UNSAID, MOST_GROWTH * len(data)):
        raise errors.Damaged(f"{path}: expected at most {MOST_GROWTH} times its size, got {size:,} bytes unpacked")
    return parsed(path, data)


def _stored_type(kind: pa.DataType) -> StoredType:
    listed = pa.types.is_fixed_size_list(kind)
    return (str(kind.value_type), kind.list_size) if listed else (str(kind), 1)


def _alike(kind: StoredType, wanted: StoredType | None) -> bool:
    return wanted is not None and kind[0] == wanted[0] and wanted[1] in (ANY_WIDTH, kind[1])


def _node_types(manifest: dict[str, Any]) -> dict[str, StoredType]:
    """What a column of the nodes may be: its numbers, and how many of them are in a row."""
    landings = {f"landing_{h + 1}": ("int32", 1) for h in range(PLAN)}
    return {
        "state": ("uint8", math.prod(manifest["shape"])),
        "distance": ("int16", 1),
        "looked": ("bool", 1),
        "plan": ("uint8", PLAN),
        "stop": ("uint8", 1),
        **landings,
        "probabilities": ("float", PLAN * 4),
        "logits": ("float", len(manifest["depths"])),
        "features": ("float", ANY_WIDTH),
        "disagreement": ("float", ANY_WIDTH),
        "samples": ("uint8", ANY_WIDTH),
    }


def _node_columns(graph: CommitmentGraph) -> dict[str, pa.Array]:
    flat = graph.states.reshape(len(graph), -1)
    columns = {name: getattr(graph, name) for name in EXTRA}
    more = {name: _lists(column.reshape(len(graph), -1)) for name, column in columns.items() if column is not None}
    landings = {f"landing_{h + 1}": pa.array(np.ascontiguousarray(graph.landing[:, h])) for h in range(PLAN)}
    return {
        "state": _lists(flat),
        "distance": pa.array(graph.distance.astype(np.int16)),
        "looked": pa.array(graph.looked),
        "plan": _lists(graph.plans),
        "stop": pa.array(graph.stop),
        **landings,
        "probabilities": _lists(graph.probabilities.reshape(len(graph), -1)),
        "logits": _lists(graph.logits),
        **more,
    }


def _lists(rows: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).ravel()), rows.shape[1])


def _parquet(columns: dict[str, pa.Array]) -> memoryview:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd", compression_level=9, use_dictionary=False)
    return buffer.getbuffer()


def _graph(manifest: dict[str, Any], nodes: pa.Table, starts: pa.Table) -> CommitmentGraph:
    rows, columns = manifest["shape"]
    many = len(nodes)
    depths = tuple(manifest["depths"])
    registry.puzzle(manifest["task"])  # refuses what is none
    return CommitmentGraph(
        task=manifest["task"],
        depths=depths,
        states=_matrix(nodes, "state", np.uint8).reshape(many, rows, columns),
        distance=_column(nodes, "distance", np.int32),
        looked=_column(nodes, "looked", np.bool_),
        plans=_matrix(nodes, "plan", np.uint8),
        probabilities=_finite(nodes, "probabilities").reshape(many, PLAN, 4),
        logits=_finite(nodes, "logits").reshape(many, len(depths)),
        landing=np.stack([_column(nodes, f"landing_{h + 1}", np.int32) for h in range(PLAN)], axis=1),
        stop=_column(nodes, "stop", np.uint8),
        starts=_column(starts, "node", np.int32),
        groups=_column(starts, "group", np.int32),
        source=manifest["source"],
        **{name: _finite(nodes, name) for name in ("features", "disagreement") if name in nodes.column_names},
        samples=_matrix(nodes, "samples", np.uint8).reshape(many, -1, PLAN)
        if "samples" in nodes.column_names
        else None,
    )


def _column(table: pa.Table, name: str, kind: type) -> NDArray[Any]:
    column = table[name]
    if column.null_count:
        raise ValueError(f"{name}: expected no nulls, got {column.null_count}")
    return np.ascontiguousarray(column.to_numpy(), dtype=kind)


def _matrix(table: pa.Table, name: str, kind: type) -> NDArray[Any]:
    column = table[name].combine_chunks()
    values = column.flatten()
    if column.null_count or values.null_count:
        raise ValueError(f"{name}: expected no nulls, got some")
    width = column.type.list_size
    return np.ascontiguousarray(values.to_numpy(), dtype=kind).reshape(len(column), width)


def _finite(table: pa.Table, name: str) -> NDArray[np.float32]:
    numbers = _matrix(table, name, np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: expected finite numbers, got infinity or NaN")
    return numbers
