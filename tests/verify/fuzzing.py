"""F1: every libFuzzer target for RECOMMIT_FUZZ_RUNS inputs (10 million), from the saved ones on, under ASan and UBSan."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from tests.verify.harness import ROOT, Finding, expect, main, run

RUNS = int(os.environ.get("RECOMMIT_FUZZ_RUNS", "10_000_000"))
FUZZ = ROOT / "tests" / "fuzz"
SANITIZERS = "-fsanitize=fuzzer,address,undefined"


def compiler() -> str:
    """A Clang with libFuzzer."""
    names = ("clang++", *(f"clang++-{version}" for version in range(21, 13, -1)))
    found = next((name for name in names if shutil.which(name)), None)
    expect(found, f"libFuzzer needs Clang; none of {', '.join(names[:3])}, ... is installed")
    return str(found)


def fuzz(target: Path, name: str, runs: int, folder: Path) -> int:
    """Run a target; how many inputs it took. A crash, an input over one second and 256 MB are findings."""
    corpus = folder / name
    shutil.copytree(FUZZ / "corpus" / name, corpus) if (FUZZ / "corpus" / name).is_dir() else corpus.mkdir()
    dictionary = FUZZ / f"{name}.dict"
    options = [f"-dict={dictionary}"] if dictionary.exists() else []
    command = ["sh", "-c", '"$@" 2>&1', "sh", target, f"-runs={runs}", "-timeout=1", "-rss_limit_mb=768", "-seed=1"]
    output = run([*command, f"-artifact_prefix={folder}/", *options, corpus])
    done = re.search(r"Done (\d+) runs", output)
    expect(done, f"{name} did not finish:\n{output[-2000:]}")
    return int(done[1]) if done else 0


def planted_is_found(cxx: str, folder: Path) -> bool:
    """Does the fuzzer find the target's defect?"""
    target = folder / "planted"
    run([cxx, "-std=c++20", "-O1", "-g", SANITIZERS, FUZZ / "planted.cpp", "-o", target])
    try:
        fuzz(target, "planted", 5_000_000, folder / "out")
    except Finding as finding:
        return "heap-buffer-overflow" in str(finding)
    return False


def check(plant: bool) -> tuple[int, str]:
    """Build and run all targets."""
    cxx = compiler()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "out").mkdir()
        expect(planted_is_found(cxx, folder), "the fuzzer did not find the planted overflow")
        expect(not plant, "the planted overflow was found")
        run(["cmake", "--preset", "fuzz", f"-DCMAKE_CXX_COMPILER={cxx}"])
        run(["cmake", "--build", "--preset", "fuzz"])
        names = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.cpp"))
        done = {each: fuzz(ROOT / "build" / "fuzz" / f"fuzz_{each}", each, RUNS, folder) for each in names}
    return sum(done.values()), "inputs (" + ", ".join(f"{name} {count:,}" for name, count in done.items()) + ")"


if __name__ == "__main__":
    main(check)
