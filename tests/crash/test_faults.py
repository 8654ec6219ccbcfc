"""Every single operation on the disk may fail, and the power may go: earlier shards stay, and a rerun finishes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess

import pytest
from tests.crash.changes import SMALL, content, differences, findings
from tests.crash.faults import Disk, Recording
from tests.crash.killer import Failing

from recommit.data.builder import build
from recommit.data.dataset import open_folder
from recommit.storage import errors, files, lock

TINY = SMALL.changed(difficulties=SMALL.difficulties[:1], count=12, validation=0, test=3, shard=5, perturbed=1)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "set"
    build(TINY, folder)
    return content(folder)


#: A disk that fails at operation number n, once and for ever: with what, and at every how many. All of them nightly.
FAILURES = [(error, forever) for error in (errno.ENOSPC, errno.EIO, errno.EACCES) for forever in (False, True)]
FAILURES += [(errno.EFBIG, True)]  # of a limit of the process
SOME = [(*failure, 2 if failure == (errno.ENOSPC, True) else 7) for failure in FAILURES]
ALL = [pytest.param(*failure, 1, marks=pytest.mark.nightly) for failure in FAILURES]


@pytest.mark.parametrize(("error", "forever", "stride"), [*SOME, *ALL])
def test_operation_number_n_fails(tmp_path, undisturbed, error, forever, stride, record_property):
    kind = {errno.ENOSPC: errors.DiskFull, errno.EFBIG: errors.DiskFull, errno.EACCES: errors.WrongFolder}.get(
        error, errors.DataError
    )
    at = 0
    while True:
        at += stride
        folder, faults = tmp_path / "set", Failing(at, error, forever)
        caught = _error_of(lambda folder=folder, faults=faults: build(TINY, folder, files_=faults))
        if caught is None:
            assert differences(folder, undisturbed) == []
            if faults.remaining > 0:  # never got that far
                break
        else:
            assert isinstance(caught, kind)
            assert str(tmp_path) in str(caught)
        assert findings(folder, undisturbed) == []
        build(TINY, folder)
        assert differences(folder, undisturbed) == []
        shutil.rmtree(folder)
    assert at > 40
    record_property("executed", at // stride)


def _error_of(call):
    try:
        call()
    except errors.DataError as error:
        return error
    return None


@pytest.mark.parametrize("images", [30, pytest.param(1500, marks=pytest.mark.nightly)])
def test_power_loss(tmp_path, undisturbed, images, record_property):
    """Any image that a crash may leave is finished into the undisturbed tree, and never opens as something else."""
    root, log = recorded(tmp_path)
    assert differences(root, undisturbed) == []
    opened = 0
    for seed in range(images):
        cut = seed * len(log) // images + 1
        image = tmp_path / "image"
        Disk(log[:cut], seed).image(root, image)
        opened += _opens(image, undisturbed)
        build(TINY, image)
        assert differences(image, undisturbed) == [], seed
    Disk(log, 0).image(root, tmp_path / "image")
    assert _opens(tmp_path / "image", undisturbed)
    assert opened < images / 4
    record_property("executed", images)


def recorded(place):
    """A build, and what it did to the disk after its folder was there."""
    root, recorder = place / "recorded", Recording()
    build(TINY, root, files_=recorder)
    first = ("entry", root.parent, root.name, "folder")
    return root, [first, ("flush folder", root.parent), *(item for item in recorder.log if item[:3] != first[:3])]


def _opens(image, undisturbed):
    """Whether a reader takes the image for a data set; if so it had better be the right one."""
    try:
        data = open_folder(image, None)
    except errors.DataError:
        return False
    assert findings(image, undisturbed) == []
    assert sum(len(content) for content in data.shards()) == len(data)
    return True


def test_power_loss_sees_a_writer_that_does_not_flush(tmp_path, undisturbed, monkeypatch):
    """The planted defect: temporary file and rename, but no fsync."""

    def hasty(files_, path, data):
        temporary = path.with_name(f".{path.name}.tmp")
        descriptor = files_.create(temporary)
        files.write_all(files_, descriptor, data)
        files_.close(descriptor)
        files_.rename(temporary, path)
        files_.flush_folder(path.parent)

    monkeypatch.setattr(files, "replace", hasty)
    root, log = recorded(tmp_path)
    bad = 0
    for seed in range(25):
        Disk(log[: len(log) * seed // 25], seed).image(root, tmp_path / "image")
        bad += bool(findings(tmp_path / "image", undisturbed))
    assert bad > 5


def test_folder_vanishes(tmp_path):
    folder = tmp_path / "set"

    def remove(*_progress):
        shutil.rmtree(folder)

    with pytest.raises(errors.FolderVanished):
        build(TINY, folder, progress=remove)
    build(TINY, folder)


def test_repair(tmp_path, undisturbed):
    """Flip a bit, cut, or remove each file of a finished set in turn: noticed by readers, mended by a rerun."""
    folder = tmp_path / "set"
    build(TINY, folder)
    for name in undisturbed:
        for harm in (_flip, _cut, lambda path: path.unlink()):
            harm(folder / name)
            if name.endswith("manifest.json"):
                with pytest.raises((errors.Damaged, errors.WrongFolder)):
                    open_folder(folder)
            if name == "recipe.json" and (folder / name).exists():
                with pytest.raises((errors.Damaged, errors.WrongFolder)):
                    build(TINY, folder)
                (folder / name).unlink()
            if name == "recipe.json":
                (folder / name).write_text(TINY.to_json(), "utf-8")
            build(TINY, folder)
            assert differences(folder, undisturbed) == []


def _flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("times", [3, pytest.param(50, marks=pytest.mark.nightly)])
def test_two_writers(tmp_path, undisturbed, times, record_property):
    """Of two builds at once exactly one proceeds; the folder of a killed one is taken over."""
    for _ in range(times):
        folder, seen = tmp_path / "set", []

        def other(*_progress, folder=folder, seen=seen):
            seen.append(_build_in_child(folder))

        build(TINY, folder, progress=other)
        assert seen
        assert set(seen) == {errors.FolderBusy.exit_status + 10}
        assert differences(folder, undisturbed) == []
        shutil.rmtree(folder)
    record_property("executed", times)


@pytest.mark.parametrize("times", [4, pytest.param(25, marks=pytest.mark.nightly)])
def test_started_at_the_same_moment(tmp_path, undisturbed, times, record_property):
    for _ in range(times):
        folder = tmp_path / "set"
        children = [_start_child(folder) for _ in range(3)]
        ends = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        assert ends[0] == 0
        assert set(ends) <= {0, 11}
        assert differences(folder, undisturbed) == []
        shutil.rmtree(folder)
    record_property("executed", times)


def _start_child(folder):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            build(TINY, folder)
            status = 0
        except errors.FolderBusy as error:
            status = 10 + error.exit_status
        finally:
            os._exit(status)
    return child


def _build_in_child(folder):
    return os.waitstatus_to_exitcode(os.waitpid(_start_child(folder), 0)[1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "999999999 - -\n",
        "4194304 other-boot other-host an evaluation\n",
        "\x00\xff garbage",
        f"{os.getpid()} - -\n",
    ],
    ids=["empty", "number", "no process", "elsewhere", "garbage", "ourselves"],
)
def test_stale_locks(tmp_path, text):
    (tmp_path / lock.NAME).write_text(text, "latin-1")
    with lock.Lock(tmp_path, patience=0.5):
        pass
    assert not (tmp_path / lock.NAME).exists()


class Clock:
    """A clock that goes on in sleep alone."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize(("holder", "busy"), [("self", True), ("dead", False), ("other boot", False)])
def test_second_opinion_without_working_locks(tmp_path, monkeypatch, holder, busy):
    """On a file system that has no locks the written pid and boot decide."""
    monkeypatch.setattr(lock, "_kernel_lock", lambda _descriptor: None)
    pid = subprocess.Popen(["true"]) if holder == "dead" else None
    number = os.getppid() if pid is None else pid.pid
    if pid is not None:
        pid.wait()
    boot = "another-boot" if holder == "other boot" else lock._boot()
    (tmp_path / lock.NAME).write_text(f"{number} {boot} {lock._host()}\n")
    monkeypatch.setattr(lock, "time", clock := Clock())
    if busy:
        with pytest.raises(errors.FolderBusy), lock.Lock(tmp_path, patience=0.2):
            pass
    else:
        with lock.Lock(tmp_path, patience=0.2):
            pass
    assert clock.now <= 0.2 + 0.02, "no wait is longer than was asked for"
