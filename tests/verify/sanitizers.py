"""M1, M2: the tests under AddressSanitizer, LeakSanitizer and UBSan, and the stress test under ThreadSanitizer.

Quick: without searches, tables and generators of the two large puzzles (the preset ``asan-quick``), which take three
quarters of the time to compile. What reads foreign text, draws, or works on a caller's memory stays, and icy caves.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, Finding, expect, main, run

STOPS_AT_ONCE = "halt_on_error=1:abort_on_error=0:exitcode=66"
ENVIRONMENT = {
    "ASAN_OPTIONS": f"{STOPS_AT_ONCE}:detect_leaks=1:strict_string_checks=1:check_initialization_order=1",
    "UBSAN_OPTIONS": f"{STOPS_AT_ONCE}:print_stacktrace=1",
    "TSAN_OPTIONS": STOPS_AT_ONCE,
}
#: What a process holds says nothing where blocks that were freed are kept back, and addresses are terabytes.
OF_MEMORY = (
    "tests/unit/envs/test_lifetime.py::test_nothing_leaks",
    "tests/unit/envs/test_lifetime.py::test_a_leak_is_noticed",
    "tests/unit/runs/test_process.py::test_what_lies_between_blocks_goes_back",
    "tests/unit/test_levels.py::test_a_giant_file_is_refused_unread",
)
NIGHTLY = False
PLANTED = {"asan": ("overflow", "leak", "undefined"), "tsan": ("race",)}

#: Runs pytest on the package in a folder, past the hook of an editable install.
PYTEST_IN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import pytest, recommit
assert recommit._core.__file__.startswith(sys.argv[1]), recommit._core.__file__
sys.exit(pytest.main(sys.argv[2:]))
"""
#: libasan's memset must notice a write behind the end of a block.
WRITE_BEYOND = (
    "import ctypes; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; ctypes.memset(c.malloc(8), 0, 16)"
)


def build(preset: str, *targets: str) -> Path:
    """The folder of the binaries of a preset."""
    run(["cmake", "--preset", preset])
    run(["cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else [])])
    return ROOT / "build" / preset


def catches_planted(preset: str, folder: Path) -> None:
    """Each planted defect must stop the program."""
    for name in PLANTED[preset]:
        caught = False
        try:
            run([folder / "planted", name], env=ENVIRONMENT)
        except Finding:
            caught = True
        expect(caught, f"{preset}: the planted defect '{name}' went unnoticed")


def ctest(folder: Path, *options: str) -> int:
    """Run the C++ tests; the number of cases that ran."""
    side_by_side = ["--parallel", str(os.cpu_count() or 1)]
    output = run(["ctest", "--test-dir", folder, "--verbose", *side_by_side, *options], env=ENVIRONMENT)
    return sum(int(n) for n in re.findall(r"(\d+) cases passed", output))


def build_with_python() -> tuple[Path, Path]:
    """The folder of the C++ tests, and that of a package whose extension is made of the same sanitized objects."""
    site, folder = BUILD / "asan-site", ROOT / "build" / f"asan-{sys.implementation.cache_tag}"
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "--upgrade",
            f"--target={site}",
            ROOT,
            f"-Cbuild-dir={folder}",
            "-Ccmake.build-type=RelWithDebInfo",
            "-Ccmake.define.RECOMMIT_SANITIZE=address,undefined",
            "-Ccmake.define.RECOMMIT_TESTS=ON",
        ]
    )
    return folder, site


def python_under_asan(site: Path) -> int:
    """Run the unit tests on the sanitized extension; the number of tests that ran."""
    libraries = [run(["g++", f"-print-file-name={name}"]).strip() for name in ("libasan.so", "libstdc++.so")]
    env = {
        **ENVIRONMENT,
        # The interpreter itself never frees everything; and a table that claims a terabyte must be refused, not fatal.
        "ASAN_OPTIONS": f"{STOPS_AT_ONCE}:detect_leaks=0:allocator_may_return_null=1",
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONPATH": str(site),
        "PYTHONMALLOC": "malloc",
    }
    caught = False
    try:
        run([sys.executable, "-c", WRITE_BEYOND], env=env)
    except Finding:
        caught = True
    expect(caught, "asan: a write behind a block went unnoticed in Python")
    tests = ["-q", "-p", "no:cacheprovider", "-m", "not nightly", "tests/unit"]
    tests += [f"--ignore=tests/unit/{folder}" for folder in ("data", "policy", "train")]  # other people's native code
    tests += [f"--deselect={name}" for name in OF_MEMORY]
    output = run([sys.executable, "-c", PYTEST_IN, site, *tests], env=env)
    passed = re.search(r"(\d+) passed", output)
    expect(passed, f"no test ran:\n{output[-2000:]}")
    return int(passed[1]) if passed else 0


def check_memory(plant: bool) -> tuple[int, str]:
    """M1; planted defects are part of it. Nightly all of the core, and through Python as well."""
    through_python = NIGHTLY and sys.platform == "linux"
    folder, site = build_with_python() if through_python else (build("asan" if NIGHTLY else "asan-quick"), None)
    if plant:
        run([folder / "planted", "overflow"], env=ENVIRONMENT)
    catches_planted("asan", folder)
    cases = ctest(folder)
    tests = python_under_asan(site) if site else 0
    return cases + tests, f"cases ({cases} in C++, {tests} through Python)"


def check_races(plant: bool) -> tuple[int, str]:
    """M2: the stress test for RECOMMIT_STRESS_SECONDS (20 by default), and nightly every other test as well."""
    nightly = NIGHTLY
    folder = build("tsan", *([] if nightly else ["test_stress", "test_core", "planted"]))
    if plant:
        run([folder / "planted", "race"], env=ENVIRONMENT)
    catches_planted("tsan", folder)
    seconds = os.environ.get("RECOMMIT_STRESS_SECONDS", "1200" if nightly else "20")
    output = run([folder / "test_stress"], env={**ENVIRONMENT, "RECOMMIT_STRESS_SECONDS": seconds})
    cases = ctest(folder, "-E", "test_stress") if nightly else ctest(folder, "-R", "test_core$")
    calls = sum(int(n) for n in re.findall(r"executed (\d+)", output))
    return calls + cases, f"calls and cases in {seconds} s of stress"


if __name__ == "__main__":
    if "--nightly" in sys.argv:
        sys.argv.remove("--nightly")
        NIGHTLY = True
    races = "--races" in sys.argv
    if races:
        sys.argv.remove("--races")
    main(check_races if races else check_memory)
