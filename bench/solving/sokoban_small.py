"""How many levels of a collection are solved with the fewest actions within 60 s of CPU time and 2 GB, one thread.

    python bench/solving/sokoban_small.py [--seconds 60] [--wall 300] [--bytes 2000000000] [--moves FILE] [FILE]

The default collection is sokoban_small.txt. --wall is the limit that the solver is
given, which a busy machine uses up sooner; a level counts if it took at most --seconds of CPU time. --moves writes the
lengths found, one "index length" per line.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from pathlib import Path

import recommit
from recommit.puzzles.solutions import Status
from recommit.puzzles.solver import Solution, solve_all

ROOT = Path(__file__).resolve().parent


def report(solved: list[Solution], seconds: float) -> None:
    done = [level for level in solved if level.status is Status.EXACT and level.seconds <= seconds]
    times = sorted(level.seconds * 1e3 for level in solved)
    lengths = sorted(level.length for level in done)
    searched = sum(level.nodes > 0 for level in done)
    print(f"{len(done)} of {len(solved)} levels solved with the fewest actions within {seconds:g} s each")
    print(f"  {len(done) - searched} by complete tables, {searched} by search")
    print(
        f"  ms per level: median {statistics.median(times):.2f}, mean {statistics.fmean(times):.1f}, "
        f"p90 {times[len(times) * 9 // 10]:.1f}, max {times[-1]:.0f}"
    )
    print(f"  lengths: {lengths[0]}..{lengths[-1]}, median {statistics.median(lengths)}, {sum(lengths)} actions in all")
    for level in solved:
        if level not in done:
            print(f"  not solved: {level.title}: {level.status.name}, at least {level.bound}, {level.seconds:.1f} s")
    print(f"  peak RSS of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "sokoban_small.txt")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--wall", type=float, default=300)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    parser.add_argument("--moves", type=Path)
    arguments = parser.parse_args()
    levels = recommit.read_levels(arguments.file)
    limit = recommit.Limits(bytes=arguments.bytes, seconds=arguments.wall)
    solved = []
    for number, level in enumerate(solve_all(levels.task, list(levels), levels.titles, limit, threads=1)):
        solved.append(level)
        if level.seconds > 1 or level.status is not Status.EXACT:
            print(f"{number:>4} {level.seconds:8.2f} s  {level.status.name} {level.length} {level.title}", flush=True)
    report(solved, arguments.seconds)
    if arguments.moves:
        rows = (f"{i} {level.length}\n" for i, level in enumerate(solved) if level.status is Status.EXACT)
        arguments.moves.write_text("# index length\n" + "".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
