"""F4: hard Sokoban levels under a memory limit: the process stays within it, and answers UNKNOWN where it must.

``python -m tests.verify.memory [--plant]``: 64 MB, then 16 MB, for the solver, and an address space of 200 MB
more than the interpreter has. Planted: a solver that was allowed four times as much as it is judged by.
"""

from __future__ import annotations

import json
import sys

from tests.verify.harness import ROOT, expect, main, run

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


def check(plant: bool) -> tuple[int, str]:
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


if __name__ == "__main__":
    main(check)
