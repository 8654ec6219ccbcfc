"""Recorded matches, to be watched without torch. A few small ones, written by ``recommit play --agent``, come with the
package.

A recording holds levels, and on each the episodes of the policy and of every fixed depth, as a page shows them.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.regret import CAUSES
from recommit.report.html import Html, asset, document, tag
from recommit.watch.match import USUAL, About, Level, Played, of_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.watch.match import Match


def record(match: Match, levels: Iterable[Level]) -> dict[str, Any]:
    """Play the policy and every fixed depth on each of these levels."""
    depths = (0, *match.about.fixed)
    return {
        **match.about.described(),
        "levels": [
            {**level.described(), "played": {str(depth): match.episode(level, depth).packed() for depth in depths}}
            for level in levels
        ],
    }


def text(recording: dict[str, Any]) -> str:
    """JSON text of a recording, with a line for every level."""
    head, *levels = (
        json.dumps(each, separators=(",", ":")) for each in ({**recording, "levels": []}, *recording["levels"])
    )
    return head.removesuffix("]}") + "\n" + ",\n".join(levels) + "\n]}\n"


def page(recording: dict[str, Any]) -> str:
    """HTML page of a recording: the policy's own depths beside a fixed one, level by level."""
    about, levels = RecordedMatch(recording).about, recording["levels"]
    players = {"its own depths": 0, **{f"always {depth}": depth for depth in about.fixed}}
    packed = {
        "task": about.task,
        "budgets": {},
        "depths": list(about.depths),
        "causes": list(CAUSES),
        "kinds": ["levels"],
        "open": 0,
        "other": USUAL,
        "agents": [{"label": name, "depth": depth, "seeds": 1} for name, depth in players.items()],
        "instances": [
            {"n": number, "kind": 0, **{name: each[name] for name in ("rows", "cols", "state")}}
            for number, each in enumerate(levels)
        ],
        "played": [[each["played"][str(depth)] for each in levels] for depth in players.values()],
    }
    regret = (
        f"Regret: the value that the best of all depths, 1 to {about.fixed[-1]}, would have added from there, under "
        f"the same plans and the observations that were left; exact. Value: {about.value}."
    )
    made = f"The policy's files: sha256 {about.weights[:16]}. Recorded by: {about.command}"
    parts = [Html(asset("viewer.html")), *(tag("p", line, class_="quiet") for line in (regret, made))]
    title = f"{about.policy}, beside a fixed depth"
    content = [tag("section", *parts, id="match", class_="alone")]
    return document("recommit", title, about.task, content, packed, [("match", "Match")])


def names() -> list[str]:
    """Names of the recordings in the package."""
    folder = resources.files("recommit.watch") / "recorded"
    return sorted(each.name.removesuffix(".json") for each in folder.iterdir() if each.name.endswith(".json"))


def read(name: str) -> dict[str, Any]:
    """Read a recording of the package; users share their own matches as pages."""
    if name not in names():
        raise ValueError(f"recording: expected one of {', '.join(names())}, got {name}")
    file = resources.files("recommit.watch") / "recorded" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


class RecordedMatch:
    """``Match`` that replays a recording."""

    def __init__(self, recording: dict[str, Any]) -> None:
        self.recording = recording
        names = ("policy", "weights", "task", "budget", "value", "command")
        self.about = About(**{name: recording[name] for name in names}, depths=tuple(recording["depths"]))
        self._played = {each["state"]: each["played"] for each in recording["levels"]}

    def level(self, number: int) -> Level:
        """Recorded level of this number; see ``Match``."""
        levels = self.recording["levels"]
        if not 0 <= number < len(levels):
            raise LookupError(f"there are the levels 0 to {len(levels) - 1}")
        each = levels[number]
        state = np.frombuffer(bytes.fromhex(each["state"]), np.uint8).reshape(each["rows"], each["cols"])
        return of_state(self.about.task, state, each["title"])

    def episode(self, level: Level, depth: int) -> Played:
        """Recorded episode on a level; see ``Match``."""
        return Played.unpacked(self._played[level.state.tobytes().hex()][str(depth)], len(self.about.depths))
