"""Too little memory, at whatever point it runs out: a message, shards intact, and a rerun finishes.

Arrow, numpy and the C library do not survive every failed allocation: ``std::bad_alloc`` where Arrow promises not to
throw, a MemoryError that numpy's iterator raises without holding the interpreter's lock (a null thread state, seen in
the debugger), no room for a thread's variables. Such an end is allowed here, and counted: it is a kill like any other.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from tests.crash.trees import SMALL, differences, findings, tree

from recommit.data.builder import build

#: The address space is cut to what is in use now and ``spare`` more, then the command runs. One thread everywhere:
#: each thread takes address space of its own.
SCRIPT = """
import resource, sys, tempfile
import pyarrow
from pathlib import Path
from recommit.data import builder
from recommit.data import spec
import tyro
from recommit.cli import main
pyarrow.set_cpu_count(1)
plan = spec.DataSpec("sokoban", (6, 6), (spec.Difficulty((2, 9), 1),), 4, test=2)
with tempfile.TemporaryDirectory() as folder:
    builder.build(plan, folder)  # so that everything is imported
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
spare = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (used + spare, resource.RLIM_INFINITY))
sys.exit(main(["data", "build", "--recipe", sys.argv[1], "--out", sys.argv[2]]))
"""


#: Arrow's own allocator tries for half a minute before it gives up.
WORLD = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
MESSAGES = {
    1: "out of memory|not enough memory|Failed to launch worker thread",
    -signal.SIGABRT: "std::bad_alloc|arrow::stl::BadAlloc|cannot allocate memory for thread-local data",
    -signal.SIGSEGV: "",
}


@pytest.mark.parametrize("steps", [pytest.param(60, marks=pytest.mark.nightly)])
def test_less_and_less_memory(tmp_path, steps, record_property):
    plan = SMALL.changed(count=4000, shard=2000, perturbed=4)
    recipe, calm, folder = tmp_path / "recipe.json", tmp_path / "calm", tmp_path / "set"
    recipe.write_text(plan.to_json(), "utf-8")
    build(plan, calm)
    expected, ends = tree(calm), []
    for step in range(steps):
        spare = 32 * (step + 1) * (1 << 20) // steps
        call = [sys.executable, "-c", SCRIPT, str(spare), str(recipe), str(folder)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=WORLD)
        ends.append(done.returncode)
        assert done.returncode in (0, *MESSAGES), (spare, done.returncode, done.stderr)
        if done.returncode:
            assert re.search(MESSAGES[done.returncode], done.stderr), done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert findings(folder, expected) == []
        build(plan, folder)
        assert differences(folder, expected) == []
        shutil.rmtree(folder)
    assert ends.count(0) < steps
    record_property("executed", steps)
    print({end: ends.count(end) for end in sorted(set(ends))})
