"""What foreign or damaged files may do to their readers: raise a typed error, quickly, and nothing else.

Every reader of the package gets good files with random damage: bytes flipped, cut, doubled, joined with tokens of the
format; and for JSON also well-formed files with values exchanged. Each batch runs in a child of its own, so that a
crash is a finding too.
"""

from __future__ import annotations

import json
import os
import random
import resource
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.parquet as pq
from tests.effort import unit
from tests.unit.data.foreign_tables import changed
from tests.unit.storage.test_files import PLAN, reseal

from recommit import ACTIONS
from recommit.data import manifest, shards
from recommit.data.builder import build
from recommit.data.dataset import open_folder
from recommit.data.spec import DataSpec
from recommit.storage import errors, lock
from recommit.storage.files import Files, sha256

TOKENS = [b"{", b"}", b"[", b"]", b'"', b"null", b"-1", b"1e999", b"NaN", b"\x00", b"\xff\xff\xff\x7f", b"PAR1", b"\n"]
TOKENS += [b"!!python/object/apply:os.system", b"&a", b"*a", b"9" * 40, b"../", b"\\u0000", b"true", b": ", b"- "]
VALUES = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**40,
    1.5,
    float("inf"),
    "",
    "../x",
    "\x00",
    "x" * 5000,
    [],
    {},
    [[]],
    {"": 0},
]
#: Units of tests/effort.py per file, half a millisecond or so each; bytes above what the process had before.
EFFORT, BYTES = 2000, 256 << 20


def damaged(rng, data):
    """Some bytes that are not quite the given ones."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 8, 64])
        piece = {
            "flip": lambda part: bytes(byte ^ (1 << rng.randrange(8)) for byte in part),
            "cut": lambda _part: b"",
            "double": lambda part: part + part,
            "token": lambda _part: rng.choice(TOKENS),
            "zeros": lambda part: bytes(len(part)),
        }[rng.choice(["flip", "flip", "cut", "double", "token", "zeros"])](bytes(data[at : at + length]))
        data[at : at + length] = piece
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)


def exchanged(rng, value, probs=0.05):
    """The same JSON with some values exchanged, keys lost, items doubled."""
    if rng.random() < probs:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        return {key: exchanged(rng, item, probs) for key, item in value.items() if rng.random() > probs / 4}
    if isinstance(value, list):
        items = [exchanged(rng, item, probs) for item in value]
        return items * 2 if rng.random() < probs / 2 else items
    return value


def readers(good, scratch):
    """name -> (seed files, how one is read)."""
    plain, text = json.loads((good / manifest.NAME).read_text()), (good / manifest.NAME).read_bytes()
    record = shards.Record(**plain["shards"][0])
    (scratch / "data").mkdir(exist_ok=True)

    def write(name, data):
        (scratch / name).write_bytes(data)

    def read_manifest(data):
        write(manifest.NAME, data)
        open_folder(scratch, None)

    def read_resealed(data):
        values = exchanged(random.Random(data), plain)
        if isinstance(values, dict):
            reseal(scratch, values)
            open_folder(scratch, None)

    def read_journal(data):
        write(shards.JOURNAL, data)
        shards.read_journal(scratch)

    def read_lock(data):
        write(lock.NAME, data)
        with lock.Lock(scratch, patience=0.01):
            pass

    def read_shard(data):
        write(record.name, data)
        shards.read(scratch, PLAN, record)

    def read_changed(data):
        rng, table = random.Random(data), pq.read_table(good / record.name)
        for _ in range(rng.choice([1, 1, 2])):
            table = changed(rng, table)
        pq.write_table(table, scratch / record.name)
        data = (scratch / record.name).read_bytes()
        fits = replace(record, sha256=sha256(data), bytes=len(data), rows=len(table))
        content = shards.read(scratch, PLAN, fits)
        for actions, count, mask in zip(content.actions, content.count, content.optimal, strict=True):
            _ = [ACTIONS[each] for each in actions[:count]], np.arange(16)[mask]

    yaml = b"task: sokoban\nsize: [6, 6]\ndifficulties:\n- {length: [2, 9], boxes: 1}\ncount: 10\nties: random\n"
    note = shards.ShardJournal(Files(), scratch)
    lines = b"".join(note.line(shards.Record(**item)) for item in plain["shards"])
    return {
        "recipe": ([PLAN.to_json().encode(), yaml], lambda data: DataSpec.from_text(data.decode("utf-8", "replace"))),
        "manifest": ([text], read_manifest),
        "resealed manifest": ([bytes(range(32))], read_resealed),
        "journal": ([lines, lines * 20], read_journal),
        "lock": ([b"123 boot host\n"], read_lock),
        "shard": ([(good / record.name).read_bytes()], read_shard),
        "changed shard": ([bytes(range(32))], read_changed),
    }


def attack(read, seeds, count, seed, effort=EFFORT, most=BYTES):
    """How often the reader refused; an AssertionError for anything but a typed error, slowness or greed."""
    rng, refused, seconds = random.Random(seed), 0, effort * unit()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        data = damaged(rng, rng.choice(seeds))
        begin = time.thread_time()
        try:
            read(data)
        except errors.DataError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"mutation {number} of seed {seed}: {error!r}") from error
        assert time.thread_time() - begin < seconds, f"mutation {number} of seed {seed} took too long"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < most, f"{grown} bytes more than before"
    return refused


def in_child(work):
    """What ``work`` returns, from a forked child; its message where it failed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps({"refused": work()}).encode())
        except BaseException as error:  # noqa: BLE001  (the child must not return into the tests)
            os.write(writer, json.dumps({"failed": str(error)[:2000]}).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = json.loads(said or b'{"failed": "crashed with status %d"}' % status)
    assert "failed" not in found, found["failed"]
    return found["refused"]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    pa.array([0])  # imports pandas where there is one, which is no effort of a reader
    folder = tmp_path_factory.mktemp("good") / "set"
    build(PLAN, folder)
    return folder


NAMES = ("recipe", "manifest", "resealed manifest", "journal", "lock", "shard", "changed shard")


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(good, tmp_path, name, count, record_property):
    seeds, read = readers(good, tmp_path)[name]
    refused = in_child(lambda: attack(read, seeds, count, seed=count))
    if name not in ("journal", "lock"):  # both go on without what they cannot read
        assert refused > count / 10
    record_property("executed", count)


@pytest.mark.parametrize(
    "careless",
    [
        lambda data: json.loads(data),
        lambda data: data[100],
        lambda data: len(data) % 7 or os.abort(),
        lambda data: len(data) % 7 or sum(range(30_000_000)),
        lambda data: len(data) % 7 or b"x" * (200 << 20),
    ],
    ids=["ValueError", "IndexError", "crash", "slow", "greedy"],
)
def test_careless_readers_are_noticed(careless):
    with pytest.raises(AssertionError):
        in_child(lambda: attack(careless, [b'{"a": 1}'], 30, seed=0, effort=100, most=100 << 20))
