"""Recordings: matches that were played before, for whoever has no torch. They are in the package, and small.

A recording holds levels, and on each the episodes of the policy and of every fixed depth: what a page shows of it.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.watch.match import About, Level, Played, of_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.watch.match import Match


def record(match: Match, levels: Iterable[Level]) -> dict[str, Any]:
    """Play the policy and every fixed depth on each of these levels."""
    depths, budget = (0, *match.about.fixed), match.about.budget
    return {
        **match.about.described(),
        "levels": [
            {
                **level.described(),
                "played": {depth: match.episode(level, budget, depth).packed() for depth in depths},
            }
            for level in levels
        ],
    }


def text(recording: dict[str, Any]) -> str:
    """As a file, with a line for every level."""
    head, *levels = (
        json.dumps(each, separators=(",", ":")) for each in ({**recording, "levels": []}, *recording["levels"])
    )
    return head.removesuffix("]}") + "\n" + ",\n".join(levels) + "\n]}\n"


def names() -> list[str]:
    """The recordings of the package."""
    folder = resources.files("recommit.watch") / "recorded"
    return sorted(each.name.removesuffix(".json") for each in folder.iterdir() if each.name.endswith(".json"))


def read(name: str) -> dict[str, Any]:
    """A recording of the package."""
    if name not in names():
        raise ValueError(f"recording: expected one of {', '.join(names())}, got {name}")
    file = resources.files("recommit.watch") / "recorded" / f"{name}.json"
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values


class RecordedMatch:
    """What a recording knows of a match."""

    def __init__(self, recording: dict[str, Any]) -> None:
        self.recording = recording
        names = ("policy", "weights", "task", "budget", "value", "command")
        self.about = About(**{name: recording[name] for name in names}, depths=tuple(recording["depths"]))
        self._played = {each["state"]: each["played"] for each in recording["levels"]}

    def level(self, number: int) -> Level:
        """See ``Match``."""
        levels = self.recording["levels"]
        if not 0 <= number < len(levels):
            raise LookupError(f"there are the levels 0 to {len(levels) - 1}")
        each = levels[number]
        state = np.frombuffer(bytes.fromhex(each["state"]), np.uint8).reshape(each["rows"], each["cols"])
        return of_state(self.about.task, state, each["title"])

    def episode(self, level: Level, left: int, depth: int) -> Played:
        """See ``Match``."""
        played = self._played.get(level.state.tobytes().hex())
        if played is None or left != self.about.budget:
            raise ValueError(
                f"a recording knows its own levels from their start alone; recommit play --agent {self.about.policy} "
                "plays on from any state"
            )
        return Played.unpacked(played[str(depth)], len(self.about.depths))
