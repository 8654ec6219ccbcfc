"""Journals: whole lines or none, whatever the disk does."""

from __future__ import annotations

import errno
import threading

import pytest

from recommit.storage.errors import DiskFull
from recommit.storage.files import Files
from recommit.zero_shot import lines
from recommit.zero_shot.errors import DamagedJournal
from recommit.zero_shot.lines import Lines


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


def test_a_full_disk_leaves_whole_lines(tmp_path):
    path = tmp_path / "journal"
    with Lines(FullDisk(), path) as journal:
        journal.add({"n": 1})
        journal.add({"n": 2})
        with pytest.raises(DiskFull):
            journal.add({"n": 3})
        with pytest.raises(Exception, match="is no longer written"):
            journal.add({"n": 4})
    assert not path.read_bytes().endswith(b"\n")
    assert lines.read(path) == [{"n": 1}, {"n": 2}]
    with Lines(Files(), path) as journal:
        journal.add({"n": 5})
    assert lines.read(path) == [{"n": 1}, {"n": 2}, {"n": 5}]


def test_every_cut_leaves_the_whole_lines(tmp_path):
    path = tmp_path / "journal"
    with Lines(Files(), path) as journal:
        for n in range(3):
            journal.add({"n": n, "text": "\u2028\ud800\r\n{}"})
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Lines(Files(), path):
            pass
        assert len(lines.read(path)) == sum(end <= cut for end in ends)


def test_many_writers(tmp_path):
    path = tmp_path / "journal"
    with Lines(Files(), path) as journal:
        writers = [
            threading.Thread(target=lambda k=k: [journal.add({"k": k, "i": i}) for i in range(20)]) for k in range(5)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert sorted((r["k"], r["i"]) for r in lines.read(path)) == [(k, i) for k in range(5) for i in range(20)]


@pytest.mark.parametrize("line", [b"x\n", b"[]\n", b"\n", b'{"a": 1}{"a": 2}\n', b"\xff\n", b'{"a": 1\n', b"null\n"])
def test_a_foreign_line_is_named(line, tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(b'{"a": 1}\n' + line)
    with pytest.raises(DamagedJournal, match="expected a JSON object in line 2, got something else"):
        lines.read(path)
