"""D3, C10: files do not depend on the surroundings; two processes that build one solver table leave one whole file."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.verify.harness import expect, run
from tests.waiting import HANG

#: Of builders that begin at the same time.
PAIRS = int(os.environ.get("RECOMMIT_PAIRS", "2"))

#: Each differs from the others in everything that a careless program might look at.
SURROUNDINGS = (
    {"TZ": "UTC", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "0", "umask": "022"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "1", "umask": "077"},
    {"TZ": "America/St_Johns", "LC_ALL": "POSIX", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "12345", "umask": "002"},
)


#: Writes files the way a user does; planted: a title that depends on the hash seed.
WRITE_FILES = """
import sys, recommit
from recommit.cli import main
folder, plant = sys.argv[1], sys.argv[2] == "plant"
for task, size in (("sokoban", "8"), ("sliding", "4")):
    out = ["--out", f"{folder}/{task}.txt"]
    assert main(["levels", "generate", "--task", task, "--size", size, "--count", "50", *out]) == 0
states = recommit.Sokoban(8, boxes=2).generate(20, seed=1).states
titles = [str(hash("title") if plant else i) for i in range(20)]
recommit.write_levels(f"{folder}/titles.txt", states, titles=titles)
"""


def tree(folder: Path) -> str:
    """A digest of names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def environment(plant: bool) -> tuple[int, str]:
    """D3: the same command in different surroundings, twice in the first."""
    digests = []
    for where in SURROUNDINGS[:2] if plant else (*SURROUNDINGS, SURROUNDINGS[0]):
        folder, cwd = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
        env = {name: value for name, value in where.items() if name != "umask"}
        words = [sys.executable, "-c", WRITE_FILES, folder, _flag(plant)]
        run(["sh", "-c", f'umask {where["umask"]}; exec "$@"', "sh", *words], env=env, cwd=cwd)
        digests.append(tree(folder))
        expect(not list(cwd.iterdir()), "the working directory was written to")
        shutil.rmtree(folder)
        shutil.rmtree(cwd)
    expect(len(set(digests)) == 1, f"files depend on the surroundings: {digests}")
    return len(digests), "runs"


def _flag(plant: bool) -> str:
    return "plant" if plant else "plain"


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
