"""How each kind of check runs, and how much it really executed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from tests.verify.harness import ROOT, Finding, Impossible, expect
from tests.verify.harness import run as command
from tests.verify.rows import Ctest, Harness, Pytest

#: Rows that run side by side build one after the other.
BUILDING = Lock()


@dataclass(frozen=True)
class Ran:
    """How many of what were executed; `seconds` where somebody else took the time."""

    executed: int
    unit: str
    seconds: float | None = None


def run(check: Pytest | Ctest | Harness, results: Path | None = None) -> Ran:
    """Run a check, or raise a Finding."""
    if isinstance(check, Pytest):
        return run_tests(check, results)
    return run_ctest(check) if isinstance(check, Ctest) else run_harness(check)


def run_harness(check: Harness) -> Ran:
    """The planted defect first: a harness that misses it proves nothing."""
    words = [sys.executable, "-m", f"tests.verify.{check.module}", *check.arguments]
    try:
        planted = json.loads(command([*words, "--plant"]).splitlines()[-1])
    except Finding:
        said = json.loads(command(words).splitlines()[-1])
        return Ran(said["executed"], said["unit"])
    if "impossible" in planted:
        raise Impossible(planted["impossible"])
    raise Finding(f"{check.module}: the planted defect went unnoticed")


def cpp_tests() -> Path:
    """The folder of the C++ tests: the build of scripts/test if there is one, else the release build; brought up to
    date.
    """
    folder = ROOT / "build" / f"test-{sys.implementation.cache_tag}"
    with BUILDING:
        if not (folder / "CTestTestfile.cmake").exists():
            command(["cmake", "--preset", "release"])
            folder = ROOT / "build" / "release"
        command(["cmake", "--build", str(folder)])
    return folder


def run_ctest(check: Ctest) -> Ran:
    """The programs that the pattern names."""
    folder = str(cpp_tests())
    output = command(["ctest", "--test-dir", folder, "--verbose", "-R", check.pattern, "--no-tests=error"])
    return Ran(sum(int(n) for n in re.findall(r"(\d+) cases passed", output)), "C++ cases")


def run_tests(check: Pytest, results: Path | None) -> Ran:
    """From the results of a whole run if there is one, else by running just these tests."""
    missing = [path for path in check.paths if not (ROOT / path.split("::")[0]).exists()]
    expect(not missing, f"no such tests: {missing}")
    if results is not None and taken(check):
        return count(results, check.paths)
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "pytest.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-m", check.marks, f"--junit-xml={fresh}", *check.paths]
        done = subprocess.run(words, check=False, cwd=ROOT, capture_output=True, text=True)
        expect(fresh.exists(), f"pytest did not run:\n{(done.stdout + done.stderr)[-2000:]}")
        return count(fresh, check.paths)


def count(results: Path, paths: tuple[str, ...]) -> Ran:
    """Passed tests below these paths. A test may say how much it executed: record_property("executed", n)."""
    passed = skipped = said = 0
    seconds = 0.0
    for case in ET.parse(results).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if not any(_below(name, path) for path in paths):
            continue
        broken = [each for each in case if each.tag in ("failure", "error")]
        expect(not broken, f"failed: {name}\n" + "\n".join(f"{b.get('message', '')}\n{b.text or ''}" for b in broken))
        seconds += float(case.get("time", 0))
        if case.find("skipped") is not None:
            skipped += 1
            continue
        passed += 1
        said += sum(int(p.get("value", 0)) for p in case.iter("property") if p.get("name") == "executed")
    unit = f"in {passed} tests" if said else "tests"
    return Ran(said or passed, unit + (f" ({skipped} skipped)" if skipped else ""), seconds)


def taken(check: Pytest | Ctest | Harness) -> bool:
    """Is it among the results of a whole run?"""
    return isinstance(check, Pytest) and check.marks == Pytest(()).marks


def began(results: Path) -> datetime:
    """When the run of these results began: they are of the commit of that moment."""
    suite = next(ET.parse(results).getroot().iter("testsuite"))
    return datetime.fromisoformat(suite.get("timestamp", "")).astimezone()


def _below(name: str, path: str) -> bool:
    """Is the test `package.module[.Class]::name` part of `package/module.py[::name]`, or of the folder `package`?

    Where the path names no case in brackets, every case counts.
    """
    file, _, function = path.partition("::")
    module = file.removesuffix(".py").replace("/", ".")
    inside = name.startswith((f"{module}.", f"{module}::"))
    own = name.split("::", 1)[1]
    return inside and function in ("", own, own.split("[")[0])
