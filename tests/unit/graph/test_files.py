"""Commitment graphs as folders: what is written is read, and anything else is a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.graph import cases

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq

from recommit.graph import files
from recommit.storage import errors, verified
from recommit.storage.files import Files

COLUMNS = ("states", "distance", "planned", "plans", "executed", "landing", "probs", "logits", "starts", "groups")


@pytest.fixture(scope="module")
def graph():
    return cases.some("sokoban", 4)


def test_what_is_written_is_read(graph, tmp_path):
    manifest = files.write(graph, tmp_path / "graph")
    again = files.read(tmp_path / "graph")
    for name in COLUMNS:
        assert np.array_equal(getattr(again, name), getattr(graph, name)), name
        assert getattr(again, name).dtype == getattr(graph, name).dtype, name
    assert (again.task, again.head_depths, again.source) == (graph.task, graph.head_depths, graph.source)
    assert manifest["content"] == files.content(again)
    assert manifest["closed"]


def test_the_content_hash_knows_every_column(graph):
    for column in COLUMNS:
        array = getattr(graph, column).copy()
        array.flat[0] = array.flat[-1] if array.flat[0] != array.flat[-1] else 1 - array.flat[0]
        assert files.content(cases.changed(graph, **{column: array})) != files.content(graph), column


def test_without_digests_the_content_is_checked(graph, tmp_path):
    files.write(graph, tmp_path)
    other = cases.changed(graph, plans=3 - graph.plans)
    files.write(other, tmp_path / "other")
    (tmp_path / verified.DIGESTS).unlink()
    (tmp_path / files.NODES).write_bytes((tmp_path / "other" / files.NODES).read_bytes())
    with pytest.raises(errors.Damaged, match="content: expected"):
        files.read(tmp_path)


OTHER_MANIFESTS = [
    ({"format": "another 7"}, "format: expected 'recommit commitment graph 1', got 'another 7'"),
    ({"nodes": 10**12}, "nodes: expected 1..16,777,216, got 1000000000000"),
    ({"nodes": 3}, "expected 3 rows as manifest.json says"),
    ({"task": "chess"}, "task: expected one of sliding, sokoban, ice, got 'chess'"),
    ({"shape": [7, 7]}, "states: expected a column of a commitment graph"),
    ({"head_depths": [8, 4, 2, 1]}, "depths: expected each once, ascending"),
]


def test_a_manifest_that_says_something_else_is_refused(tmp_path):
    files.write(cases.some("sliding", 2), tmp_path)
    whole = json.loads((tmp_path / files.MANIFEST).read_text())
    for changes, words in OTHER_MANIFESTS:
        (tmp_path / files.MANIFEST).write_text(json.dumps(whole | changes))
        verified.seal(Files(), tmp_path, (files.NODES, files.STARTS, files.MANIFEST))
        refused([(lambda: files.read(tmp_path), words)], errors.Damaged)


def replaced(graph, place, **columns):
    """The folder of a graph, with other columns in its nodes and nobody's digests."""
    files.write(graph, place)
    (place / verified.DIGESTS).unlink()
    nodes = pq.read_table(place / files.NODES)
    names = dict.fromkeys([*nodes.column_names, *columns])
    pq.write_table(
        pa.table({name: columns.get(name, nodes[name] if name in nodes.column_names else None) for name in names}),
        place / files.NODES,
    )
    return place


def test_columns_of_another_kind_are_refused(graph, tmp_path):
    many, rows = len(graph), []
    for number, value in enumerate(["x", None, 2.0**60, [1]]):
        for column in ("states", "landing", "another"):
            place = replaced(graph, tmp_path / f"{column} {number}", **{column: pa.array([value] * many)})
            words = f"{column}: expected a column of a commitment graph, got"
            rows.append((lambda place=place: files.read(place), words))
    logits = pa.FixedSizeListArray.from_arrays(pa.array(np.full(4 * many, np.nan, np.float32)), 4)
    infinite = replaced(graph, tmp_path / "nan", logits=logits)
    refused([*rows, (lambda: files.read(infinite), "logits: expected finite numbers")], errors.Damaged)
