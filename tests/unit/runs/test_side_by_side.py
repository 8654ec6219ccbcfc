"""Work in several processes, and what Ctrl-C leaves undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from tests.waiting import HANG, ended, until

from recommit.runs import side_by_side
from recommit.runs.side_by_side import Piece


def touch(folder, name, status):
    (folder / name).write_text("")
    return status


def test_everything_is_done_unless_something_fails(tmp_path):
    assert side_by_side.run(touch, [(tmp_path, str(i), 0) for i in range(5)], 2) == 0
    assert len(list(tmp_path.iterdir())) == 5
    later = tmp_path / "later"
    later.mkdir()
    assert side_by_side.run(touch, [(later, "0", 0), (later, "1", 3), (later, "2", 0), (later, "3", 0)], 1) == 3
    assert sorted(p.name for p in later.iterdir()) == ["0", "1"], "nothing begins after a failure"


@pytest.mark.skipif(os.name == "nt", reason="no process groups there")
def test_ctrl_c_begins_nothing_else(tmp_path):
    """As a terminal does it: the signal goes to the whole group; what runs saves itself and says so."""
    script = tmp_path / "work.py"
    script.write_text(
        textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from recommit.runs import side_by_side
        from recommit.runs.progress import Interrupt

        def save(folder, name):
            with Interrupt() as interrupt:
                Path(folder, name).write_text("")
                while not interrupt.number:
                    time.sleep(0.01)
            Path(folder, name).write_text("saved")
            return 130

        if __name__ == "__main__":
            sys.exit(side_by_side.run(save, [(sys.argv[1], str(i)) for i in range(6)], 2))
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


def piece(folder, name, *others, needs=None):
    return Piece(write_after, (folder, name, *others), name, frozenset(others if needs is None else needs))


@pytest.mark.parametrize("jobs", [1, 3])
def test_nothing_begins_before_what_it_needs(tmp_path, jobs):
    """Whatever the order in which it is written down; names that nobody has are not waited for."""
    work = [
        piece(tmp_path, "last", "left", "right"),
        piece(tmp_path, "left", "first"),
        piece(tmp_path, "right", "first"),
        piece(tmp_path, "first", needs=("data",)),
    ]
    over = []
    assert side_by_side.in_order(work, jobs, lambda ended: over.append(ended.piece.name)) == 0
    assert (over[0], {*over[1:3]}, over[3]) == ("first", {"left", "right"}, "last")


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_failure_nothing_that_waits_begins(tmp_path, jobs):
    work = [piece(tmp_path, "early", "missing", needs=()), piece(tmp_path, "late", needs=("early",))]
    over = []
    assert side_by_side.in_order(work, jobs, over.append) == 4
    assert [(ended.piece.name, ended.status) for ended in over] == [("early", 4)]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_pieces_that_wait_for_each_other_are_refused(tmp_path, jobs):
    work = [piece(tmp_path, "egg", needs=("hen",)), piece(tmp_path, "hen", needs=("egg",))]
    with pytest.raises(ValueError, match="expected an order, got pieces that wait for each other: egg"):
        side_by_side.in_order(work, jobs)
