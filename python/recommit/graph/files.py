"""Commitment graphs as folders, read with numpy and pyarrow alone.

nodes.parquet    a row per node: state, distance, planned, plan, executed, landing, probs, logits, and features and
                 samples where they were kept
starts.parquet   a row per start: node, group
manifest.json    format, task, shape, depths, counts, source, sha256 of the content of all columns
DIGESTS          sha256 of the three files, checked on reading one

The content hash is made from the numbers, not from the Parquet bytes: equal graphs have equal hashes on every machine
and with every version of pyarrow.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit.data.parquet import pa, parsed, pq
from recommit.graph.graph import ALL_DEPTHS, PLAN, CommitmentGraph
from recommit.graph.options import MOST_BUDGET
from recommit.puzzles import registry
from recommit.storage import errors, files, ownership, verified
from recommit.storage.lock import Lock
from recommit.storage.recipe_text import cut
from recommit.version import VERSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "recommit commitment graph 1"
#: Graphs that come with the package.
EXAMPLES = Path(__file__).parent / "examples"
#: Arrays of a graph by node, named like its fields: their dtype in the file, and the values per row; 0 where the
#: manifest decides it, ``ANY_WIDTH`` for an array that a graph may lack.
ANY_WIDTH = -1
Columns: TypeAlias = "dict[str, tuple[type[np.generic], int]]"
COLUMNS: Columns = {
    "states": (np.uint8, 0),
    "distance": (np.int32, 1),
    "planned": (np.bool_, 1),
    "plans": (np.uint8, PLAN),
    "executed": (np.int8, PLAN),
    "landing": (np.int32, PLAN),
    "probs": (np.float32, PLAN * 4),
    "logits": (np.float32, 0),
    "features": (np.float32, ANY_WIDTH),
    "samples": (np.uint8, ANY_WIDTH),
}
START_COLUMNS: Columns = {"starts": (np.int32, 1), "groups": (np.int32, 1)}
MANIFEST, NODES, STARTS = "manifest.json", "nodes.parquet", "starts.parquet"
#: More nodes than this are refused before anything is read: some 800 bytes of memory each.
MOST_NODES = 1 << 24
FIELDS = {
    "format": verified.exactly(FORMAT),
    "task": str,
    "shape": [int],
    "head_depths": [verified.within(1, PLAN)],
    "budget": verified.within(0, MOST_BUDGET),
    "nodes": verified.within(1, MOST_NODES),
    "starts": verified.within(1, MOST_NODES),
    "content": str,
    "source": dict,
}


def write(graph: CommitmentGraph, folder: str | Path) -> dict[str, Any]:
    """Write a graph into a folder of its own, in the place of any graph there; returns its manifest."""
    place = Path(folder).absolute()
    work = files.Files()
    files.make_folders(work, place)
    with Lock(place, work="graph"):
        ownership.refuse_foreign(place, (MANIFEST, NODES, STARTS), "a commitment graph")
        files.sweep(work, place)
        manifest = describe(graph)
        verified.write_digests(work, place, {})
        files.replace(work, place / NODES, _parquet(graph, COLUMNS))
        files.replace(work, place / STARTS, _parquet(graph, START_COLUMNS))
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
        "head_depths": list(graph.head_depths),
        "budget": graph.budget,
        "nodes": len(graph),
        "planned": int(graph.planned.sum()),
        "starts": len(graph.starts),
        "groups": len(np.unique(graph.groups)),
        "closed": graph.closed,
        "features": 0 if graph.features is None else graph.features.shape[1],
        "samples": 0 if graph.samples is None else graph.samples.shape[1],
        "content": content(graph),
        "source": graph.source,
    }


def content(graph: CommitmentGraph) -> str:
    """sha256 of the task, the head's depths and all arrays; not of ``source`` or ``budget``."""
    digest = hashlib.sha256(json.dumps([FORMAT, graph.task, list(graph.head_depths)]).encode())
    for name, (kind, _) in (COLUMNS | START_COLUMNS).items():
        if (column := getattr(graph, name)) is not None:
            values = np.ascontiguousarray(column.astype(kind, copy=False))
            digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
            digest.update(values.data)
    return digest.hexdigest()


