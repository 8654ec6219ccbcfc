"""Command lines of launchers, and how machines are divided among runs."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

from recommit.train.family import launch
from recommit.train.family.launch import Slot

WORDS = ["--recipe", "a b.yaml"]
TWO = "# ours\nworker-1 slots=8\nworker-2 slots=8  # the other one\n"


@pytest.fixture
def pdsh(tmp_path, monkeypatch):
    """On PATH, so that a hostfile is not refused for want of it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pdsh").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "pdsh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def eight(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)


def lines(fleet):
    """What starts a module in every place."""
    return [launch.command(fleet, place, "m", WORDS, 1234) for place in fleet.places()]


def hosts(tmp_path, text=TWO):
    (tmp_path / "hostfile").write_text(text)
    return tmp_path / "hostfile"


@pytest.mark.usefixtures("eight")
def test_one_machine_by_deepspeed():
    end = ["--master_port", "1234", "--no_local_rank", "--module", "m", *WORDS]
    assert lines(launch.fleet(8)) == [["deepspeed", "--include", "localhost:0,1,2,3,4,5,6,7", *end]]
    packed = launch.fleet(8, 4)
    assert [line[2] for line in lines(packed)] == ["localhost:0,1,2,3", "localhost:4,5,6,7"]
    assert [place.ranks for place in packed.places()] == [4, 4]
    assert lines(launch.fleet(2, device="cpu")) == [["deepspeed", "--num_gpus", "2", *end]]
    assert len(lines(launch.fleet(4, 1, device="cpu"))) == 4


@pytest.mark.usefixtures("eight")
def test_one_machine_by_torchrun():
    fleet = launch.fleet(8, 4, launcher="torchrun")
    assert lines(fleet)[0] == ["torchrun", "--standalone", "--nproc-per-node", "4", "-m", "m", *WORDS]
    shown = [launch.environment(fleet, place, 1)["CUDA_VISIBLE_DEVICES"] for place in fleet.places()]
    assert shown == ["0,1,2,3", "4,5,6,7"]


