"""The signature is what is committed, does not depend on threads, and changes with every bit and every order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from recommit.puzzles import signature

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "signature.json"


def test_it_is_the_committed_one_for_any_threads() -> None:
    golden = json.loads(GOLDEN.read_text())
    for threads in (1, 3):
        found = signature.signature(threads)
        assert {part: f"{number:016x}" for part, number in found.items()} == golden


def test_the_digest_depends_on_everything() -> None:
    data = np.arange(100, dtype=np.uint8)
    seen = {signature.digest([data]), signature.digest([data[::-1]]), signature.digest([data[:50], data[50:]])}
    for bit in range(800):
        changed = data.copy()
        changed[bit // 8] ^= 1 << bit % 8
        seen.add(signature.digest([changed]))
    seen.add(signature.digest([np.append(data, np.uint8(0))]))
    assert len(seen) == 804
