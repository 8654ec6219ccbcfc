"""F3: absurdly large requests are refused by name, at once, before memory is taken for them."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.effort import unit
from tests.verify.harness import expect, main, run

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

CHILD = """
import json, resource, sys, time
import numpy as np
import recommit
expression, folder, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
goal = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 0]]], np.uint8)
big, wide = folder + "/big", folder + "/wide"
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    eval(expression)
    outcome = "was accepted"
except (ValueError, TypeError) as error:
    outcome = "refused"
    message = str(error)
    if len(message) < 10: outcome = "has an empty message: " + message
except BaseException as error:
    outcome = "raised " + repr(error)
growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
print(json.dumps({"outcome": outcome, "seconds": time.process_time() - begin, "growth": growth}))
"""


def check(plant: bool) -> tuple[int, str]:
    """Try every request in its own process; planted: a request that is carried out."""
    requests = {"planted": "np.zeros(2**27, np.uint8)"} if plant else REQUESTS
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "big").open("wb") as file:
            file.truncate(2**30)
        Path(folder, "wide").write_text("#" * 10**6 + "\n")
        for name, expression in requests.items():
            found = json.loads(run([sys.executable, "-c", CHILD, expression, folder, LIMIT_BYTES]))
            expect(found["outcome"] == "refused", f"{name}: {found['outcome']}: {expression}")
            expect(found["seconds"] / unit() < LIMIT_EFFORT, f"{name}: took {found['seconds']:.2f} s: {expression}")
            expect(found["growth"] < LIMIT_GROWTH, f"{name}: took {found['growth']} bytes: {expression}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return len(requests), f"requests in {time.monotonic() - begin:.0f} s, peak {peak:.0f} MiB under RLIMIT_AS 1 GiB"


if __name__ == "__main__":
    main(check)
