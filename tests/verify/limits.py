"""F3, F4, K5: what absurd requests, hard levels and an import may take.

oversize  absurdly large requests are refused by name, at once, before memory is taken for them
memory    hard Sokoban levels, with 64 MB, then 16 MB, for the solver and an address space of 200 MB more than the
          interpreter has: the process stays within, and answers UNKNOWN where it must
imports   the core imports without any extra, quickly, and says what to install where one is missing
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
from pathlib import Path

from tests.effort import unit
from tests.verify.harness import ROOT, expect, run

LIMIT_BYTES = 2**30
#: Units of tests/effort.py, half a millisecond or so each.
LIMIT_EFFORT = 2000
LIMIT_GROWTH = 200 * 2**20

#: name -> an expression that must raise ValueError or TypeError. `big` is a sparse file of 1 GiB, `wide` one line of
#: a million columns.
REQUESTS = {
    "sliding 1000": "recommit.Sliding(1000)",
    "sliding -3": "recommit.Sliding(-3)",
    "sliding 2**70": "recommit.Sliding(2**70)",
    "sliding nan": "recommit.Sliding(float('nan'))",
    "sokoban a million": "recommit.Sokoban(10**6)",
    "sokoban 65": "recommit.Sokoban(65)",
    "sokoban boxes 2**40": "recommit.Sokoban(8, boxes=2**40)",
    "generate 2**31": "recommit.Sliding(3).generate(2**31)",
    "generate 2**70": "recommit.Sliding(3).generate(2**70)",
    "generate -1": "recommit.Sokoban(8).generate(-1)",
    "generate 1.5": "recommit.Sokoban(8).generate(1.5)",
    "seed 2**64": "recommit.Sliding(3).generate(1, seed=2**64)",
    "start -1": "recommit.Sliding(3).generate(1, start=-1)",
    "threads -1": "recommit.Sliding(3).is_solved(goal, threads=-1)",
    "action 2**63": "recommit.Sliding(3).step(goal, np.array([2**63], np.uint64))",
    "action nan": "recommit.Sliding(3).step(goal, np.array([np.nan]))",
    "depth 2**62": "recommit.Sliding(3).execute(goal, np.zeros((1, 2), np.uint8), np.array([2**62]))",
    "a batch of 2**31 by strides": "recommit.Sliding(3).is_solved(np.broadcast_to(goal, (2**31, 3, 3)))",
    "a level of 2**15 rows": "recommit.Sokoban(8).is_solved(np.broadcast_to(np.uint8(1), (1, 2**15, 2**14)))",
    "a file of 1 GiB": "recommit.read_levels(big)",
    "a million columns": "recommit.read_levels(wide)",
    "cells of a million pixels": "recommit.Sliding(3).render(goal, cell=10**6)",
    "cells of -1 pixels": "recommit.Sliding(3).render(goal, cell=-1)",
    "patches of 2**40 pixels": "recommit.Sliding(3).patches(goal, cell=2**40)",
}

#: Tries each request within a limit of memory, and prints what came of it.
TRY_ALL = """
import json, resource, sys, time
import numpy as np
import recommit
folder, limit = sys.argv[2], int(sys.argv[3])
goal = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 0]]], np.uint8)
big, wide = folder + "/big", folder + "/wide"
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name, expression in json.loads(sys.argv[1]).items():
    before, begin = peak(), time.process_time()
    try:
        eval(expression)
        outcome = "was accepted"
    except (ValueError, TypeError) as error:
        outcome = "refused" if len(str(error)) >= 10 else f"has an empty message: {error}"
    except BaseException as error:
        outcome = f"raised {error!r}"
    seconds, growth = time.process_time() - begin, peak() - before
    print(json.dumps({"name": name, "outcome": outcome, "seconds": seconds, "growth": growth}), flush=True)
