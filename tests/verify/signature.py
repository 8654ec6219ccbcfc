"""L10: every part computes, to the last bit, what the committed numbers say."""

from __future__ import annotations

import json
import sys

from tests.verify.harness import ROOT, expect, main, run

GOLDEN = ROOT / "tests" / "golden" / "signature.json"


def numbers() -> dict[str, str]:
    """What the installed package computes."""
    result: dict[str, str] = json.loads(run([sys.executable, "-m", "recommit.cli", "bench", "--signature", "--json"]))
    return result


def check(plant: bool) -> tuple[int, str]:
    """Compare every part; planted: one bit of one number is off."""
    golden = json.loads(GOLDEN.read_text())
    found = numbers()
    if plant:
        part = next(iter(found))
        found[part] = f"{int(found[part], 16) ^ 1:016x}"
    expect(
        found == golden,
        f"expected {golden}\n     got {found}\nif that is meant: python -m tests.verify.signature --accept",
    )
    return len(found), "numbers"


if __name__ == "__main__":
    if "--accept" in sys.argv[1:]:
        GOLDEN.write_text(json.dumps(numbers(), indent=2) + "\n")
    else:
        main(check)
