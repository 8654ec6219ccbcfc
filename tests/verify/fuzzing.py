"""F1: libFuzzer on every parser, under ASan and UBSan, RECOMMIT_FUZZ_RUNS inputs each (10 million).

Inputs that reached new code are kept in ``build/campaign``, from where the next night goes on with another seed.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from datetime import date
from pathlib import Path

from tests.verify.harness import ROOT, Finding, expect, run

RUNS = int(os.environ.get("RECOMMIT_FUZZ_RUNS", "10_000_000"))
FOLDER = ROOT / "build" / "campaign"
FUZZ = ROOT / "tests" / "fuzz"
#: Times are of the wall, and other programs take from them.
LIMITS = ("-timeout=10", "-rss_limit_mb=768")
SANITIZERS = "-fsanitize=fuzzer,address,undefined"


def compiler() -> str:
    """A Clang with libFuzzer."""
    names = ("clang++", *(f"clang++-{version}" for version in range(21, 13, -1)))
    found = next((name for name in names if shutil.which(name)), None)
    expect(found, f"libFuzzer needs Clang; none of {', '.join(names[:3])}, ... is installed")
    return str(found)


def fuzz(target: Path, name: str, runs: int, folder: Path, seed: int = 1) -> int:
    """Run a target on what ``folder/NAME`` holds; how many inputs it took. Crash, hang, 768 MB are findings."""
    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    saved, dictionary = FUZZ / "corpus" / name, FUZZ / f"{name}.dict"
    options = [f"-dict={dictionary}"] if dictionary.exists() else []
    command = ["sh", "-c", '"$@" 2>&1', "sh", target, f"-runs={runs}", *LIMITS, f"-seed={seed}"]
    output = run([*command, f"-artifact_prefix={folder}/", *options, corpus, *([saved] if saved.is_dir() else [])])
    done = re.search(r"Done (\d+) runs", output)
    expect(done, f"{name} did not finish:\n{output[-2000:]}")
    return int(done[1]) if done else 0


def planted_is_found(cxx: str, folder: Path) -> bool:
    """Does the fuzzer find the target's defect?"""
    target = folder / "planted_target"
    run([cxx, "-std=c++20", "-O1", "-g", SANITIZERS, FUZZ / "planted.cpp", "-o", target])
    try:
        fuzz(target, "planted", 5_000_000, folder)
    except Finding as finding:
        return "heap-buffer-overflow" in str(finding)
    return False


def parsers(plant: bool) -> tuple[int, str]:
    """Build all targets, and let each go on."""
    cxx = compiler()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expect(planted_is_found(cxx, folder), "the fuzzer did not find the planted overflow")
        expect(not plant, "the planted overflow was found")
    run(["cmake", "--preset", "fuzz", f"-DCMAKE_CXX_COMPILER={cxx}"])
    names = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.cpp"))
    run(["cmake", "--build", "--preset", "fuzz", "--target", *(f"fuzz_{name}" for name in names)])
    targets = {name: ROOT / "build" / "fuzz" / f"fuzz_{name}" for name in names}
    taken = [fuzz(target, parser, RUNS, FOLDER, date.today().toordinal()) for parser, target in targets.items()]
    return sum(taken), f"inputs of {', '.join(names)}"