"""


def oversize(plant: bool) -> tuple[int, str]:
    """Try every request; planted: one that is carried out."""
    requests = {"planted": "np.zeros(2**27, np.uint8)"} if plant else REQUESTS
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "big").open("wb") as file:
            file.truncate(2**30)
        Path(folder, "wide").write_text("#" * 10**6 + "\n")
        said = run([sys.executable, "-c", TRY_ALL, json.dumps(requests), folder, LIMIT_BYTES]).splitlines()
    for found in map(json.loads, said):
        name = f"{found['name']}: {requests[found['name']]}"
        expect(found["outcome"] == "refused", f"{name}: {found['outcome']}")
        expect(found["seconds"] / unit() < LIMIT_EFFORT, f"{name}: took {found['seconds']:.2f} s")
        expect(found["growth"] < LIMIT_GROWTH, f"{name}: took {found['growth']} bytes")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return len(said), f"requests, peak {peak:.0f} MiB under RLIMIT_AS 1 GiB"


SPACE = 200_000_000
BYTE_LIMIT = 3
#: Limit of bytes, limit of nodes, and the levels: crowded ones and a hall whose table would take 150 MB, or the long
#: corridor, whose search fills any memory.
RUNS = ((64_000_000, 60_000, "many"), (16_000_000, 2_000_000, "corridor"))

#: Solves the levels one after the other and tells the growth of the peak after each.
SOLVE = """
import json, resource, sys
import numpy as np
import recommit
limit, space, nodes = map(int, sys.argv[1:4])
own = recommit.read_levels(sys.argv[5])
hall = np.ones((12, 13), np.uint8)
hall[1:-1, 1:-1] = 0
hall[5:7, 5:7], hall[3, 3:10:2], hall[1, 1] = 2, 3, 5
crowded = recommit.Sokoban((12, 12), 8).generate(8, seed=4, generator="reverse").states
levels = [own[3]] if sys.argv[4] == "corridor" else [hall, own[2], own[5], *crowded]
recommit.Sokoban(6, 1).generate(2, seed=1, threads=1)  # whatever is set up once
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
size = int(status["VmSize"].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + space, size + space))
before, found = peak(), []
for level in levels:
    answer = recommit.Sokoban().solve(level[None], recommit.Limits(bytes=limit, nodes=nodes), threads=1)
    found.append((int(answer.status[0]), int(answer.bound[0]), peak() - before))
    recommit._core.sokoban.table_cache(clear=True)
print(json.dumps(found))
"""


def memory(plant: bool) -> tuple[int, str]:
    """One process for all levels of a run: what one leaves behind would show in the next."""
    total, parts = 0, []
    for limit, nodes, which in RUNS:
        allowed, space = (4 * limit, 10 * SPACE) if plant else (limit, SPACE)
        words = [sys.executable, "-c", SOLVE, allowed, space, nodes, which, ROOT / "bench/solving/sokoban_own.txt"]
        found = json.loads(run(words).splitlines()[-1])
        most = max(grown for _, _, grown in found)
        expect(most <= 1.1 * limit, f"the peak grew by {most:,} bytes, the limit is {limit:,}")
        expect(any(status >= 2 for status, _, _ in found), "no level was too hard: this shows nothing")
        expect(all(bound > 0 for status, bound, _ in found if status >= 2), "UNKNOWN without a bound")
        expect(which == "many" or found[0][0] == BYTE_LIMIT, f"the search did not fill its memory: {found}")
        total += len(found)
        parts.append(f"{most / 1e6:.1f} of {limit / 1e6:.0f} MB")
    return total, f"levels, peaks of {' and '.join(parts)}"


#: Units of tests/effort.py, half a millisecond or so each.
IMPORT_EFFORT = 1000
REPEATS = 3

#: Only the package, numpy and the standard library can be found.
ALONE = """
import importlib.abc, sys, time
OTHERS = {"torch", "transformers", "deepspeed", "gymnasium", "tyro", "rich", "PIL", "ray", "openai"}
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])
sys.meta_path.insert(0, Missing())
"""
TIMED = "begin = time.process_time(); import recommit; print(time.process_time() - begin)"
USED = "t = recommit.Sliding(3); s = t.generate(4, seed=0).states; t.step(s, __import__('numpy').zeros(4, 'i4'))"
FOREIGN = (
    "tops = {n.split('.')[0] for n, m in sys.modules.items() if 'site-packages' in (getattr(m, '__file__', '') or '')};"
    "print(' '.join(sorted(tops - {'recommit', 'numpy', '_recommit_editable', 'sitecustomize'})))"
)


def imports(plant: bool) -> tuple[int, str]:
    """Import in fresh processes; planted: an import that takes longer than allowed."""
    slow = "sum(range(100_000_000));" if plant else ""
    timed = TIMED.replace("import recommit;", f"{slow} import recommit;")
    repeats = 1 if plant else REPEATS
    seconds = [float(run([sys.executable, "-c", f"{ALONE}{timed}"])) for _ in range(repeats)]
    median = statistics.median(seconds)
    units = median / unit()
    expect(
        units < IMPORT_EFFORT,
        f"import recommit took {units:.0f} units of effort ({median:.3f} s), expected < {IMPORT_EFFORT}",
    )
    run([sys.executable, "-c", f"{ALONE}{timed}\n{USED}"])
    foreign = run([sys.executable, "-c", f"import sys\nbefore = set(sys.modules)\nimport recommit\n{FOREIGN}"]).split()
    unexpected = [name for name in foreign if not name.startswith(("_", "recommit", "__editable__"))]
    expect(not unexpected, f"import recommit also imported {unexpected}")
    said = run([sys.executable, "-c", f"{ALONE}\n{CALL}"])
    expect("pip install '.[cli]'" in said, f"no hint at the missing extra in: {said}")
    return REPEATS, f"imports, median {median:.3f} s of CPU time"


CALL = """
import contextlib, io
from recommit.cli import main
text = io.StringIO()
with contextlib.redirect_stderr(text):
    status = main(["solve", "levels.txt"])
assert status == 2, status
print(text.getvalue())
"""
