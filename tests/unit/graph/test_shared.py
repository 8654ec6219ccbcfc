"""Several processes: the same files as one, and what would make them others is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from tests.ports import free_port
from tests.waiting import HANG

import recommit
from recommit.graph.build import PolicyGraph
from recommit.runs.distributed import Team

AGENTS = (
    "adaptive",
    "fixed-4",
    "fixed-2-sampled",
    "random",
    "shuffled",
    "oracle-dp",
    "random-actions",
    "confidence-least",
)


def start(run, out, rank=0, world=1, port=0):
    environment = {
        **os.environ,
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_RANK": str(rank),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    call = [sys.executable, "-m", "recommit.cli", "evaluate", str(run), "--out", str(out), "--device", "cpu"]
    sizes = ["--instances", "160", "--validation", "8", "--quiet", "--budgets", "4", "3"]
    words = [*call, *sizes, "--agents", *AGENTS]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def unlike(run):
    """A policy that says something else of every state."""
    policy = recommit.CommitPolicy.from_pretrained(run).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        policy.depth_head.weight.normal_()
        for parameter in policy.decoder.parameters():
            parameter.mul_(3)
    return policy


@pytest.fixture(scope="module")
def larger(run, tmp_path_factory):
    """A run on 3x3 boards: more states than one process plans at together."""
    folder = tmp_path_factory.mktemp("larger")
    config = json.loads((run / "config.json").read_text())
    config["data"]["recipe"] |= {"size": [3, 3], "difficulties": [{"length": [8, 20]}]}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "best.json").write_text(json.dumps({"policy": "policy"}))
    policy = unlike(run)
    policy.note_trained("sliding-3x3")
    policy.save_pretrained(folder / "policy")
    return folder


def files_of(folder):
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "timing.jsonl")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.mark.nightly
def test_two_processes_write_the_same_bytes_as_one(larger, tmp_path):
    port = free_port()
    called = [start(larger, tmp_path / "one"), *(start(larger, tmp_path / "two", rank, 2, port) for rank in (0, 1))]
    said = [process.communicate(timeout=HANG) for process in called]
    assert [process.returncode for process in called] == [0, 0, 0], said
    assert said[0][0] == said[1][0]
    assert said[2][0] == b"", "one of them speaks"
    one, two = files_of(tmp_path / "one"), files_of(tmp_path / "two")
    assert one.keys() == two.keys()
    assert {"summary.json", "episodes.parquet", "decisions/fixed-2-sampled@4-s1.parquet"} <= one.keys()
    assert not [name for name in one if one[name] != two[name]]
    summary = {row["agent"]: row for row in json.loads(one["summary.json"])}
    assert len(summary["adaptive"]["depth_shares"]) > 1, "what is compared depends on what was seen"


class Thread(Team):
    """A rank that is a thread; ``swapped`` plants a defect: everybody hears the others in another order."""

    def __init__(self, rank, world, gathered, gate, swapped):
        super().__init__(rank, world)
        object.__setattr__(self, "_told", (gathered, gate, swapped))

    def gather(self, content):
        gathered, gate, swapped = self._told
        gathered[self.rank] = content
        gate.wait()
        every = [gathered[rank] for rank in sorted(gathered, reverse=swapped)]
        gate.wait()
        return every


def graph(policy, task, starts, world, *, swapped=False):
    """Of every rank, after two rounds; after one that divides evenly if the ranks are swapped."""
    gathered, gate = {}, threading.Barrier(world)
    teams = [Thread(i, world, gathered, gate, swapped) for i in range(world)]
    made = [PolicyGraph(policy, task, (1, 4, 8), team=team, piece=16) for team in teams]

    def look(reach):
        torch.set_num_threads(1)  # how many a product gets while others run, and so its last bits, would be chance
        at = reach.nodes(starts)
        reach.expand(at)
        if not swapped:
            reach.expand(np.unique(reach.landing[at]))

    before = torch.get_num_threads()
    threads = [threading.Thread(target=look, args=(one,)) for one in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.set_num_threads(before)
    return made


@pytest.mark.parametrize("world", [2, 3])
def test_every_rank_has_the_graph_of_one_process(run, world, monkeypatch):
    policy = unlike(run)
    task = recommit.Sliding(2, 3)
    starts = task.generate(72, seed=4, length=(4, 14)).states
    planned = []
    plan = policy.plan
    monkeypatch.setattr(policy, "plan", lambda *a: (planned.append(len(a[1])), plan(*a))[1])
    (alone,) = graph(policy, task, starts, 1)
    once = sum(planned)
    planned.clear()
    team = graph(policy, task, starts, world)
    assert sum(planned) == once, "every state is planned at by one rank"
    names = ("states", "plans", "logits", "landing", "executed", "goal", "planned")
    for reach in team:
        assert all(np.array_equal(getattr(reach, name), getattr(alone, name)) for name in names)
    even = np.unique(starts, axis=0)[: 16 * world]
    wrong = graph(policy, task, even, world, swapped=True)[0]
    assert not np.array_equal(wrong.logits[: len(even)], alone.logits[alone.find(even)])
