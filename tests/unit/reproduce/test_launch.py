"""Command lines of launchers, and how a machine is divided among runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.refusals import refused

torch = pytest.importorskip("torch")

from recommit.reproduce import launch
from recommit.reproduce.options import ReproduceOptions

WORDS = ["train", "sft", "--recipe", "a b.yaml"]
MODULE = ["recommit.train.sft", *WORDS[2:]]


@pytest.fixture
def eight(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)


def fleet(gpus, per_run=None, **options):
    return ReproduceOptions(gpus=gpus, gpus_per_run=per_run, **options).fleet()


@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize("each", [1, 2, 4, 8])
def test_slots_share_nothing_and_leave_nothing(each):
    made = fleet(8, each)
    assert [gpu for slot in made.slots for gpu in slot] == list("01234567")
    assert {len(slot) for slot in made.slots} == {made.ranks} == {each}
    words = made.command(made.slots[0], WORDS)
    assert words == ["torchrun", "--standalone", "--nproc-per-node", str(each), "-m", *MODULE]
    assert launch.program(words) == [sys.executable, "-m", "torch.distributed.run", *words[1:]]
    shown = [made.environment(slot, {"RANK": "1", "PATH": "/bin"}) for slot in made.slots]
    assert shown[-1] == {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": ",".join("01234567"[-each:])}


@pytest.mark.usefixtures("eight")
def test_gpus_that_this_process_may_use(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-5f3a, GPU-77b0")
    assert fleet(2, 1).slots == (("GPU-5f3a",), ("GPU-77b0",))
    refused([(lambda: fleet(9), "gpus: expected at most the 8 of this machine (or --device cpu), got 9")])
    assert ReproduceOptions(gpus=9).fleet(elsewhere=True).ranks == 9
    assert fleet(9, device="cpu").environment(("0",), {}) == {}


def test_a_launcher_of_ones_own_has_one_run_at_a_time():
    made = fleet(16, launcher="srun python -m")
    assert (len(made.slots), made.ranks) == (1, 16)
    assert launch.program(made.command(made.slots[0], WORDS)) == ["srun", "python", "-m", *MODULE]
    assert made.environment(made.slots[0], {"MASTER_ADDR": "a"}) == {"MASTER_ADDR": "a"}


def test_requests_that_do_not_fit():
    rows = [
        ({"gpus": 0}, "gpus: expected at least 1 where runs are launched, got none"),
        ({"jobs": 0}, "jobs: expected at least 1, got 0"),
        ({"gpus_per_run": 4}, "gpus: expected at least 1 where runs are launched, got none"),
        ({"gpus": 8, "gpus_per_run": 3}, "gpus-per-run: expected a divisor with --gpus 8, got 3"),
        ({"gpus": 8, "gpus_per_run": 4, "launcher": "srun x"}, "gpus-per-run: expected 8, since a launcher has one"),
    ]
    refused([(lambda options=options: ReproduceOptions(**options), words) for options, words in rows])


def test_what_does_not_compute_on_ranks_is_one_process():
    made = fleet(2, device="cpu")
    assert made.command(made.slots[0], ["evaluate", "run"])[-4:] == ["-m", "recommit.cli", "evaluate", "run"]
    for words in (["report", "eval"], ["train", "head", "graph"], ["data", "build"]):
        assert made.command(made.slots[0], words) == ["recommit", *words]
        assert not made.on_ranks(made.slots[0], words)
    alone = ReproduceOptions(jobs=3).fleet()
    assert (alone.slots, alone.ranks) == (((), (), ()), 1)
    assert alone.command((), WORDS) == ["recommit", *WORDS]
    alone = made.worker(made.slots[0], Path("queue"), on_ranks=False)
    assert launch.program(alone) == [sys.executable, "-m", "recommit.cli.worker", "queue"]


def test_flags_of_a_call_go_to_the_verbs_that_take_them():
    told = ReproduceOptions(device="cpu", wandb="mine", backbone="/b", backbone_class="a:B").fleet().told
    given = ["--backbone", "/b", "--backbone-class", "a:B"]
    assert told("train grpo") == ["--device", "cpu", *given, "--wandb", "mine"]
    assert told("evaluate") == ["--device", "cpu", *given]
    assert told("train head") == given
    assert told("report") == told("data build") == []
