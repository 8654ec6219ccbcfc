"""What foreign or damaged files may do to their readers: raise a typed error, quickly, and nothing else.

Every reader of a data set gets good files with random damage: bytes flipped, cut, doubled, joined with tokens of the
format; for the manifest also well-formed JSON with values exchanged, for shards tables with other values.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("torch", reason="tests.verify.mutations reads policies, too")
import pyarrow as pa
import pyarrow.parquet as pq
from tests.effort import Meter, work
from tests.unit.data.foreign_tables import changed
from tests.unit.storage.test_files import PLAN, reseal
from tests.verify.mutations import BYTES, mutated, peak, words_of

from recommit import ACTIONS
from recommit.data import manifest, shards
from recommit.data.builder import build
from recommit.data.dataset import open_folder
from recommit.storage import errors, lock
from recommit.storage.files import Files, sha256

TOKENS = [b"{", b"}", b'"', b"null", b"1e999", b"NaN", b"\x00", b"\xff\xff\xff\x7f", b"PAR1", b"\n", b"9" * 40, b"../"]


def damaged(rng, data):
    """Some bytes that are not quite the given ones."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 8, 64])
        part = data[at : at + length]
        flipped = bytes(byte ^ (1 << rng.randrange(8)) for byte in part)
        data[at : at + length] = rng.choice([flipped, flipped, b"", part + part, rng.choice(TOKENS), bytes(len(part))])
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)


class Readers:
    """What reads the files of a data set; each takes a source of randomness."""

    def __init__(self, good, scratch):
        self.good, self.scratch = good, scratch
        self.text = (good / manifest.NAME).read_bytes()
        self.plain = json.loads(self.text)
        self.records = [shards.Record(**item) for item in self.plain["shards"]]
        (scratch / "data").mkdir()

    def manifest(self, rng):
        (self.scratch / manifest.NAME).write_bytes(damaged(rng, self.text))
        open_folder(self.scratch, None)

    def resealed_manifest(self, rng):
        values = mutated(rng, self.plain, words_of([self.plain]))
        try:
            json.dumps(values, sort_keys=True).encode()
        except (TypeError, ValueError):  # no JSON
            return
        if isinstance(values, dict):
            reseal(self.scratch, values)
            open_folder(self.scratch, None)

    def journal(self, rng):
        note = shards.ShardJournal(Files(), self.scratch)
        lines = b"".join(note.line(record) for record in self.records)
        (self.scratch / shards.JOURNAL).write_bytes(damaged(rng, lines * rng.choice([1, 20])))
        shards.read_journal(self.scratch)

    def lock(self, rng):
        (self.scratch / lock.NAME).write_bytes(damaged(rng, b"123 boot host\n"))
        with lock.Lock(self.scratch, patience=0.01):
            pass

    def shard(self, rng):
        record = self.records[0]
        (self.scratch / record.name).write_bytes(damaged(rng, (self.good / record.name).read_bytes()))
        shards.read(self.scratch, PLAN, record)

    def changed_shard(self, rng):
        record = self.records[0]
        table = pq.read_table(self.good / record.name)
        for _ in range(rng.choice([1, 1, 2])):
            table = changed(rng, table)
        pq.write_table(table, self.scratch / record.name)
        data = (self.scratch / record.name).read_bytes()
        fits = replace(record, sha256=sha256(data), bytes=len(data), rows=len(table))
        content = shards.read(self.scratch, PLAN, fits)
        for actions, count, mask in zip(content.actions, content.count, content.optimal, strict=True):
            _ = [ACTIONS[each] for each in actions[:count]], np.arange(16)[mask]


def attack(read, count, most=4000):
    """How often a reader refuses; anything but a typed error, slowness and greed are findings."""
    refused, before = 0, peak()
    for number in range(count):
        with Meter() as meter:
            try:
                read(random.Random(number))
            except errors.DataError:
                refused += 1
        assert meter.cheaper(most), f"mutation {number} took too long"
    assert peak() - before < BYTES
    return refused


CARELESS = {
    "trusting": lambda rng: json.loads(damaged(rng, b'{"a": 1}')),
    "slow": lambda _: work(400),
    "greedy": lambda _: len(b"x" * (peak() + BYTES)),
}


@pytest.mark.parametrize("name", CARELESS)
def test_careless_readers_are_noticed(name):
    with pytest.raises((AssertionError, ValueError)):
        attack(CARELESS[name], 30 if name == "trusting" else 1, most=200)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    pa.array([0])  # imports pandas where there is one, which is no effort of a reader
    folder = tmp_path_factory.mktemp("good") / "set"
    build(PLAN, folder)
    return folder


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", ["manifest", "resealed_manifest", "journal", "lock", "shard", "changed_shard"])
def test_damaged_files(good, tmp_path, name, count, record_property):
    refused = attack(getattr(Readers(good, tmp_path), name), count)
    assert refused > count / 10 or name in ("journal", "lock")  # both go on without what they cannot read
    record_property("executed", count)
