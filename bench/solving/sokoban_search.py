"""The bounded Sokoban search by itself: time, nodes and memory per set of levels.

    python bench/solving/sokoban_search.py [--seconds 60] [--mebibytes 2048] [--nodes 1e12] [--first] [FILE ...]

Without files: the three Boxoban sets of the folder that RECOMMIT_SHARED names (each length is checked against the
known one), and sokoban_own.txt. Times are CPU time of one thread, set-up of the level included; peak RSS is that of the
whole process. Builds sokoban_search.cpp, beside this file, with the compiler that CXX names (c++ by default).
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATUS = ("exact", "unsolvable", "node limit", "byte limit", "time limit")


def build(folder: Path) -> Path:
    """The compiled program, without sanitizers, optimised like the release preset."""
    program = folder / "sokoban_search"
    sources = [ROOT / "bench/solving/sokoban_search.cpp", *sorted((ROOT / "cpp/core").rglob("*.cpp"))]
    sources += sorted((ROOT / "cpp/sokoban").rglob("*.cpp"))
    command = [os.environ.get("CXX", "c++"), "-O3", "-std=c++20", f"-I{ROOT / 'cpp'}", *map(str, sources), "-pthread"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def known_lengths(path: Path) -> dict[int, int]:
    """Lengths from the .moves file beside a set, where there is one."""
    moves = path.with_suffix(".moves")
    if not moves.exists():
        return {}
    rows = (line.split() for line in moves.read_text().splitlines() if not line.startswith("#"))
    return {int(index): int(length) for index, length in rows}


def measure(program: Path, path: Path, args: argparse.Namespace) -> bool:
    """Runs one set and prints its line; False if a length differs from the known one."""
    words = [str(program), str(args.seconds), str(args.mebibytes), str(args.nodes), str(int(args.first)), str(path)]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rows = [[float(word) for word in line.split()] for line in out.splitlines()]
    expected = known_lengths(path)
    wrong = [i for i, row in enumerate(rows) if row[1] != -2 and expected.get(i, row[1]) != row[1]]
    times = sorted(row[5] / 1000 for row in rows)
    ends = {name: sum(row[0] == i for row in rows) for i, name in enumerate(STATUS)}
    print(
        f"{path.name}: {len(rows)} levels, "
        + ", ".join(f"{count} {name}" for name, count in ends.items() if count)
        + f"; ms median {statistics.median(times):.2f} mean {statistics.fmean(times):.2f} "
        f"p90 {times[len(times) * 9 // 10]:.2f} max {times[-1]:.2f}; "
        f"nodes mean {statistics.fmean(row[3] for row in rows):.0f}; "
        f"most memory {max(row[4] for row in rows) / 2**20:.1f} MiB; "
        + (f"{len(expected)} lengths known, {len(wrong)} wrong" if expected else "lengths not known")
    )
    return not wrong


def main() -> int:
    """Exit status 1 if any answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mebibytes", type=float, default=2048)
    parser.add_argument("--nodes", type=float, default=1e12)
    parser.add_argument("--first", action="store_true", help="also prove the plan the lexicographically smallest")
    args = parser.parse_args()
    shared = Path(os.environ.get("RECOMMIT_SHARED", ROOT.parent / "shared")) / "data"
    files = args.files or [*sorted(shared.glob("boxoban-*.txt")), ROOT / "bench/solving/sokoban_own.txt"]
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        right = [measure(program, path, args) for path in files]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak RSS of the children, the compiler included: {peak:.0f} MiB")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