@pytest.mark.usefixtures("eight")
def test_gpus_that_this_process_may_use(monkeypatch):
    """DeepSpeed's launcher leaves CUDA_VISIBLE_DEVICES out of account when it is told what to include."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6,7,2,3")
    assert [line[2] for line in lines(launch.fleet(4, 2))] == ["localhost:6,7", "localhost:2,3"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-5f3a,GPU-77b0")
    assert launch.fleet(2, launcher="torchrun").gpus == ("GPU-5f3a", "GPU-77b0")
    with pytest.raises(ValueError, match=r"CUDA_VISIBLE_DEVICES: expected numbers .* got GPU-5f3a,GPU-77b0"):
        launch.fleet(2)
    with pytest.raises(ValueError, match=r"gpus: expected at most the 8 of this machine .* got 9"):
        launch.fleet(9)
    assert launch.fleet(9, elsewhere=True).gpus == tuple("012345678")


@pytest.mark.usefixtures("pdsh")
def test_machines_of_a_hostfile(tmp_path):
    file = hosts(tmp_path)
    whole = launch.fleet(8, hostfile=file)
    assert whole.places()[0].ranks == 16
    assert lines(whole)[0][:7] == [
        "deepspeed",
        "--hostfile",
        str(file),
        "--force_multi",
        "--include",
        "worker-1:0,1,2,3,4,5,6,7@worker-2:0,1,2,3,4,5,6,7",
        "--master_port",
    ]
    assert launch.fleet(8, 8, hostfile=file).places() == [
        Slot(tuple("01234567"), ("worker-1",)),
        Slot(tuple("01234567"), ("worker-2",)),
    ]
    packed = lines(launch.fleet(8, 4, hostfile=file))
    assert [line[5] for line in packed] == [
        "worker-1:0,1,2,3",
        "worker-1:4,5,6,7",
        "worker-2:0,1,2,3",
        "worker-2:4,5,6,7",
    ]
    assert all("--force_multi" in line for line in packed), "DeepSpeed would start a run of one machine on this one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "worker-1 slots=8\nworker-1 slots=8\n",
            "expected every machine once, as NAME slots=8, got 'worker-1 slots=8'",
        ),
        ("worker-1\n", "expected every machine once, as NAME slots=8, got 'worker-1'"),
        ("# nobody\n", "expected at least one line NAME slots=8, got none"),
    ],
)
def test_hostfiles_that_do_not_fit(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"hostfile: {message}"):
        launch.slots(hosts(tmp_path, text))


def test_requests_that_do_not_fit(tmp_path, monkeypatch):
    file = hosts(tmp_path, "a slots=8\nb slots=4\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    for call, message in [
        ({"gpus": 0}, "gpus: expected at least 1, got 0"),
        ({"gpus": 8, "per_run": 3}, "gpus-per-run: expected a divisor of 8 GPUs, or whole machines of 8, got 3"),
        ({"gpus": 8, "per_run": 16}, "gpus-per-run: expected a divisor of 8 GPUs, or whole machines of 8, got 16"),
        ({"gpus": 8, "hostfile": file}, "gpus: expected at most the 4 of b in .*hostfile, got 8"),
        ({"gpus": 4, "hostfile": file}, "hostfile: expected pdsh on PATH, .* got none"),
        ({"gpus": 4, "hostfile": tmp_path / "no"}, "hostfile: expected a file, got .*no"),
        ({"gpus": 4, "hostfile": file, "launcher": "torchrun"}, "launcher: expected deepspeed .* got torchrun"),
        ({"gpus": 4, "launcher": "srun"}, r"launcher: expected a SLURM job \(SLURM_JOB_NODELIST\) with srun, got none"),
    ]:
        with pytest.raises(ValueError, match=message):
            launch.fleet(**{"device": "cpu", **call})


def test_a_slurm_job(tmp_path, monkeypatch):
    (tmp_path / "scontrol").write_text('#!/bin/sh\n[ "$1 $2 $3" = "show hostnames n[1-2]" ] && printf "n1\\nn2\\n"\n')
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    both = launch.fleet(8, launcher="srun")
    assert lines(both) == [
        [
            "srun",
            "--nodes",
            "2",
            "--nodelist",
            "n1,n2",
            "--ntasks",
            "16",
            "--ntasks-per-node",
            "8",
            "--gpus-per-node",
            "8",
            "--kill-on-bad-exit=1",
            sys.executable,
            "-m",
            "m",
            *WORDS,
        ]
    ]
    assert launch.environment(both, both.places()[0], 99) == {"MASTER_ADDR": "n1", "MASTER_PORT": "99"}
    apart = launch.fleet(8, 8, launcher="srun")
    assert [line[4] for line in lines(apart)] == ["n1", "n2"]
    with pytest.raises(ValueError, match="gpus-per-run: expected whole machines of 8 GPUs with srun, got 4"):
        launch.fleet(8, 4, launcher="srun")


@pytest.mark.usefixtures("eight", "pdsh")
@pytest.mark.parametrize(("gpus", "machines"), [(8, 0), (8, 1), (8, 2), (8, 4), (6, 3)])
def test_places_share_nothing_and_leave_nothing(tmp_path, gpus, machines):
    file = hosts(tmp_path, "".join(f"w{n} slots={gpus}\n" for n in range(machines))) if machines else None
    whole = gpus * max(machines, 1)
    for per_run in [n for n in range(1, whole + 1) if whole % n == 0 and not (gpus % n and n % gpus)]:
        places = launch.fleet(gpus, per_run, hostfile=file).places()
        taken = [(host, gpu) for place in places for host in place.hosts or ("",) for gpu in place.gpus]
        assert len(taken) == len(set(taken)) == whole
        assert {place.ranks for place in places} == {per_run}


def test_launchers_run_in_this_python():
    assert launch.program(["deepspeed", "x"]) == [sys.executable, "-m", "deepspeed.launcher.runner", "x"]
    assert launch.program(["torchrun", "x"]) == [sys.executable, "-m", "torch.distributed.run", "x"]
    assert launch.program(["srun", "x"]) == ["srun", "x"]


def test_ranks_that_a_rank_starts_are_others():
    own = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "first", "MASTER_PORT": "29500"}
    assert launch.unranked({**own, "PATH": "/bin"}) == {"PATH": "/bin"}
