"""A rank of commands that only count, for ``test_run``: python one_rank.py QUEUE."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from recommit.reproduce import worker
from recommit.runs.progress import Interrupt, hold_tether
from recommit.storage import verified
from recommit.storage.files import Files


def gone(pid: Path) -> bool:
    """Was there such a process, and has its parent heard of its end?"""
    try:
        os.kill(int(pid.read_text() or os.getpid()), 0)
    except FileNotFoundError:
        return False
    except ProcessLookupError:
        return True
    return False


def main(mode: str, folder: Path) -> int:
    if mode != "deaf":
        hold_tether()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pid").write_text(str(os.getpid()))
    if mode == "fails":
        print("recommit: optim.batch: expected a multiple of 8 ranks, got 12")
        print(
            "E1126 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 2)\nTraceback of torchrun"
        )
        return 2
    with Interrupt() as interrupt, (folder / "timing.jsonl").open("a") as timing:
        for step in range(1, 3 if mode in ("short", "stumbles", "lies") else 10**6):
            timing.write(json.dumps({"step": step}) + "\n")
            timing.flush()
            time.sleep(0.01)
            if interrupt.number:
                (folder / "saved").touch()
                return 130
            if mode == "waits" and gone(folder.parent / "fails" / "pid"):
                break
    if mode != "lies":
        (folder / "best.json").write_text("{}")
        verified.seal(Files(), folder, ["best.json"])
    return 6 if mode == "stumbles" else 0


if __name__ == "__main__":
    sys.exit(worker.work(Path(sys.argv[1]), lambda words: main(words[2], Path(words[3]))))
