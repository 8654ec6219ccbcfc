"""D4: other compilers, other optimisation levels and other machines compute the same numbers.

Builds ``bench/signature.cpp`` with each and compares its output with the committed numbers. The foreign machines are
emulated: apt-get install qemu-user g++-aarch64-linux-gnu g++-s390x-linux-gnu clang
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, expect, main, run

#: name -> (compiler, flags, what runs the program)
PLATFORMS = {
    "g++ -O0": ("g++", ["-O0"], []),
    "g++ -O3 native": ("g++", ["-O3", "-march=native"], []),
    "clang -O0": ("clang++", ["-O0"], []),
    "clang -O3 native": ("clang++", ["-O3", "-march=native"], []),
    "aarch64": ("aarch64-linux-gnu-g++", ["-O2", "-static"], ["qemu-aarch64"]),
    "s390x, big-endian": ("s390x-linux-gnu-g++", ["-O2", "-static"], ["qemu-s390x"]),
}
PARTS = ("core", "sliding", "sokoban")


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


def check(plant: bool) -> tuple[int, str]:
    """Every platform must be there: one that is missing is a finding, not a pass."""
    golden = json.loads((ROOT / "tests" / "golden" / "signature.json").read_text())
    platforms = dict(list(PLATFORMS.items())[:1]) if plant else PLATFORMS
    for name, (wanted, flags, runner) in platforms.items():
        found = compiler(wanted)
        expect(
            found and all(shutil.which(word) for word in runner), f"{name}: {wanted} {runner} not installed; {__doc__}"
        )
        numbers = json.loads(run([*runner, build(name, str(found), flags, plant)]))
        differing = {part: (number, golden.get(part)) for part, number in numbers.items() if golden.get(part) != number}
        expect(numbers and not differing, f"{name}: (found, expected) {differing}")
    return len(platforms), "platforms: " + ", ".join(platforms)


if __name__ == "__main__":
    main(check)
