"""What a search may cost has one default, whether Python or C++ says it."""

from __future__ import annotations

import re
from pathlib import Path

import recommit

HEADER = Path(__file__).resolve().parents[3] / "cpp" / "core" / "limits.hpp"
VALUES = {
    "std::numeric_limits<std::uint64_t>::max()": 2**64 - 1,
    "std::numeric_limits<double>::infinity()": float("inf"),
}


def defaults(header: str) -> dict[str, float]:
    """The fields of ``struct Limits`` and what they start with."""
    body = re.search(r"struct Limits \{(.*?)\};", header, re.DOTALL)
    assert body
    fields = re.findall(r"^\s*[\w:]+ (\w+) = (.+);", body[1], re.MULTILINE)
    return {name: VALUES[text] if text in VALUES else shifted(text) for name, text in fields}


def shifted(text: str) -> int:
    number, _, places = re.sub(r"std::uint64_t\{(\d+)\}", r"\1", text).partition(" << ")
    return int(number) << int(places)


def test_python_and_cpp_agree() -> None:
    assert defaults(HEADER.read_text(encoding="utf-8")) == recommit.Limits().arguments()
