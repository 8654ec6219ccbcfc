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

from recommit.reproduce import launch
from recommit.reproduce import run as jobs
from recommit.reproduce.options import ReproduceOptions
from recommit.reproduce.run import FAILED, INTERRUPTED, Job
from recommit.runs.progress import last_line

RANK = Path(__file__).parent / "one_rank.py"
#: A fleet whose launcher is left out: one process of Python per job.
BARE = f"""
import sys
from pathlib import Path
from recommit.reproduce import launch, run as jobs
from recommit.reproduce.options import ReproduceOptions
launch.program = lambda words: [sys.executable, {str(RANK)!r}, words[-1]]
out = Path(sys.argv[1])
every = [jobs.Job(m, ("train", "grpo", m.rstrip("2"), str(out / m)), out / m) for m in sys.argv[2:]]
sys.exit(jobs.run(ReproduceOptions(gpus=2, gpus_per_run=1, device="cpu").fleet(), every, out / "logs"))
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    def program(words):
        return [sys.executable, str(RANK), words[-1]]

    monkeypatch.setattr(launch, "program", program)


def ranks(out, *modes):
    """One job per mode, called like it; a 2 at the end makes another name."""
    return [Job(m, ("train", "grpo", m.rstrip("2"), str(out / m)), out / m) for m in modes]


def fleet(gpus, **options):
    return ReproduceOptions(gpus=gpus, gpus_per_run=1, device="cpu", **options).fleet()


def run(out, *modes, slots=2):
    return jobs.run(fleet(slots), ranks(out, *modes), out / "logs")


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
    assert run(tmp_path, "lies") == FAILED
    assert "lies: ended with status 0; see " in capsys.readouterr().err


def test_the_seal_of_an_earlier_run_is_no_result(tmp_path):
    """As where another recipe's run is there, and the command has refused it."""
    assert run(tmp_path, "short") == 0
    (tmp_path / "short").rename(tmp_path / "fails")
    assert run(tmp_path, "fails") == FAILED


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
        jobs.run(fleet(1, launcher="srun python -m"), ranks(tmp_path, "long"), tmp_path / "logs", quiet=True)
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
    steps = lambda: (tmp_path / "deaf" / "timing.jsonl").read_text().count("\n")
    before = steps()
    until(lambda: steps() > before + 100)
    os.kill(int((tmp_path / "deaf" / "pid").read_text()), signal.SIGKILL)


def test_a_running_job_says_what_its_log_said_last(tmp_path):
    log = tmp_path / "eval.log"
    assert last_line(log) == ""
    log.write_text("$ torchrun\n9/9 adaptive: 1.5 s\n$ torchrun\n")
    assert last_line(log) == "", "what an earlier start said"
    log.write_text(log.read_text() + "1/115 adaptive: 1.5 s\n2/115 fixed-1@init: 0.7 s\n3/115 fix")
    assert last_line(log) == "2/115 fixed-1@init: 0.7 s"


WRITER = r"""
import sys
from pathlib import Path
from recommit.reproduce import worker

def copy(words):
    out, *inputs = map(Path, words[1:])
    assert all(path.exists() for path in inputs), inputs
    out.mkdir(parents=True, exist_ok=True)
    (out / "what").write_text("".join(sorted(path.name for path in inputs)))
    with (Path(__file__).parent / "log").open("a") as log:
        log.write(out.name + "\n")
    return 0

worker.work(Path(sys.argv[1]), copy)
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Runs jobs that write a folder from folders; the names of those that began, in order."""
    (tmp_path / "writer.py").write_text(WRITER)
    monkeypatch.setattr(launch, "program", lambda words: [sys.executable, str(tmp_path / "writer.py"), words[-1]])

    def began(*lines, slots=2):
        (tmp_path / "log").write_text("")
        every = [
            Job(
                name,
                ("copy", str(tmp_path / name), *(str(tmp_path / each) for each in inputs)),
                tmp_path / name,
                inputs,
            )
            for name, inputs in ((name, tuple(tmp_path / each for each in names)) for name, *names in lines)
        ]
        assert jobs.run(ReproduceOptions(jobs=slots).fleet(), every, tmp_path / "launch", quiet=True) == 0
        return (tmp_path / "log").read_text().split()

    return began


@pytest.mark.parametrize("slots", [1, 3])
def test_each_begins_once_its_inputs_are_there(written, slots):
    lines = (["data"], ["family/a", "data"], ["family/b", "data"], ["eval", "family"], ["report", "eval"])
    began = written(*lines, slots=slots)
    assert sorted(began) == ["a", "b", "data", "eval", "report"]
    assert (began[0], began[-2:]) == ("data", ["eval", "report"])


def test_what_stands_is_left_alone_and_what_follows_a_change_is_made_again(written, tmp_path):
    lines = (["data"], ["sft", "data"], ["rl", "sft"], ["other", "data"])
    assert len(written(*lines)) == 4
    assert written(*lines) == []
    (tmp_path / "sft" / "what").write_text("changed")
    assert written(*lines) == ["sft"], "its own output is another, and so it is made again, to what it was"
    (tmp_path / "rl" / "what").unlink()
    assert written(*lines) == ["rl"]
    (tmp_path / "data" / "more").write_text("planted")
    assert written(*lines)[0] == "data"
    assert written(["data"], ["sft", "data"], ["rl", "sft", "data"], ["other", "data"]) == ["rl"], "another command"
    (tmp_path / "launch" / "rl.json").write_text("{}")
    assert written(["data"], ["sft", "data"], ["rl", "sft", "data"], ["other", "data"]) == ["rl"]


@pytest.mark.usefixtures("written")
def test_a_folder_that_has_moved_stands(tmp_path):
    every = [Job("a", ("copy", str(tmp_path / "here" / "a")), tmp_path / "here" / "a")]
    assert jobs.run(ReproduceOptions().fleet(), every, tmp_path / "here" / "launch", quiet=True) == 0
    (tmp_path / "here").rename(tmp_path / "there")
    (tmp_path / "log").unlink()
    every = [Job("a", ("copy", str(tmp_path / "there" / "a")), tmp_path / "there" / "a")]
    assert jobs.run(ReproduceOptions().fleet(), every, tmp_path / "there" / "launch", quiet=True) == 0
    assert not (tmp_path / "log").exists()
