"""D1 to D3, C10: what is computed does not depend on threads, on processes and their order, or on the surroundings;
processes that build one solver table at the same time leave one whole file.

``python -m tests.verify.determinism threads|processes|environment|builders [--plant]``
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.verify.harness import ROOT, expect, main, run
from tests.waiting import HANG

THREADS = (1, 2, 3, 8)
PROCESSES = (1, 2, 4)
PIECES, PIECE = 8, 50
#: Of builders that begin at the same time.
PAIRS = int(os.environ.get("RECOMMIT_PAIRS", "2"))

#: Each differs from the others in everything that a careless program might look at.
SURROUNDINGS = (
    {"TZ": "UTC", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "0", "umask": "022"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "1", "umask": "077"},
    {"TZ": "America/St_Johns", "LC_ALL": "POSIX", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "12345", "umask": "002"},
)

#: Prints the digests of everything for one thread count; planted: a result that depends on the thread count.
COMPUTE = """
import json, sys
from recommit.puzzles.signature import signature
threads, plant = int(sys.argv[1]), sys.argv[2] == "plant"
found = signature(threads)
if plant: found["sim"] ^= threads
print(json.dumps(found))
"""

#: Writes the bytes of one piece of a run of instances; planted: an index counted from the piece's own start.
WRITE_PIECE = """
import sys, recommit
folder, start, count, plant = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "plant"
begin = 0 if plant else start
for task in (recommit.Sliding(4), recommit.Sokoban(8, boxes=2)):
    states = task.generate(count, seed=3, start=begin).states
    open(f"{folder}/{task.task}-{start:05}", "wb").write(states.tobytes())
"""

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


def threads(plant: bool) -> tuple[int, str]:
    """D1."""
    tried = THREADS[:2] if plant else THREADS
    found = {n: json.loads(run([sys.executable, "-c", COMPUTE, n, _flag(plant)])) for n in tried}
    expect(all(found[n] == found[1] for n in tried), f"results depend on the number of threads: {found}")
    return len(tried) * len(found[1]), "digests"


def processes(plant: bool) -> tuple[int, str]:
    """D2: pieces written by several processes at once, in any order, are the pieces of one run."""
    order = list(range(PIECES))
    trees = {}
    for workers in PROCESSES[-1:] if plant else PROCESSES:
        random.Random(workers).shuffle(order)
        with tempfile.TemporaryDirectory() as folder:
            for begin in range(0, PIECES, workers):
                _together([[folder, i * PIECE, PIECE, _flag(plant)] for i in order[begin : begin + workers]])
            whole = b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir()))
            trees[workers] = hashlib.sha256(whole).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        _together([[folder, 0, PIECES * PIECE, "plain"]])
        trees[0] = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir()))).hexdigest()
    expect(len(set(trees.values())) == 1, f"results depend on processes or their order: {trees}")
    return len(PROCESSES) * PIECES, "pieces"


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


def _together(argument_lists: list[list[object]]) -> None:
    """Several processes at once."""
    running = [
        subprocess.Popen([sys.executable, "-c", WRITE_PIECE, *map(str, arguments)], cwd=ROOT, env=os.environ)
        for arguments in argument_lists
    ]
    statuses = [process.wait() for process in running]
    expect(not any(statuses), f"a process failed: {statuses}")


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


if __name__ == "__main__":
    main(threads, processes, environment, builders)
