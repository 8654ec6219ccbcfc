"""Lines that are whole or not there, whatever the disk does."""

from __future__ import annotations

import errno
import math
import os
import threading

import pytest
from tests.refusals import refused

from recommit.storage import jsonl
from recommit.storage.errors import Damaged, DataError, WrongFolder
from recommit.storage.files import Files
from recommit.storage.jsonl import JsonLines, NoLines


class FullDisk(Files):
    """Takes half of the third write, then nothing."""

    writes = 0

    def write(self, descriptor, data):
        self.writes += 1
        if self.writes < 3:
            return super().write(descriptor, data)
        if self.writes == 3:
            return super().write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines.jsonl"


def test_a_full_disk_leaves_whole_lines(path):
    with JsonLines(path, FullDisk()) as log:
        log.add({"n": 1})
        log.add({"n": 2})
        refused([(lambda: log.add({"n": 3}), "No space left"), (lambda: log.add({"n": 4}), "is no longer")], DataError)
    assert not path.read_bytes().endswith(b"\n")
    assert jsonl.read(path) == [{"n": 1}, {"n": 2}]
    with JsonLines(path) as log:
        log.add({"n": 5})
    assert jsonl.read(path) == [{"n": 1}, {"n": 2}, {"n": 5}]


def test_every_cut_leaves_the_whole_lines(path):
    with JsonLines(path) as log:
        for n in range(3):
            log.add({"n": n, "text": "\u2028\ud800\r\n{}"})
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with JsonLines(path):
            pass
        assert len(jsonl.read(path)) == sum(end <= cut for end in ends)
        assert path.read_bytes() == whole[: max([0, *(end for end in ends if end <= cut)])]


def test_many_writers(path):
    with JsonLines(path, durable=False) as log:
        writers = [
            threading.Thread(target=lambda k=k: [log.add({"k": k, "i": i}) for i in range(20)]) for k in range(5)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert sorted((r["k"], r["i"]) for r in jsonl.read(path)) == [(k, i) for k in range(5) for i in range(20)]


def test_it_goes_back_to_an_earlier_size(path):
    with JsonLines(path, durable=False) as log:
        log.add({"step": 1})
        size = log.size()
        log.add({"step": 2})
        log.cut(size)
        log.add({"step": 2, "again": True})
        words = f"expected at least the 9999 bytes of the checkpoint, got {log.size()}"
        refused([(lambda: log.cut(9999), words)])
    assert jsonl.read(path) == [{"step": 1}, {"step": 2, "again": True}]


@pytest.mark.parametrize("durable", [False, True])
def test_it_is_flushed_before_add_returns_or_at_the_end(path, durable):
    flushed = []

    class ValidationTask(Files):
        def flush(self, descriptor):
            super().flush(descriptor)
            flushed.append(path.read_bytes())

    with JsonLines(path, ValidationTask(), durable=durable) as log:
        log.add({"n": 1})
        log.add({"n": 2})
    whole = b'{"n": 1}\n{"n": 2}\n'
    assert flushed == ([b'{"n": 1}\n', whole] if durable else [whole])


def test_only_the_main_process_writes_and_finite_numbers_where_asked(path):
    with JsonLines(path) as log:
        log.add({"loss": math.nan})
    with JsonLines(path, finite=True) as log:
        refused([(lambda: log.add({"loss": math.nan}), "JSON compliant")])
    with NoLines(path) as log:
        log.add({"n": 2})
        log.cut(0)
        assert log.size() == 0
    assert len(jsonl.read(path)) == 1


def test_a_foreign_line_is_named(path):
    def read(line):
        path.write_bytes(b'{"a": 1}\n' + line)
        jsonl.read(path)

    nothing, other = [b"x\n", b"\n", b'{"a": 1}{"a": 2}\n', b"\xff\n", b'{"a": 1\n'], [b"[]\n", b"null\n"]
    refused([(lambda line=line: read(line), "lines.jsonl: expected JSON, got") for line in nothing], Damaged)
    refused([(lambda line=line: read(line), "lines.jsonl: 1: expected an object, got") for line in other], Damaged)
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)  # holes take no room
    words = "lines.jsonl: expected at most 1,073,741,824 bytes, got 1,099,511,627,776"
    refused([(lambda: jsonl.read(path), words), (lambda: JsonLines(path).__enter__(), words)], WrongFolder)
