"""M1 to M3: the C++ tests under sanitizers and valgrind, and unit tests through Python on a sanitized extension.

memory    AddressSanitizer, LeakSanitizer and UBSan, without searches, tables and generators of the two large puzzles
          (the preset ``asan-quick``), which take three quarters of the time to compile
every     all C++ tests, and through Python
races     the stress test, for RECOMMIT_STRESS_SECONDS (1200), and all others under ThreadSanitizer
memcheck  every case under valgrind (apt-get install valgrind): reads of unwritten memory, which sanitizers do
          not see. A case is stopped after RECOMMIT_MEMCHECK_SECONDS (10) of CPU time: until then it is checked.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, Finding, cpp_tests, expect, run

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
    "tests/unit/runs/test_process.py::test_what_goes_back_to_the_system",
    "tests/unit/puzzles/test_levels.py::test_a_giant_file_is_refused_unread",
)
SECONDS = int(os.environ.get("RECOMMIT_MEMCHECK_SECONDS", "10"))
MEMCHECK = ("valgrind", "--quiet", "--fair-sched=yes", "--leak-check=full", "--show-leak-kinds=definite")
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
    flags = ["--quiet", "--no-build-isolation", "--no-deps", "--upgrade", f"--target={site}", f"-Cbuild-dir={folder}"]
    defines = ["build-type=RelWithDebInfo", "define.RECOMMIT_SANITIZE=address,undefined", "define.RECOMMIT_TESTS=ON"]
    cmake = [f"-Ccmake.{each}" for each in defines]
    run([sys.executable, "-m", "pip", "install", *flags, ROOT, *cmake])
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
    tests += [
        f"--ignore=tests/unit/{folder}" for folder in ("data", "graph", "policy", "rollout", "train")
    ]  # other people's native code
    tests += [f"--deselect={name}" for name in OF_MEMORY]
    output = run([sys.executable, "-c", PYTEST_IN, site, *tests], env=env)
    passed = re.search(r"(\d+) passed", output)
    expect(passed, f"no test ran:\n{output[-2000:]}")
    return int(passed[1]) if passed else 0


def memory(plant: bool) -> tuple[int, str]:
    """M1 of every commit; planted defects are part of it."""
    return _cases(build("asan-quick"), plant), "cases in C++"


def every(plant: bool) -> tuple[int, str]:
    """M1: all of the core, and through Python as well where that is possible."""
    through_python = sys.platform == "linux"
    folder, site = build_with_python() if through_python else (build("asan"), None)
    cases = _cases(folder, plant)
    tests = python_under_asan(site) if site else 0
    return cases + tests, f"cases ({cases} in C++, {tests} through Python)"


def _cases(folder: Path, plant: bool) -> int:
    if plant:
        run([folder / "planted", "overflow"], env=ENVIRONMENT)
    catches_planted("asan", folder)
    return ctest(folder)


def races(plant: bool) -> tuple[int, str]:
    """M2."""
    folder = build("tsan", *(["planted"] if plant else []))
    if plant:
        run([folder / "planted", "race"], env=ENVIRONMENT)
    catches_planted("tsan", folder)
    seconds = os.environ.get("RECOMMIT_STRESS_SECONDS", "1200")
    output = run([folder / "test_stress"], env={**ENVIRONMENT, "RECOMMIT_STRESS_SECONDS": seconds})
    calls = sum(int(n) for n in re.findall(r"executed (\d+)", output))
    return calls + ctest(folder, "-E", "test_stress"), f"calls and cases in {seconds} s of stress"


def planted() -> Path:
    """The program of defects, as the sanitizers have it but without one."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "planted"
    run(["c++", "-std=c++20", "-O1", "-g", "-pthread", ROOT / "tests" / "cpp" / "planted.cpp", "-o", program])
    return program


def checked(program: Path, case: str, folder: Path) -> bool:
    """Run a case under memcheck; was there time for all of it? Whatever memcheck says is a finding."""
    log = folder / "memcheck.txt"
    with log.open("w") as said:
        status = subprocess.run(
            [*MEMCHECK, f"--log-file={log}", program, case],
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            env={**os.environ, "RECOMMIT_CACHE": str(folder / "cache"), "RECOMMIT_STRESS_SECONDS": "1"},
            preexec_fn=_limit,
        ).returncode
    found = log.read_text(encoding="utf-8", errors="replace")
    expect("==" not in found, f"{program.name} {case}:\n{found[:3000]}")
    expect(status in (0, -9), f"{program.name} {case}: exit status {status}")
    return status == 0


def _limit() -> None:
    """Killed at once, so that valgrind has nothing to say about the signal."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def memcheck(plant: bool) -> tuple[int, str]:
    """M3: all cases; planted: one that reads unwritten memory."""
    expect(shutil.which("valgrind"), f"valgrind is not installed; {__doc__}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if plant:
            checked(planted(), "uninitialised", folder)
        programs = [] if plant else sorted(path for path in cpp_tests().glob("test_*") if os.access(path, os.X_OK))
        cases = [(program, case) for program in programs for case in run([program, "--list"]).split()]
        whole = [checked(program, case, folder) for program, case in cases]
    expect(sum(whole) > len(whole) / 2, f"only {sum(whole)} of {len(whole)} cases ended within {SECONDS} s")
    return len(whole), f"cases, {sum(whole)} of them to their end, the others for {SECONDS} s of CPU time"
