"""R1: no test depends on what ran before it, on CI being set, on the number of workers, on a core of its own, on a
quick disk, or on AVX-512.

The whole suite in RECOMMIT_ORDERS (5) random orders of files, and of tests
in files, by one and by four workers in turn, with ``CI`` set and unset, beside two programs that never rest
(RECOMMIT_LOOPS); the fourth without AVX-512, the fifth with 10 ms for all that is flushed to the disk. The seeds belong
to the day. Planted: a test that fails after another one.
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

from tests.verify.harness import BUILD, ROOT, expect, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ORDERS = int(os.environ.get("RECOMMIT_ORDERS", "5"))
LOOPS = int(os.environ.get("RECOMMIT_LOOPS", "2"))
#: What libraries with several kernels read to use older ones.
WITHOUT_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
}
#: Preloaded, it makes a disk slow.
SLOW_DISK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    usleep(10000);
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
"""
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


def slow_disk() -> dict[str, str]:
    """The environment of programs for which every flush takes its time."""
    BUILD.mkdir(parents=True, exist_ok=True)
    source, library = BUILD / "slow_disk.c", BUILD / "slow_disk.so"
    source.write_text(SLOW_DISK, encoding="utf-8")
    run(["cc", "-shared", "-fPIC", source, "-o", library, "-ldl"])
    return {"LD_PRELOAD": str(library)}


def once(
    seed: int, workers: int, ci: bool, *paths: object, more: Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """Run the tests in an order; how many passed, and the names of those that did not."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | dict(more or {})
    environment |= {"CI": "true"} if ci else {}
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        words = ["-q", "-p", "no:cacheprovider", "--dist", "worksteal", "-n", workers, f"--random-order={seed}"]
        command = [sys.executable, "-m", "pytest", *words, f"--junit-xml={results}", *paths]
        subprocess.run([str(word) for word in command], check=False, cwd=ROOT, env=environment, stdout=sys.stderr)
        expect(results.is_file(), "pytest wrote no results")
        cases = list(ET.parse(results).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(failed), [f"{case.get('classname')}::{case.get('name')}" for case in failed]


def shuffled(plant: bool) -> tuple[int, str]:
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
            more = {3: WITHOUT_AVX512, 4: slow_disk()}.get(seed - first, {})
            passed, failed = once(seed, workers, ci, more=more)
            words = f"pytest --random-order={seed} -n {workers}, CI {'set' if ci else 'unset'}, {more}"
            expect(not failed, f"{words}: {len(failed)} failed, {failed[:5]}")
            total += passed
    return total, f"tests in {ORDERS} orders, beside {LOOPS} busy programs"