def read(folder: str | Path) -> CommitmentGraph:
    """Read a graph from its folder, or an example by its name, ``sliding-2x3``. Checks the files against their digests,
    the arrays against the manifest, and the edges."""
    place = Path(folder)
    if not place.exists() and (EXAMPLES / place).is_dir() and len(place.parts) == 1:
        place = EXAMPLES / place
    if not verified.exists(place, MANIFEST):
        raise errors.WrongFolder(
            f"graph: expected a folder that recommit graph build wrote, or sliding-2x3, got {folder}"
        )
    manifest = verified.values(place, MANIFEST, FIELDS)
    try:
        graph = _graph(manifest, place)
    except errors.DataError:
        raise
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise errors.Damaged(f"{place}: no commitment graph: {cut(str(error))}") from None
    if content(graph) != manifest["content"]:
        raise errors.Damaged(f"{place}: content: expected {manifest['content'][:64]}, got {content(graph)}")
    return graph


def _arrays(folder: Path, name: str, rows: int, kinds: Columns, widths: dict[str, int]) -> dict[str, NDArray[Any]]:
    """Read the columns of a file by name; raises on columns that do not belong to a graph."""
    path = folder / name
    table = parsed(path, verified.content(folder, name))
    if table.num_rows != rows:
        raise errors.Damaged(f"{path}: expected {rows:,} rows as {MANIFEST} says, got {table.num_rows:,}")
    result = {}
    for column in table.column_names:
        kind, width = kinds.get(column, (np.void, 0))
        result[column] = _array(column, table[column], kind, widths.get(column, width))
    return result


def _parquet(graph: CommitmentGraph, kinds: Columns) -> memoryview:
    columns = {}
    for name, (kind, width) in kinds.items():
        if (array := getattr(graph, name)) is not None and array.shape[1:] != (0,) and (array.size or not len(graph)):
            flat = pa.array(np.ascontiguousarray(array, dtype=kind).ravel())
            rows = max(len(array), 1)
            columns[name] = flat if width == 1 else pa.FixedSizeListArray.from_arrays(flat, array.size // rows)
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd", compression_level=9, use_dictionary=False)
    return buffer.getbuffer()


def _graph(manifest: dict[str, Any], place: Path) -> CommitmentGraph:
    kind = registry.puzzle(manifest["task"])  # raises if there is none
    if len(manifest["shape"]) != 2:
        raise ValueError(f"shape: expected rows and columns of a puzzle, got {manifest['shape']}")
    widths = {"states": math.prod(manifest["shape"]), "logits": len(manifest["head_depths"])}
    arrays = _arrays(place, NODES, manifest["nodes"], COLUMNS, widths)
    if missing := {"states", "plans", "probs", "logits"} - arrays.keys():
        raise ValueError(f"nodes: expected states, plans, probs and logits, got none of {min(missing)}")
    shapes = {"states": manifest["shape"], "probs": [PLAN, 4], "samples": [-1, PLAN]}
    arrays |= {name: array.reshape(len(array), *shapes[name]) for name, array in arrays.items() if name in shapes}
    goal = kind.of_states(tuple(manifest["shape"])).is_solved(arrays["states"])  # raises on invalid states
    if (goal != (arrays["distance"] == 0)).any():
        raise ValueError("distance: expected 0 at goals and nowhere else, got others")
    return CommitmentGraph(
        depths=ALL_DEPTHS,
        goal=goal,
        task=manifest["task"],
        head_depths=tuple(manifest["head_depths"]),
        budget=manifest["budget"],
        source=manifest["source"],
        **arrays,
        **_arrays(place, STARTS, manifest["starts"], START_COLUMNS, {}),
    )


def _array(name: str, stored: pa.ChunkedArray, kind: type[np.generic], width: int) -> NDArray[Any]:
    column = stored.combine_chunks()
    listed = pa.types.is_fixed_size_list(column.type)
    values, many = (column.flatten(), column.type.list_size) if listed else (column, 1)
    if kind is np.void or values.type != pa.from_numpy_dtype(kind) or width not in (ANY_WIDTH, many):
        raise ValueError(f"{name}: expected a column of a commitment graph, got {column.type}")
    if column.null_count or values.null_count:
        raise ValueError(f"{name}: expected no nulls, got some")
    result = np.ascontiguousarray(values.to_numpy(zero_copy_only=False), dtype=kind)
    if result.dtype.kind == "f" and not np.isfinite(result).all():
        raise ValueError(f"{name}: expected finite numbers, got infinity or NaN")
    return result.reshape(len(column), many) if listed else result
