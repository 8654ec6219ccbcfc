"""One rank that does nothing but stay connected: python peer.py HOW, what it does when everybody is there."""

from __future__ import annotations

import os
import sys
import threading

from recommit.train import ranks
from recommit.train.peers import watched


def main(how: str) -> int:
    team = ranks.meet("cpu")
    with watched(team):
        team.barrier()
        if how == "wrong":
            raise ValueError("an error that every rank has")
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


if __name__ == "__main__":
    ranks.end(main(sys.argv[1]))
