"""What lies where a file is opened: links, pipes, folders and devices are refused at once, and nothing is written."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from pathlib import Path

import pytest
from tests.refusals import refused
from tests.waiting import until

from recommit.data.shards import ShardJournal
from recommit.puzzles.levels import write_levels
from recommit.puzzles.sliding import Sliding
from recommit.storage import files as data_files
from recommit.storage import safe_open
from recommit.storage.errors import WrongFolder
from recommit.storage.jsonl import JsonLines
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


def test_nothing_is_opened_but_a_file(path):
    """What is read may lie elsewhere, what is written may not."""
    for opener in (safe_open.append, safe_open.edit, safe_open.create):
        with pytest.raises(OSError, match=r"expected a file, got a (link|pipe|folder|socket)|File exists"):
            opener(path)
    if not path.is_symlink():
        refused([(lambda: safe_open.content(path), "expected a file, got a ")], OSError)
    elif path.exists():
        assert safe_open.content(path) == b"mine\n"
    for name in (".lock", ".journal", "metrics.jsonl"):
        path.rename(path.with_name(name))
        holders = Lock(path.parent), ShardJournal(data_files.Files(), path.parent), JsonLines(path.with_name(name))
        holder = holders[(".lock", ".journal", "metrics.jsonl").index(name)]
        refused([(holder.__enter__, f"{name}: expected a file, got a")], WrongFolder)
        path.with_name(name).rename(path)


def test_files_are_replaced_and_links_not_followed(path):
    if path.is_dir():
        with pytest.raises(WrongFolder, match="expected a file, got a folder"):
            data_files.replace(data_files.Files(), path, b"new")
    else:
        data_files.replace(data_files.Files(), path, b"new")
        assert not path.is_symlink()
        assert path.read_bytes() == b"new"
    assert sorted(p.name for p in path.parent.iterdir() if p.name.endswith(".tmp")) == []


@pytest.mark.parametrize("name", ["link", "dangling"])
def test_a_writer_that_follows_links_is_noticed(name, tmp_path, monkeypatch):
    IN_THE_WAY[name](tmp_path / "file")
    monkeypatch.setattr(data_files.Files, "rename", lambda _, source, target: shutil.copyfile(source, target))
    with pytest.raises(AssertionError):
        test_files_are_replaced_and_links_not_followed(tmp_path / "file")


def test_a_reader_that_waits_for_a_pipe_is_noticed(tmp_path, monkeypatch):
    """Until the other end opens, which it cannot where no reader waits."""
    os.mkfifo(tmp_path / "file")
    monkeypatch.setattr(safe_open, "_regular", lambda path, _flags: os.open(path, os.O_RDONLY))
    reader = threading.Thread(target=safe_open.content, args=(tmp_path / "file",))
    reader.start()
    until(lambda: _opens(tmp_path / "file"))
    reader.join()


def _opens(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_no_device_is_replaced_and_no_link_among_them(tmp_path, monkeypatch):
    """A file that took the place of /dev/null would break the machine, and root may put one there; /dev/stdout leads to
    a file wherever a shell sends the output to one."""
    (tmp_path / "out").symlink_to(os.devnull)
    replacing = lambda place: data_files.replacing(place).__enter__()
    null, out, stdout = Path(os.devnull), tmp_path / "out", tmp_path / "stdout"
    refused([(lambda place=place: replacing(place), "expected a file, got a device") for place in (null, out)], OSError)
    monkeypatch.setattr(safe_open, "DEVICES", tmp_path.resolve())
    link(stdout)
    refused([(lambda: replacing(stdout), "expected a file, got a link")], OSError)
    (tmp_path / "mine").unlink()
    refused([(lambda: replacing(stdout), "expected a file, got a link")], OSError)
    assert out.is_symlink()
    assert stdout.is_symlink()


def test_levels_are_written_over_a_link_and_not_through_it(tmp_path):
    link(tmp_path / "levels.txt")
    write_levels(tmp_path / "levels.txt", Sliding(3).generate(2, seed=0).states, task="sliding")
    assert (tmp_path / "mine").read_text() == "mine\n"
    assert not (tmp_path / "levels.txt").is_symlink()


def test_temporary_names_cannot_be_foreseen(tmp_path):
    names = {data_files.temporary_name(tmp_path / "file").name for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith(".file.") and name.endswith(data_files.TEMPORARY) for name in names)
