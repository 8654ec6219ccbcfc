"""D4: every part computes, to the last bit, what the committed numbers say, with other compilers,
optimisation levels and machines.

``python -m tests.verify.signature --accept`` writes the numbers of this package.
Platforms build ``bench/signature.cpp``; the foreign machines are emulated: apt-get install qemu-user
g++-aarch64-linux-gnu g++-s390x-linux-gnu clang
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, expect, run

GOLDEN = ROOT / "tests" / "golden" / "signature.json"


#: name -> (compiler, flags, what runs the program)
PLATFORMS = {
    "g++ -O0": ("g++", ["-O0"], []),
    "g++ -O3 native": ("g++", ["-O3", "-march=native"], []),
    "clang -O0": ("clang++", ["-O0"], []),
    "clang -O3 native": ("clang++", ["-O3", "-march=native"], []),
    "x86-64 without AVX": ("g++", ["-O2", "-static"], ["qemu-x86_64", "-cpu", "Nehalem"]),
    "aarch64": ("aarch64-linux-gnu-g++", ["-O2", "-static"], ["qemu-aarch64"]),
    "s390x, big-endian": ("s390x-linux-gnu-g++", ["-O2", "-static"], ["qemu-s390x"]),
}
PARTS = ("core", "sliding", "sokoban")


def numbers() -> dict[str, str]:
    """What the installed package computes."""
    result: dict[str, str] = json.loads(run([sys.executable, "-m", "recommit.cli", "bench", "--signature", "--json"]))
    return result


def compiler(name: str) -> str | None:
    """The program itself; Debian's clang has its version in its name."""
    return next((c for c in (name, f"{name}-16", f"{name}-15", f"{name}-14") if shutil.which(c)), None)


def build(name: str, found: str, flags: list[str], plant: bool) -> Path:
    """One program per platform."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / ("signature-" + "".join(c if c.isalnum() else "-" for c in name))
    sources = [path for part in PARTS for path in sorted((ROOT / "cpp" / part).rglob("*.cpp"))]
    defect = ["-DRECOMMIT_PLANT_DEFECT"] if plant else []
    main_file = ROOT / "bench" / "signature.cpp"
    run([found, "-std=c++20", *flags, *defect, f"-I{ROOT / 'cpp'}", main_file, *sources, "-pthread", "-o", program])
    return program


def platforms(plant: bool) -> tuple[int, str]:
    """Every platform must be there: one that is missing is a finding, not a pass."""
    golden = json.loads(GOLDEN.read_text())
    tried = dict(list(PLATFORMS.items())[:1]) if plant else PLATFORMS
    for name, (wanted, flags, runner) in tried.items():
        found = compiler(wanted)
        expect(
            found and all(shutil.which(word) for word in runner), f"{name}: {wanted} {runner} not installed; {__doc__}"
        )
        found_numbers = json.loads(run([*runner, build(name, str(found), flags, plant)]))
        differing = {
            part: (number, golden.get(part)) for part, number in found_numbers.items() if golden.get(part) != number
        }
        expect(found_numbers and not differing, f"{name}: (found, expected) {differing}")
    return len(tried), "platforms: " + ", ".join(tried)


if __name__ == "__main__" and sys.argv[1:] == ["--accept"]:
    GOLDEN.write_text(json.dumps(numbers(), indent=2) + "\n")
