"""Replay of recorded commitments in the simulator: of a score record, and of a zero-shot run, so that its model can be
compared with the other agents on the same instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.policy.config import MOST_ACTIONS, PLAN_LENGTH
from recommit.rollout.decision_rows import DecisionRows, carried_out, join
from recommit.storage import errors, verified
from recommit.zero_shot.parser import ACTIONS
from recommit.zero_shot.spec import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    #: Per level the commitments of its episode, a letter of u d l r per action; "" for an answer that was not parsed.
    Commitments = list[list[str]]

LETTERS = "udlr"
#: Fields read from a run's manifest, and from each line of its episodes and decisions.
RUN: verified.Fields = {"model": str, "cell": int, "budget": int, "data": (dict, type(None))}
EPISODE: verified.Fields = {"instance": str, "finished": bool}
DECISIONS = "decisions.jsonl"
DECISION: verified.Fields = {"instance": str, "actions": [str], "state": list, **dict.fromkeys(("decision", "h"), int)}


def replayed(task: Puzzle, starts: NDArray[np.uint8], budget: int, commitments: Commitments) -> DecisionRows:
    """Replay commitments from the start states; returns the decisions."""
    states, parts, over = starts.copy(), list[DecisionRows](), task.is_solved(starts)
    for turn in range(budget):
        who = np.array([i for i, level in enumerate(commitments) if len(level) > turn], np.intp)
        words = [commitments[i][turn] for i in who]
        actions = np.zeros((len(who), MOST_ACTIONS), np.uint8)
        for place, word in enumerate(words):
            actions[place, : len(word)] = [LETTERS.index(letter) for letter in word]
        depth = np.array([len(word) for word in words], np.int64)
        if over[who].any():
            refuse_more(int(who[over[who]][0]), turn)
        rows, states[who] = carried_out(task, states, who, turn, depth, actions)
        over[who] = rows.solved
        parts.append(rows)
    return join(parts)


def refuse_more(level: int, turn: int) -> None:
    """Raise ``ValueError``: a level has commitments beyond the goal."""
    raise ValueError(f"commitments: expected none beyond the goal, got more of level {level}, turn {turn}")


def _spec(folder: Path) -> dict[str, Any]:
    try:
        spec: dict[str, Any] = verified.values(folder, MANIFEST, {"run": RUN})["run"]
    except ValueError as error:
        raise ValueError(f"agents: expected the folder of a zero-shot run, got {folder} ({error})") from None
    return spec


def about(folder: Path) -> dict[str, Any]:
    """Model of a zero-shot run, and the pixels per cell of its pictures."""
    spec = _spec(folder)
    return {"model": spec["model"], "cell": spec["cell"]}


def data(folder: Path) -> dict[str, Any]:
    """Recipe of the data whose instances a zero-shot run played; empty if it generated its own."""
    return _spec(folder)["data"] or {}


def rows(folder: Path, task: Puzzle, ids: list[str], starts: NDArray[np.uint8], budget: int) -> DecisionRows:
    """Decisions of a zero-shot run on these instances. The run must have finished all of them, with at least this
    budget."""
    spec = _spec(folder)
    if spec["budget"] < budget:
        raise ValueError(f"budgets: expected at most the {spec['budget']} decisions of {folder}, got {budget}")
    finished = {one["instance"] for one in _records(folder, "episodes.jsonl", EPISODE) if one["finished"]}
    if missing := [name for name in ids if name not in finished]:
        raise ValueError(
            f"agents: expected all {len(ids)} instances played to the end in {folder}, "
            f"got {len(ids) - len(missing)}: without {missing[0]}"
        )
    number = {name: i for i, name in enumerate(ids)}
    decisions = [one for one in _records(folder, DECISIONS, DECISION) if one["instance"] in number]
    first = [one for one in decisions if one["decision"] == 0]
    if any(not np.array_equal(starts[number[one["instance"]]], one["state"]) for one in first):
        raise ValueError(f"agents: expected the states of the test set in {folder}, got others by the same names")
    try:
        return replayed(task, starts, budget, _commitments(decisions, number, budget))
    except (LookupError, TypeError, ValueError) as error:
        raise errors.Damaged(f"{folder / DECISIONS}: expected decisions of games, got others: {error}") from None


def _records(folder: Path, name: str, fields: verified.Fields) -> list[dict[str, Any]]:
    """Read a JSON Lines file and check the fields of each line."""
    listed = verified.lines(folder, name)
    verified.expect(folder / name, listed, [fields])
    return listed


def _commitments(decisions: list[dict[str, Any]], number: dict[str, int], budget: int) -> Commitments:
    result: Commitments = [[] for _ in number]
    for one in sorted(decisions, key=lambda one: one["decision"]):
        own, word = result[number[one["instance"]]], "".join(LETTERS[ACTIONS.index(each)] for each in one["actions"])
        if one["decision"] != len(own) or len(word) != one["h"] or len(word) > PLAN_LENGTH:
            raise ValueError(f"decision {len(own)} of {one['instance']} with 0..{PLAN_LENGTH} actions")
        own.append(word)
    return [own[:budget] for own in result]
