"""Launched runs are watched, stopped so that they can go on, and never outlive the command that launched them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("torch")
from tests.waiting import until

from recommit.runs.progress import last_agent, last_step
from recommit.train.family import launch, processes
from recommit.train.family.launch import LaunchOptions
from recommit.train.family.processes import FAILED, INTERRUPTED, Job

RANK = Path(__file__).parent / "one_rank.py"
#: A fleet whose launcher is left out: one process of Python per job.
BARE = f"""
import sys
from pathlib import Path
from recommit.train.family import launch, processes
from recommit.train.family.processes import Job
launch.program = lambda words: [sys.executable, {str(RANK)!r}, *words[words.index("m") + 1 :]]
out = Path(sys.argv[1])
jobs = [Job(m, "m", (m.rstrip("2"), str(out / m)), (out / m / "done").exists) for m in sys.argv[2:]]
sys.exit(processes.run(launch.LaunchOptions(gpus=2, gpus_per_run=1, device="cpu").fleet(), jobs, out / "logs"))
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    def program(words):
        return [sys.executable, str(RANK), *words[words.index("m") + 1 :]]

    monkeypatch.setattr(launch, "program", program)


def jobs(out, *modes):
    """One per mode, called like it; a 2 at the end makes another name."""
    return [Job(m, "m", (m.rstrip("2"), str(out / m)), (out / m / "done").exists) for m in modes]


def fleet(gpus, **options):
    return LaunchOptions(gpus=gpus, gpus_per_run=1, device="cpu", **options).fleet()


def run(out, *modes, slots=2):
    return processes.run(fleet(slots), jobs(out, *modes), out / "logs")


def alive(folder):
    """Is the rank there, other than as a name in the table of processes?"""
    stat = Path(f"/proc/{(folder / 'pid').read_text()}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_all_are_done_one_after_the_other(tmp_path, capsys):
    assert run(tmp_path, "stumbles", "short", slots=1) == 0
    said = capsys.readouterr().err
    assert re.search(r"\[1/2\] stumbles: finished in \d+:\d\d", said)
    assert "stumbles: all of it is there, but its processes ended with 6; see " in said
    assert re.search(r"\[2/2\] short: finished in \d+:\d\d", said)
    assert (tmp_path / "logs" / "short.log").read_text().startswith("$ torchrun --standalone --nproc-per-node 1 ")


def test_a_failure_ends_what_is_not_begun(tmp_path, capsys):
    """What runs beside it goes on to its end."""
    assert run(tmp_path, "waits", "fails", "short") == FAILED
    said = capsys.readouterr().err
    assert "fails: recommit: optim.batch: expected a multiple of 8 ranks, got 12; see " in said
    assert str(tmp_path / "logs" / "fails.log") in said
    assert "waits: finished" in said
    assert "of torchrun" not in said
    assert not (tmp_path / "short").exists()


def test_a_launcher_that_says_that_all_is_well_is_not_believed(tmp_path, capsys):
    job = Job("short", "m", ("short", str(tmp_path / "short")), lambda: False)
    assert processes.run(fleet(1), [job], tmp_path, quiet=True) == FAILED
    assert "short: ended with status 0; see " in capsys.readouterr().err


def test_ctrl_c_lets_what_has_begun_save_itself(tmp_path, capsys):
    def press():
        until((tmp_path / "long2" / "timing.jsonl").exists)
        until((tmp_path / "long" / "timing.jsonl").exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    assert run(tmp_path, "long", "long2", "short") == INTERRUPTED
    thread.join()
    assert {p.name for p in tmp_path.glob("*/saved")} == {"saved"}
    assert all((tmp_path / name / "saved").exists() for name in ("long", "long2"))
    assert not (tmp_path / "short").exists()
    assert "long: interrupted; the same command goes on" in capsys.readouterr().err


def test_a_launcher_of_ones_own_is_ended_by_a_signal(tmp_path):
    """srun hands SIGTERM on to its ranks; what stands in for it here is a rank."""

    def end():
        until((tmp_path / "long" / "timing.jsonl").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=end)
    thread.start()
    assert (
        processes.run(fleet(1, launcher="srun python -m"), jobs(tmp_path, "long"), tmp_path / "logs", quiet=True)
        == INTERRUPTED
    )
    thread.join()
    assert (tmp_path / "long" / "saved").exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
@pytest.mark.parametrize("how", ["group killed", "two Ctrl-C"])
def test_nobody_outlives_the_command(tmp_path, how):
    command = [sys.executable, "-c", BARE, str(tmp_path), "long", "long2"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    try:
        until(lambda: all((tmp_path / name / "timing.jsonl").exists() for name in ("long", "long2")), process)
        if how == "group killed":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            # Stopped, ranks cannot save themselves: the first Ctrl-C waits for them, the second does not.
            pids = [int((tmp_path / name / "pid").read_text()) for name in ("long", "long2")]
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            os.kill(process.pid, signal.SIGINT)
            assert any(b"interrupted: what has begun saves itself" in line for line in process.stderr)
            os.kill(process.pid, signal.SIGINT)
        process.communicate()
        until(lambda: not alive(tmp_path / "long") and not alive(tmp_path / "long2"))
        assert not list(tmp_path.glob("*/saved"))
    finally:
        process.kill()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_a_rank_that_does_not_listen_is_seen_to_live_on(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", BARE, str(tmp_path), "deaf"], start_new_session=True)
    until((tmp_path / "deaf" / "timing.jsonl").exists, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = last_step(tmp_path / "deaf")
    until(lambda: last_step(tmp_path / "deaf") > before + 100)
    os.kill(int((tmp_path / "deaf" / "pid").read_text()), signal.SIGKILL)


def test_what_is_done_is_read_from_what_was_written(tmp_path):
    (tmp_path / "timing.jsonl").write_text('{"step": 10}\n{"step": 20}\n{"st')
    assert (last_step(tmp_path), last_step(tmp_path / "nobody")) == (20, 0)
    log = tmp_path / "eval.log"
    log.write_text("$ torchrun\n9/9 adaptive: 1.5 s\n$ torchrun\n")
    assert last_agent(log) == (0, 0), "what an earlier start said"
    log.write_text(log.read_text() + "1/115 adaptive: 1.5 s\n2/115 fixed-1@init: 0.7 s\n3/115 fix")
    assert last_agent(log) == (2, 115)
