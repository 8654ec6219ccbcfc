"""Recordings: matches that were played before, to be watched without torch. A few small ones are in the package; others
are files that ``recommit play --agent`` wrote, perhaps a stranger's, so that every field is checked.

A recording holds levels, and on each the episodes of the policy and of every fixed depth: what a page shows of it.
"""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.regret import CAUSES
from recommit.policy.config import check_depths
from recommit.puzzles.registry import TASKS
from recommit.report.html import Html, asset, document, tag
from recommit.storage import errors, verified
from recommit.storage.recipe_text import brief, cut
from recommit.watch.match import MOST_BUDGET, MOST_SIDE, USUAL, About, Level, Played, ends, of_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recommit.watch.match import Match

#: Bytes of a file at most, and what it must say; regrets of an episode may be unknown.
MOST = 1 << 26
ABOUT: verified.Fields = {"depths": [int], "budget": int} | dict.fromkeys(
    ("policy", "weights", "task", "value", "command"), str
)
LEVEL: verified.Fields = {"title": str, "rows": int, "cols": int, "state": str}
PLAYED: verified.Fields = {"h": str, "x": str, "w": str, "p": str, "d": [int], "solved": bool}
REGRETS: verified.Fields = {"r": [int], "b": str, "c": str}


def record(match: Match, levels: Iterable[Level]) -> dict[str, Any]:
    """Play the policy and every fixed depth on each of these levels."""
    depths = (0, *match.about.fixed)
    return {
        **match.about.described(),
        "levels": [
            {
                **level.described(),
                "played": {str(depth): match.episode(level, depth).packed() for depth in depths},
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


def page(recording: dict[str, Any]) -> str:
    """HTML: the policy's own depths beside a fixed one, level by level."""
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
    """The recordings of the package."""
    folder = resources.files("recommit.watch") / "recorded"
    return sorted(each.name.removesuffix(".json") for each in folder.iterdir() if each.name.endswith(".json"))


def read(name: str) -> dict[str, Any]:
    """A recording of the package, or of a file: where a file here is called like one of the package, the file."""
    if name not in names() or Path(name).is_file():
        if not os.path.lexists(name):
            raise ValueError(f"recording: expected one of {', '.join(names())}, or a file, got {name}")
        return of_file(Path(name))
    file = resources.files("recommit.watch") / "recorded" / f"{name}.json"
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values


def of_file(path: Path) -> dict[str, Any]:
    """A recording from a stranger's file; fields that are not known are left out."""
    values = verified.parsed(path, verified.content(path.parent, path.name, MOST))
    verified.expect(path, values, {**ABOUT, "levels": [LEVEL]})
    try:
        match = RecordedMatch(values)
        _check_about(match.about)
        if not values["levels"]:
            raise ValueError("levels: expected at least one, got none")
        depths = [str(depth) for depth in (0, *match.about.fixed)]
        verified.expect(path, values["levels"], [{"played": dict.fromkeys(depths, PLAYED)}], "levels")
        for number, each in enumerate(values["levels"]):
            level = match.level(number)
            for depth in depths:
                packed = each["played"][depth]
                verified.expect(path, packed, REGRETS if "r" in packed else {}, f"levels.{number}.played.{depth}")
                _check_played(match.about, level, packed)
    except errors.DataError:
        raise
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise errors.Damaged(f"{path}: expected a recording of recommit play --agent, got: {cut(str(error))}") from None
    known = (*LEVEL, "played")
    levels = [{name: each[name] for name in known} for each in values["levels"]]
    return {**match.about.described(), "levels": levels}


def _check_about(about: About) -> None:
    if about.task not in TASKS:
        raise ValueError(f"task: expected one of {', '.join(TASKS)}, got {brief(about.task)}")
    if not about.depths:
        raise ValueError("depths: expected at least one, got none")
    check_depths(about.depths)
    if not 1 <= about.budget <= MOST_BUDGET:
        raise ValueError(f"budget: expected 1..{MOST_BUDGET}, got {about.budget}")


def _check_played(about: About, level: Level, packed: dict[str, Any]) -> None:
    """Refuse an episode that cannot have been played. Its distances and regrets are its maker's word."""
    played = Played.unpacked(packed, len(about.depths))
    every = played.commitments
    fits = len(every) <= about.budget and len(played.distances) == len(every) + 1
    for each in every:
        fits &= 1 <= each.executed <= each.depth <= len(each.plan) == about.fixed[-1]
        fits &= len(each.chances) == len(about.depths) and -1 <= each.cause < len(CAUSES)
    if not fits or played.packed() != packed:
        raise ValueError(f"an episode of {brief(level.title)} whose fields do not fit each other")
    if bool(level.task.is_solved(ends(level, played)[-1])) != played.solved:
        raise ValueError(f"an episode of {brief(level.title)} that does not end as it says")


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
        for side in ("rows", "cols"):
            if not 1 <= each[side] <= MOST_SIDE:
                raise ValueError(f"{side}: expected 1..{MOST_SIDE}, got {each[side]}")
        state = np.frombuffer(bytes.fromhex(each["state"]), np.uint8).reshape(each["rows"], each["cols"])
        return of_state(self.about.task, state, each["title"])

    def episode(self, level: Level, depth: int) -> Played:
        """See ``Match``."""
        return Played.unpacked(self._played[level.state.tobytes().hex()][str(depth)], len(self.about.depths))
