"""M3: every case of the C++ tests under valgrind: what nobody wrote is not read, what is freed is not touched.

``python -m tests.verify.memcheck [--plant]``; apt-get install valgrind. The sanitizers of M1 do not see reads of memory
that was never written. A case is stopped after RECOMMIT_MEMCHECK_SECONDS (10) of CPU time: until then it is checked.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, expect, main, run
from tests.verify.runners import cpp_tests

SECONDS = int(os.environ.get("RECOMMIT_MEMCHECK_SECONDS", "10"))
MEMCHECK = ("valgrind", "--quiet", "--fair-sched=yes", "--leak-check=full", "--show-leak-kinds=definite")


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


def check(plant: bool) -> tuple[int, str]:
    """All cases; planted: one that reads what nobody wrote."""
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


if __name__ == "__main__":
    main(check)
