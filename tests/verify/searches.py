"""L4, L5: searches against complete answers, in the long tier of the C++ tests.

``python -m tests.verify.searches sokoban|sliding [--plant]``. Sokoban: every pruning rule by itself must never call a
live state dead, and switching any of them off must not change a length. Sliding: the same lengths with every table,
view and automaton switched off. Planted: a rule that calls any two boxes at a wall dead; a wrong answer of a table.
"""

from __future__ import annotations

import re
import sys

from tests.verify.harness import ROOT, expect, main, run


def output_of(program: str, plant: bool) -> str:
    """Of the C++ test, brought up to date, from the build of scripts/test if there is one.

    What is planted is found in the short tier.
    """
    folder = ROOT / "build" / f"test-{sys.implementation.cache_tag}"
    if not (folder / "CTestTestfile.cmake").exists():
        run(["cmake", "--preset", "release"])
        folder = ROOT / "build" / "release"
    run(["cmake", "--build", folder, "--target", program])
    return run([folder / program], env={"RECOMMIT_PLANT": "1"} if plant else {"RECOMMIT_LONG": "1"})


def sokoban(plant: bool) -> tuple[int, str]:
    """Verdicts and lengths of the bounded search."""
    output = output_of("test_sokoban_search", plant)
    searches = [int(n) for n in re.findall(r"(\d+) searches", output)]
    rules = re.findall(r"(\d+) states, (\d+) dead, (\d+) called dead, (\d+) wrong", output)
    expect(len(searches) == 1 and len(rules) >= 4, f"the test says nothing:\n{output[-2000:]}")
    states, dead, called, wrong = (sum(int(rule[k]) for rule in rules) for k in range(4))
    expect(wrong == 0, f"{wrong} live states called dead")
    return states, (
        f"states judged by {len(rules)} rules ({dead} dead, {called} called so, 0 wrong); {searches[0]} searches"
    )


def sliding(plant: bool) -> tuple[int, str]:
    """Lengths of the pattern search."""
    found = re.findall(r"(\d+) states, (\d+) variants", output_of("test_sliding_solver", plant))
    expect(found, "the test says nothing")
    return sum(int(states) * int(variants) for states, variants in found), f"searches of {len(found)} shapes, all equal"


if __name__ == "__main__":
    main({"sokoban": sokoban, "sliding": sliding}[sys.argv.pop(1)])
