"""L4, L5: the bounded Sokoban search against complete enumeration, long tier of tests/cpp/test_sokoban_search.cpp.

``python -m tests.verify.searches [--plant]``: every pruning rule by itself must never call a live state dead, and
switching any of them off must not change a length. Planted: a rule that calls any two boxes at a wall dead.
"""

from __future__ import annotations

import re
import sys

from tests.verify.harness import ROOT, expect, main, run


def program() -> str:
    """The C++ test, brought up to date, from the build of scripts/test if there is one."""
    folder = ROOT / "build" / f"test-{sys.implementation.cache_tag}"
    if not (folder / "CTestTestfile.cmake").exists():
        run(["cmake", "--preset", "release"])
        folder = ROOT / "build" / "release"
    run(["cmake", "--build", folder, "--target", "test_sokoban_search"])
    return str(folder / "test_sokoban_search")


def check(plant: bool) -> tuple[int, str]:
    """The planted rule is given to the short tier; it does not need the long one."""
    output = run([program()], env={"RECOMMIT_PLANT": "1"} if plant else {"RECOMMIT_LONG": "1"})
    searches = [int(n) for n in re.findall(r"(\d+) searches", output)]
    rules = re.findall(r"(\d+) states, (\d+) dead, (\d+) called dead, (\d+) wrong", output)
    expect(len(searches) == 1 and len(rules) >= 4, f"the test says nothing:\n{output[-2000:]}")
    states, dead, called, wrong = (sum(int(rule[k]) for rule in rules) for k in range(4))
    expect(wrong == 0, f"{wrong} live states called dead")
    return (
        states,
        f"states judged by {len(rules)} rules ({dead} dead, {called} called so, 0 wrong); {searches[0]} searches",
    )


if __name__ == "__main__":
    main(check)
