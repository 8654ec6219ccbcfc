"""When a rank ends, the others end with a sentence; when all end alike, each says what it has to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
from tests.ports import free_port
from tests.waiting import HANG

SENTENCE = "rank {}: rank 2 ended before its work was done, so this one stops, too"
ENDS = ("killed", "failed", "failed in a collective", "done", "wrong", "damaged")


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """By what the last rank did: exit status and what was said by three ranks."""
    script, folder = Path(__file__).parent / "peer.py", tmp_path_factory.mktemp("peers")
    call = [sys.executable, str(script), str(folder), *(f"{how}:{free_port()}" for how in ENDS)]
    done = subprocess.run(
        call, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False, timeout=HANG
    )
    assert done.returncode == 0, done.stderr
    return {how: ranks for line in done.stdout.splitlines() for how, ranks in json.loads(line).items()}


@pytest.mark.parametrize(("how", "status"), [("killed", -9), ("failed", 1), ("failed in a collective", 1)])
def test_the_others_end_and_say_why(ends, how, status):
    *others, last = ends[how]
    assert last[0] == status
    assert [each[0] for each in others] == [1, 1]
    assert all(SENTENCE.format(rank) in said for rank, (_, said) in enumerate(others))
    assert ("as gloo says it" in last[1]) == (how == "failed in a collective")


def test_ranks_that_are_done_part_in_peace(ends):
    assert [(status, "ended" in said) for status, said in ends["done"]] == [(0, False)] * 3


@pytest.mark.parametrize("how", ["wrong", "damaged"])
def test_an_error_of_all_ranks_is_said_by_each(ends, how):
    """Also one of ours that is a RuntimeError, as that of a collective operation is."""
    assert [status for status, _ in ends[how]] == [1, 1, 1]
    assert all("an error that every rank has" in said and "before its work" not in said for _, said in ends[how])
