"""Whatever started the ranks, they know each other; a launcher that is missing is made up for."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused
from tests.waiting import ended

from recommit.policy.config import PASS
from recommit.runs import distributed
from recommit.runs.distributed import Team, rank_batches, split_batches


def test_one_process_needs_no_launcher():
    environment: dict[str, str] = {}
    distributed.announce(environment)
    assert {k: environment[k] for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK")} == {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "LOCAL_RANK": "0",
    }


def test_slurm_is_understood():
    slurm = {"SLURM_NTASKS": "16", "SLURM_PROCID": "9", "SLURM_LOCALID": "1"}
    environment = {**slurm, "MASTER_ADDR": "first"}
    distributed.announce(environment)
    assert (environment["RANK"], environment["WORLD_SIZE"], environment["LOCAL_RANK"]) == ("9", "16", "1")


def test_what_cannot_be_known_is_asked_for():
    slurm = {"SLURM_NTASKS": "16", "SLURM_PROCID": "9", "SLURM_LOCALID": "1"}
    refused(
        [
            (lambda: distributed.announce(slurm), "MASTER_ADDR: expected the first host of the job, got none"),
        ]
    )


@pytest.mark.parametrize(
    "launcher", [{"LOCAL_RANK": "1"}, {"SLURM_NTASKS": "2", "SLURM_PROCID": "1", "SLURM_LOCALID": "1"}]
)
@pytest.mark.parametrize("name", ["cuda", "auto", "cuda:1"])
def test_a_rank_has_a_gpu_of_its_own(name, launcher, monkeypatch):
    """``set_device`` refuses one without a number."""
    own = {"RANK": "1", "WORLD_SIZE": "2"} if "LOCAL_RANK" in launcher else {}
    for key in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(key, raising=False)
    environment = {**os.environ, **launcher, **own, "MASTER_ADDR": "first", "MASTER_PORT": "29500"}
    monkeypatch.setattr(os, "environ", environment)
    taken = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    assert distributed.meet(name) == Team(1, 2, torch.device("cuda", 1))
    assert taken == [torch.device("cuda", 1)]


def test_the_launchers_own_argument_is_not_ours():
    given = ["--local_rank=1", "--recipe", "laptop-sliding", "--set", "a=--local_rank=2"]
    assert distributed.arguments(given) == given[1:]


def test_who_plays_alone_does_not_say_so_to_the_processes_that_it_starts(monkeypatch):
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert distributed.meet("cpu").world == 1
    assert "RANK" not in os.environ


@pytest.mark.parametrize("world", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 7, 64, PASS, 8 * PASS + 1])
def test_every_item_is_looked_at_once_and_no_rank_has_a_pass_more(count, world):
    pieces = split_batches(np.arange(count), world)
    each = [rank_batches(pieces, Team(rank, world), together=True) for rank in range(world)]
    assert sorted(np.concatenate([piece for mine in each for piece in mine])) == list(range(count))
    assert len({len(mine) for mine in each}) == 1, "ranks that must go together have as many passes"
    assert len(each[0]) == -(-count // (world * PASS))
    assert max(map(len, pieces)) <= PASS


def test_pieces_of_a_size_do_not_depend_on_the_ranks():
    one, four = (split_batches(np.arange(300), world, 128) for world in (1, 4))
    assert [len(piece) for piece in one] == [len(piece) for piece in four] == [128, 128, 44]
    assert [len(rank_batches(four, Team(rank, 4), together=False)) for rank in range(4)] == [1, 1, 1, 0]
    assert split_batches(np.arange(0), 4) == []


HANGING = """
import threading
from recommit.runs.distributed import Team
team = Team(rank=1, world=2)
def collective():
    threading.Event().wait()
team.watch(0.01)
collective()
"""


def test_a_rank_that_hangs_says_where():
    with ended(subprocess.Popen([sys.executable, "-c", HANGING], stderr=subprocess.PIPE)) as process:
        lines = iter(process.stderr.readline, b"")
        assert any(b"in collective" in line for line in lines)
