"""C10: two processes that build one solver table leave one whole file."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.verify.harness import expect, run
from tests.waiting import HANG

#: Of builders that begin at the same time.
PAIRS = int(os.environ.get("RECOMMIT_PAIRS", "2"))

BUILD = """
import sys, os, recommit, numpy as np
if sys.argv[1] == "plant":
    path = os.path.join(os.environ["RECOMMIT_CACHE"], "sliding-3x4-small.tbl")
    recommit.Sliding(3, 4).prepare()
    data = open(path, "rb").read()
    open(path, "wb").write(data[: len(data) // 2])
    os._exit(0)
task = recommit.Sliding(3, 4)
print(task.distance(task.generate(50, seed=1, length=(20, 30)).states).tolist())
"""


def digests(folder: Path) -> dict[str, str]:
    """Name and hash of every file."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def started(kind: str, env: dict[str, str]) -> subprocess.Popen[str]:
    """One builder."""
    return subprocess.Popen([sys.executable, "-c", BUILD, kind], env=env, stdout=subprocess.PIPE, text=True)


def builders(plant: bool) -> tuple[int, str]:
    """Against what one process alone answers and leaves behind."""
    with tempfile.TemporaryDirectory() as name:
        alone = Path(name)
        answer = run([sys.executable, "-c", BUILD, "-"], env={"RECOMMIT_CACHE": name})
        expected = digests(alone)
    expect(len(expected) >= 2, f"no table was kept: {expected}")
    for number in range(PAIRS):
        with tempfile.TemporaryDirectory() as name:
            env = {**os.environ, "RECOMMIT_CACHE": name}
            both = [started("-", env)]
            if plant:
                both[0].wait(timeout=HANG)
            both.append(started("plant" if plant else "-", env))
            said = [process.communicate(timeout=HANG)[0] for process in both]
            expect(all(process.returncode == 0 for process in both), f"round {number}: a builder failed")
            expect(plant or said == [answer, answer], f"round {number}: other answers")
            remaining = digests(Path(name))
            expect(remaining == expected, f"round {number}: expected files {expected}, got {remaining}")
    return PAIRS, "pairs of builders"
