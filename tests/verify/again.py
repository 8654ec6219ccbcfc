"""R1: the Python tests again and again, beside programs that keep every core busy: none may fail by chance.

``python -m tests.verify.again [--plant]`` runs them beside four busy loops, RECOMMIT_RUNS (1) times, of which
RECOMMIT_SIDE (1) go on side by side. How many runs a commit has had, and how each ended, is noted in
``build/reports/again.jsonl``: the campaign goes on from night to night.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.verify.harness import ROOT, expect, main, run

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = ROOT / "build" / "reports" / "again.jsonl"
RUNS, SIDE = int(os.environ.get("RECOMMIT_RUNS", "1")), int(os.environ.get("RECOMMIT_SIDE", "1"))
#: Programs that do nothing but count, and a test that fails beside them: it expects to have a core for itself.
LOOPS, LOOP = 4, "while True: pass"
PLANTED = """
import time
def test_a_core_of_its_own():
    wall, own = time.perf_counter(), time.process_time()
    while time.process_time() - own < 2.0:
        pass
    assert time.perf_counter() - wall < 2.4
"""


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many programs that never rest."""
    programs = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def once(paths: list[str], workers: int) -> tuple[int, list[str]]:
    """Run the tests; how many passed, and the names of those that did not."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        words = ["-q", "-p", "no:cacheprovider", "--dist", "loadfile", "-n", str(workers), f"--junit-xml={results}"]
        subprocess.run([sys.executable, "-m", "pytest", *words, *paths], check=False, cwd=ROOT, stdout=sys.stderr)
        expect(results.is_file(), "pytest wrote no results")
        cases = list(ET.parse(results).iter("testcase"))
    failed = [f"{case.get('classname')}::{case.get('name')}" for case in cases if _failed(case)]
    return len(cases) - len(failed), failed


def _failed(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def commit() -> str:
    """What is tested."""
    return run(["git", "rev-parse", "--short=12", "HEAD"]).strip()


def earlier(name: str) -> list[dict[str, object]]:
    """The runs that this commit has had."""
    lines = LOG.read_text(encoding="utf-8").splitlines() if LOG.exists() else []
    return [line for line in map(json.loads, lines) if line["commit"] == name]


def check(plant: bool) -> tuple[int, str]:
    """The runs; planted: a test that wants a core for itself."""
    if plant:
        with tempfile.TemporaryDirectory() as folder, busy(LOOPS * (os.cpu_count() or 1)):
            path = Path(folder) / "test_planted.py"
            path.write_text(PLANTED, encoding="utf-8")
            _, failed = once([str(path), f"--rootdir={folder}"], 0)
            expect(not failed, f"failed: {', '.join(failed)}")
        return 1, "planted test"
    name = commit()
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with busy(LOOPS), ThreadPoolExecutor(SIDE) as suites:
        for passed, failed in suites.map(lambda _: once([], os.cpu_count() or 1), range(RUNS)):
            with LOG.open("a", encoding="utf-8") as log:
                log.write(json.dumps({"commit": name, "passed": passed, "failed": failed}) + "\n")
    every = earlier(name)
    red = [line["failed"] for line in every if line["failed"]]
    expect(not red, f"{len(red)} of {len(every)} runs of {name} failed, see {LOG}: {red[-1:]}")
    return len(every), f"runs of {every[0]['passed']} tests beside {LOOPS} busy loops, none of which failed"


if __name__ == "__main__":
    main(check)
