"""Work in several processes, and what Ctrl-C leaves undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from tests.waiting import HANG, ended, until

from recommit.runs import parallel
from recommit.runs.parallel import Job


def touch(folder, name, status):
    (folder / name).write_text("")
    return status


def test_everything_is_done_unless_something_fails(tmp_path):
    assert parallel.run_parallel(touch, [(tmp_path, str(i), 0) for i in range(5)], 2) == 0
    assert len(list(tmp_path.iterdir())) == 5
    later = tmp_path / "later"
    later.mkdir()
    assert parallel.run_parallel(touch, [(later, "0", 0), (later, "1", 3), (later, "2", 0), (later, "3", 0)], 1) == 3
    assert sorted(p.name for p in later.iterdir()) == ["0", "1"], "nothing begins after a failure"


@pytest.mark.skipif(os.name == "nt", reason="no process groups there")
def test_ctrl_c_begins_nothing_else(tmp_path):
    """As a terminal does it: the signal goes to the whole group; what runs saves itself and says so."""
    script = tmp_path / "work.py"
    script.write_text(
        textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from recommit.runs import parallel
        from recommit.runs.progress import Interrupt

        def save(folder, name):
            with Interrupt() as interrupt:
                Path(folder, name).write_text("")
                while not interrupt.number:
                    time.sleep(0.01)
            Path(folder, name).write_text("saved")
            return 130

        if __name__ == "__main__":
            sys.exit(parallel.run_parallel(save, [(sys.argv[1], str(i)) for i in range(6)], 2))
    """)
    )
    runs = tmp_path / "runs"
    runs.mkdir()
    with ended(subprocess.Popen([sys.executable, str(script), str(runs)], start_new_session=True)) as process:
        until(lambda: len(list(runs.iterdir())) == 2, process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=HANG) == 130
    assert {p.name: p.read_text() for p in runs.iterdir()} == {"0": "saved", "1": "saved"}


def write_after(folder, name, *others):
    """Fails where one of the others was not written before."""
    if all((folder / other).exists() for other in others):
        (folder / name).write_text("")
        return 0
    return 4


def job(folder, name, *others, needs=None):
    return Job(write_after, (folder, name, *others), name, frozenset(others if needs is None else needs))


@pytest.mark.parametrize("processes", [1, 3])
def test_nothing_begins_before_what_it_needs_or_after_a_failure(tmp_path, processes):
    """Whatever the order in which it is written down; names that nobody has are not waited for."""
    jobs = [
        job(tmp_path, "last", "left", "right"),
        job(tmp_path, "left", "first"),
        job(tmp_path, "right", "first"),
        job(tmp_path, "first", needs=("data",)),
    ]
    over = []
    assert parallel.run_jobs(jobs, processes, over.append) == 0
    names = [each.job.name for each in over]
    assert (names[0], {*names[1:3]}, names[3]) == ("first", {"left", "right"}, "last")
    jobs, over = [job(tmp_path, "early", "missing", needs=()), job(tmp_path, "late", needs=("early",))], []
    assert parallel.run_jobs(jobs, processes, over.append) == 4
    assert [(each.job.name, each.status) for each in over] == [("early", 4)]


@pytest.mark.parametrize("processes", [1, 2])
def test_jobs_that_wait_for_each_other_are_refused(tmp_path, processes):
    jobs = [job(tmp_path, "egg", needs=("hen",)), job(tmp_path, "hen", needs=("egg",))]
    with pytest.raises(ValueError, match="expected an order, got jobs that wait for each other: egg"):
        parallel.run_jobs(jobs, processes)
