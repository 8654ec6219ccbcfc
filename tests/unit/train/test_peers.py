"""When a rank ends, the others end with a sentence; when all end alike, each says what it has to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
from tests.waiting import HANG

from recommit.train.ports import free_port

SENTENCE = "rank {}: rank 2 ended before its work was done, so this one stops, too"


def run(how: str) -> list[tuple[int, str]]:
    """Exit status and what was said by three ranks."""
    port = free_port()
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "3", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).parent / "peer.py"), how]
    ranks = [
        subprocess.Popen(command, env={**os.environ, **place, "RANK": str(r)}, stderr=subprocess.PIPE, text=True)
        for r in range(3)
    ]
    try:
        return [(rank.wait(), text) for rank in ranks for text in [rank.communicate(timeout=HANG)[1]]]
    finally:
        for rank in ranks:
            rank.kill()


@pytest.mark.parametrize(("how", "status"), [("killed", -9), ("failed", 1), ("failed in a collective", 1)])
def test_the_others_end_and_say_why(how, status):
    *others, last = run(how)
    assert last[0] == status
    assert [each[0] for each in others] == [1, 1]
    assert all(SENTENCE.format(rank) in said for rank, (_, said) in enumerate(others))
    assert ("as gloo says it" in last[1]) == (how == "failed in a collective")


def test_ranks_that_are_done_part_in_peace():
    assert [(status, "ended" in said) for status, said in run("done")] == [(0, False)] * 3


def test_an_error_of_all_ranks_is_said_by_each():
    ranks = run("wrong")
    assert [status for status, _ in ranks] == [1, 1, 1]
    assert all("an error that every rank has" in said and "before its work" not in said for _, said in ranks)
