"""Ranks that do nothing but stay connected: python peer.py FOLDER HOW:PORT..., what the last of three does when all are
there.

One process imports torch, and forks every rank. Of each HOW it prints a line of JSON: exit status and what was said, by
rank.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from unittest import mock

from recommit.runs import distributed, rank_watchdog
from recommit.runs.rank_watchdog import watched
from recommit.storage.errors import DataError

WORLD = 3
#: Seconds that a rank waits to hear more, in the place of its own: where every rank has an error, as long as it takes;
#: elsewhere nothing more ever comes.
HEARING = {"wrong": 900.0, "damaged": 900.0}


def meet(how: str) -> int:
    team = distributed.meet("cpu")
    with watched(team):
        team.barrier()
        if how == "wrong":
            raise ValueError("an error that every rank has")
        if how == "damaged":
            raise DataError("an error that every rank has")
        if team.rank != team.world - 1:
            if how != "done":
                threading.Event().wait()  # as in a collective operation that never ends
        elif how == "killed":
            os.kill(os.getpid(), 9)
        elif how == "failed":
            raise OSError("an error of the last rank alone")
        elif how == "failed in a collective":
            raise RuntimeError("as gloo says it")
    return 0


def fork(how: str, rank: int, port: int, said: Path) -> int:
    """The process of a rank, which says what it says in a file."""
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORLD), "RANK": str(rank)}
    os.environ.update(place)
    try:
        with mock.patch.object(rank_watchdog, "_HEARING", HEARING.get(how, 0.05)):
            distributed.end(meet(how))
    except BaseException:  # noqa: BLE001  (as Python ends: the child must not return into the loop)
        sys.excepthook(*sys.exc_info())
        distributed.end(1)


def main(folder: str, *every: str) -> None:
    for how, port in (each.split(":") for each in every):
        said = [Path(folder) / f"{how}-{rank}.txt" for rank in range(WORLD)]
        children = [fork(how, rank, int(port), path) for rank, path in enumerate(said)]
        statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps({how: [(status, path.read_text()) for status, path in zip(statuses, said, strict=True)]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
