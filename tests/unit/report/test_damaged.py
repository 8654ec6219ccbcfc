"""L7: well-formed JSON and tables with other values in them: a page, or a sentence that names the file and what was
expected."""

from __future__ import annotations

import io
import json
import random
import shutil

import pyarrow.parquet as pq
import pytest
from tests.unit.data.foreign_tables import changed as changed_table

from recommit.cli import main

VALUES = (None, True, -1, 2**70, 10**400, 1.5, float("nan"), "", "../x", [], {}, [[]], {"x": 0})
FILES = ("plan.json", "summary.json", "comparisons.json")
TABLES = ("instances.parquet", "episodes.parquet", "decisions/adaptive@6.parquet", "decisions/shuffled@6-s0.parquet")


def places(value, path=()):
    """The path to every value, in objects and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [place for key, inner in items for place in places(inner, (*path, key))]


def changed(value, path, new):
    """The same but for one value; ``places`` is told to drop it by ``...``."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    if copy[path[0]] is ...:
        del copy[path[0]]
    return copy


def mutations(folder, count, seed):
    """(file, place, content) at random: a value exchanged or left out."""
    rng = random.Random(seed)
    for _ in range(count):
        name = rng.choice(FILES)
        whole = json.loads((folder / name).read_text())
        path = rng.choice(places(whole))
        value = changed(whole, path, rng.choice(VALUES if not path else (*VALUES, ...)))
        yield name, path, json.dumps(value).encode()


def tables(folder, count, seed):
    """The same of tables."""
    rng = random.Random(seed)
    for number in range(count):
        name, buffer = rng.choice(TABLES), io.BytesIO()
        pq.write_table(changed_table(rng, pq.read_table(folder / name)), buffer)
        yield name, number, buffer.getvalue()


def check(folder, tmp_path, capsys, kind, count, seed):
    for name, place, data in kind(folder, count, seed):
        copy = shutil.copytree(folder, tmp_path / "eval")
        (copy / name).write_bytes(data)
        status = main(["report", str(copy), "--out", str(tmp_path / "page.html"), "--instances", "4", "--quiet"])
        said = capsys.readouterr().err
        shutil.rmtree(copy)
        where = f"seed {seed}, {name} {place}: {said}"
        assert status in (0, 1, 2), where
        named = any(file in said for file in (*FILES, *TABLES))  # the plan and the rows may contradict each other
        assert status == 0 or (said.startswith("recommit: ") and named and "Error" not in said), where


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("kind", [mutations, tables])
def test_some(kind, evaluations, tmp_path, capsys, record_property):
    record_property("executed", 40)
    check(evaluations["sliding"], tmp_path, capsys, kind, 40, seed=0)


@pytest.mark.nightly
@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("kind", [mutations, tables])
def test_many(kind, evaluations, tmp_path, capsys, record_property):
    record_property("executed", 1000)
    check(evaluations["sliding"], tmp_path, capsys, kind, 1000, seed=1)
