"""A run whose disk fails at any operation goes on by the same command, and ends as if nothing had happened."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import FINISHED, TINY, plan_of

from recommit.policy.checkpoint import local_folder
from recommit.train import grpo, sft
from recommit.train.config import SftConfig, parse
from recommit.train.trainer import Trainer

#: Events of the interpreter that change a disk; ``open`` does if it is for writing.
CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Disk:
    """Counts the changes in a folder; number ``at`` fails."""

    def __init__(self):
        self.folder, self.at, self.count = None, 0, 0
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.folder is None or not (event in CHANGES or (event == "open" and (arguments[2] or 0) & WRITES)):
            return
        if isinstance(arguments[0], str | os.PathLike) and os.fspath(arguments[0]).startswith(self.folder):
            self.count += 1
            if self.count == self.at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(arguments[0]))

    def watch(self, folder, at=0):
        self.folder, self.at, self.count = str(folder), at, 0


@pytest.fixture(scope="module")
def disk():
    heard = Disk()
    yield heard
    heard.folder = None  # a hook stays for ever


@pytest.fixture(scope="module", params=["sft", "grpo", "grpo with a finish"])
def run(request, data, init):
    """Trains into a folder; silent."""
    if request.param == "sft":
        plan = parse(SftConfig, TINY)
        plan = replace(plan, optim=replace(plan.optim, steps=4), validation=replace(plan.validation, every=2))
        plan = replace(plan, run=replace(plan.run, save_every=1))
        return lambda out: sft.train(plan, data, out, quiet=True)
    plan = plan_of(**(FINISHED if "finish" in request.param else {}))
    return lambda out: grpo.train(plan, init, out, quiet=True)


@pytest.fixture(scope="module")
def alone(run, disk, tmp_path_factory):
    """A run that nobody disturbs, and how many changes it makes to its folder."""
    out = tmp_path_factory.mktemp("alone") / "run"
    disk.watch(out)
    assert run(out) == 0
    count, disk.folder = disk.count, None
    return out, count


def content(folder):
    """Every file of a run but for what depends on the machine, and for the locks."""
    names = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in ("timing.jsonl", ".lock"))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in names}


def broken_at(run, disk, out, at):
    """The run with one failing change, then the same command again; did it fail?"""
    disk.watch(out, at)
    try:
        failed = run(out) != 0
    except Exception:  # noqa: BLE001  (whatever it is called: the command ends)
        failed = True
    disk.folder = None
    assert run(out) == 0
    return failed


def points(count, many):
    """All of them, or some: the first and the last five, where runs are made and ended, and some between."""
    ends = [*range(1, 6), *range(count - 4, count + 1)]
    return range(1, count + 1) if many else sorted({*ends, *range(6, count - 4, max(1, count // 6))})


def check(run, disk, alone, out, many):
    whole, count = alone
    wanted, failed = content(whole), 0
    assert count > 20
    for at in points(count, many):
        failed += broken_at(run, disk, out / str(at), at)
        assert content(out / str(at)) == wanted, f"change {at} of {count}"
    assert failed


def test_a_full_disk(run, disk, alone, tmp_path):
    check(run, disk, alone, tmp_path, many=False)


@pytest.mark.nightly
def test_a_full_disk_at_every_change(run, disk, alone, tmp_path):
    check(run, disk, alone, tmp_path, many=True)


def test_what_a_dead_run_left_is_swept_away(run, alone, tmp_path):
    """Folders in the making, and files."""
    for name in (".backbone.tmp", ".init.tmp"):
        (tmp_path / "run" / name).mkdir(parents=True)
        (tmp_path / "run" / name / "part").write_text("half")
    (tmp_path / "run" / ".best.json.1-2.tmp").write_text("{")
    assert run(tmp_path / "run") == 0
    assert content(tmp_path / "run") == content(alone[0])


@pytest.mark.parametrize("left", ["nothing", "an older one"])
def test_the_pointer_to_the_best_is_made_good(run, alone, tmp_path, left):
    """A run that died between its last checkpoint and the pointer is finished only when that is right."""
    out = tmp_path / "run"
    assert run(out) == 0
    (out / "best.json").unlink()
    if left == "nothing":
        with pytest.raises(ValueError, match=r"expected a run with a best policy, got one without best\.json"):
            local_folder(out)
    else:
        (out / "best.json").write_text('{"step": 1, "score": [], "policy": "checkpoints/step-00000001/policy"}')
    assert run(out) == 0
    assert content(out) == content(alone[0])
    assert local_folder(out).is_dir()


def test_a_run_that_forgets_what_follows_from_a_checkpoint_is_seen(run, disk, alone, tmp_path, monkeypatch):
    """Going on as it once was: best.json and pruning are left to the next checkpoint, which may never come."""
    resume, settle = Trainer._resume, Trainer._settle

    def forgetful(self, log):
        monkeypatch.setattr(Trainer, "_settle", lambda *_: None)
        resume(self, log)
        monkeypatch.setattr(Trainer, "_settle", settle)

    monkeypatch.setattr(Trainer, "_resume", forgetful)
    with pytest.raises(AssertionError, match="change"):
        check(run, disk, alone, tmp_path, many=False)
