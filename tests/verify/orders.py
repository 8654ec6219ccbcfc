"""R1: no test depends on what ran before it, on CI being set, on the number of workers, or on a core of its own.

``python -m tests.verify.orders [--plant]``: the whole suite in RECOMMIT_ORDERS (5) random orders of files, and of tests
in files, by one and by four workers in turn, with ``CI`` set and unset, beside two programs that never rest. The seeds
belong to the day. Planted: a test that fails after another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from tests.verify.harness import ROOT, expect, main

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDERS = int(os.environ.get("RECOMMIT_ORDERS", "5"))
LOOPS = 2
PLANTED = (
    "import sys\ndef test_first():\n    sys.planted = 1\ndef test_second():\n    assert not hasattr(sys, 'planted')\n"
)


@contextmanager
def busy() -> Iterator[None]:
    """Programs that do nothing but count."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def once(seed: int, workers: int, ci: bool, *paths: object) -> tuple[int, list[str]]:
    """Run the tests in an order; how many passed, and the names of those that did not."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | ({"CI": "true"} if ci else {})
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        words = ["-q", "-p", "no:cacheprovider", "--dist", "worksteal", "-n", workers, f"--random-order={seed}"]
        command = [sys.executable, "-m", "pytest", *words, f"--junit-xml={results}", *paths]
        subprocess.run([str(word) for word in command], check=False, cwd=ROOT, env=environment, stdout=sys.stderr)
        expect(results.is_file(), "pytest wrote no results")
        cases = list(ET.parse(results).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(failed), [f"{case.get('classname')}::{case.get('name')}" for case in failed]


def check(plant: bool) -> tuple[int, str]:
    """Every order; planted: one of a few orders has the second test first, and it fails in all others."""
    first, total = date.today().toordinal() * ORDERS, 0
    if plant:
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            path = Path(folder) / "test_planted.py"
            path.write_text(PLANTED, encoding="utf-8")
            red = [failed for seed in range(8) if (failed := once(seed, 0, False, "-p", "tests.conftest", path)[1])]
            expect(not red or len(red) == 8, f"red in {len(red)} of 8 orders: {red[0] if red else ''}")
        return 8, "planted orders"
    with busy():
        for seed in range(first, first + ORDERS):
            workers, ci = (1, 4)[seed % 2], seed % 4 < 2
            passed, failed = once(seed, workers, ci)
            words = f"pytest --random-order={seed} -n {workers}, CI {'set' if ci else 'unset'}"
            expect(not failed, f"{words}: {len(failed)} failed, {failed[:5]}")
            total += passed
    return total, f"tests in {ORDERS} orders, beside {LOOPS} busy programs"


if __name__ == "__main__":
    main(check)
