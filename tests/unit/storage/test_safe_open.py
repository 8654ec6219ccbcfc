"""What lies where a file is opened: links, pipes, folders and devices are refused at once, and nothing is written."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from recommit.data.shards import ShardJournal
from recommit.puzzles.levels import write_levels
from recommit.puzzles.sliding import Sliding
from recommit.storage import files as data_files
from recommit.storage import safe_open
from recommit.storage.errors import WrongFolder
from recommit.storage.lock import Lock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no links and pipes in folders there")


def link(path):
    (path.parent / "mine").write_text("mine\n")
    path.symlink_to(path.parent / "mine")


def dangling(path):
    path.symlink_to(path.parent / "nowhere")


def unix_socket(path):
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(path.name)
    os.chdir(here)


IN_THE_WAY = {"link": link, "dangling": dangling, "pipe": os.mkfifo, "folder": Path.mkdir, "socket": unix_socket}


@pytest.fixture(params=IN_THE_WAY, ids=str)
def path(request, tmp_path):
    IN_THE_WAY[request.param](tmp_path / "file")
    yield tmp_path / "file"
    mine = tmp_path / "mine"
    assert not mine.exists() or mine.read_text() == "mine\n"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("opener", [safe_open.append, safe_open.edit, safe_open.create])
def test_nothing_is_opened_for_writing_but_a_file(path, opener):
    with pytest.raises(OSError, match=r"expected a file, got a (link|pipe|folder|socket)|File exists"):
        opener(path)


def test_nothing_is_read_but_a_file(path):
    if path.is_symlink():
        if path.exists():
            assert safe_open.content(path) == b"mine\n"  # what is read may lie elsewhere
        return
    with pytest.raises(OSError, match=r"got a (pipe|folder|socket)"):
        safe_open.content(path)


def test_files_are_replaced_and_links_not_followed(path):
    if path.is_dir():
        with pytest.raises(WrongFolder, match="expected a file, got a folder"):
            data_files.replace(data_files.Files(), path, b"new")
    else:
        data_files.replace(data_files.Files(), path, b"new")
        assert not path.is_symlink()
        assert path.read_bytes() == b"new"
    assert sorted(p.name for p in path.parent.iterdir() if p.name.endswith(".tmp")) == []


@pytest.mark.skipif(os.name == "nt", reason="no devices in folders there")
def test_no_device_is_replaced(tmp_path):
    """A file that took the place of /dev/null would break the machine; root may put one there."""
    (tmp_path / "out").symlink_to(os.devnull)
    for place in (Path(os.devnull), tmp_path / "out"):
        with pytest.raises(OSError, match="expected a file, got a device"), data_files.replacing(place):
            pytest.fail("began to write")
    assert (tmp_path / "out").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="no devices in folders there")
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
def test_no_link_among_the_devices_is_replaced(there, tmp_path, monkeypatch):
    """/dev/stdout leads to a file wherever a shell sends the output to one."""
    monkeypatch.setattr(safe_open, "DEVICES", tmp_path.resolve())
    link(tmp_path / "stdout")
    if not there:
        (tmp_path / "mine").unlink()
    with pytest.raises(OSError, match="expected a file, got a link"), data_files.replacing(tmp_path / "stdout"):
        pytest.fail("began to write")
    assert (tmp_path / "stdout").is_symlink()


def test_levels_are_written_over_a_link_and_not_through_it(tmp_path):
    link(tmp_path / "levels.txt")
    write_levels(tmp_path / "levels.txt", Sliding(3).generate(2, seed=0).states, task="sliding")
    assert (tmp_path / "mine").read_text() == "mine\n"
    assert not (tmp_path / "levels.txt").is_symlink()


def test_temporary_names_cannot_be_foreseen(tmp_path):
    names = {data_files.temporary_name(tmp_path / "file").name for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith(".file.") and name.endswith(data_files.TEMPORARY) for name in names)


@pytest.mark.parametrize("name", [".lock", ".journal"])
def test_locks_and_journals(path, name):
    path.rename(path.with_name(name))
    with pytest.raises(WrongFolder, match=f"{name}: expected a file, got a"):
        (
            Lock(path.parent).__enter__()
            if name == ".lock"
            else ShardJournal(data_files.Files(), path.parent).__enter__()
        )
    path.with_name(name).rename(path)


def test_logs_of_runs(path):
    from recommit.storage.errors import DataError
    from recommit.storage.jsonl import JsonLines

    log = path.with_name("metrics.jsonl")
    path.rename(log)
    with pytest.raises(DataError, match="expected a file, got a"), JsonLines(log):
        pytest.fail("opened what is no file")
    log.rename(path)
