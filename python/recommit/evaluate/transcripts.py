"""A finished zero-shot run as rows, so that its model stands beside the other agents on the same instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.policy.config import PLAN_LENGTH
from recommit.rollout.decision_rows import DecisionRows, packed
from recommit.storage import errors, verified
from recommit.zero_shot.game import Game
from recommit.zero_shot.parser import ACTIONS, AnswerOutcome, Commitment
from recommit.zero_shot.spec import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

#: What is read of a run's manifest, and of a line of its episodes and decisions.
RUN: verified.Fields = {"model": str, "cell": int, "budget": int, "data": (dict, type(None))}
EPISODE: verified.Fields = {"instance": str, "finished": bool}
DECISIONS = "decisions.jsonl"
_WORDS, _NUMBERS = dict.fromkeys(("instance", "outcome"), str), dict.fromkeys(("decision", "h"), int)
DECISION: verified.Fields = {**_WORDS, **_NUMBERS, "actions": [str], "state": list}


def _spec(folder: Path) -> dict[str, Any]:
    try:
        spec: dict[str, Any] = verified.values(folder, MANIFEST, {"run": RUN})["run"]
    except ValueError as error:
        raise ValueError(f"agents: expected the folder of a zero-shot run, got {folder} ({error})") from None
    return spec


def about(folder: Path) -> dict[str, Any]:
    """Who was asked, and the pixels of a cell in the pictures."""
    spec = _spec(folder)
    return {"model": spec["model"], "cell": spec["cell"]}


def data(folder: Path) -> dict[str, Any]:
    """The recipe of the data whose instances it played; empty where it made them itself."""
    return _spec(folder)["data"] or {}


def rows(folder: Path, task: Puzzle, ids: list[str], starts: NDArray[np.uint8], budget: int) -> DecisionRows:
    """Its decisions on these instances, all of which it must have played to the end, within a budget that it had."""
    spec = _spec(folder)
    if spec["budget"] < budget:
        raise ValueError(f"budgets: expected at most the {spec['budget']} decisions of {folder}, got {budget}")
    finished = {one["instance"] for one in _records(folder, "episodes.jsonl", EPISODE) if one["finished"]}
    missing = [name for name in ids if name not in finished]
    if missing:
        raise ValueError(
            f"agents: expected all {len(ids)} instances played to the end in {folder}, "
            f"got {len(ids) - len(missing)}: without {missing[0]}"
        )
    number = {name: i for i, name in enumerate(ids)}
    decisions = [one for one in _records(folder, DECISIONS, DECISION) if one["instance"] in number]
    decisions = [one for one in decisions if one["decision"] < budget]
    decisions.sort(key=lambda one: (one["decision"], number[one["instance"]]))
    which = np.array([number[one["instance"]] for one in decisions], np.int32)
    try:
        return _rows(task, starts, decisions, which, budget)
    except _AnotherState:
        raise ValueError(
            f"agents: expected the states of the test set in {folder}, got others by the same names"
        ) from None
    except (LookupError, TypeError, ValueError) as error:
        raise errors.Damaged(f"{folder / DECISIONS}: expected decisions of games, got others: {error}") from None


def _records(folder: Path, name: str, fields: verified.Fields) -> list[dict[str, Any]]:
    """The lines of a file, each with these fields."""
    listed = verified.lines(folder, name)
    verified.expect(folder / name, listed, [fields])
    return listed


class _AnotherState(ValueError):
    """A record whose state is not where the game is."""


def _rows(
    task: Puzzle,
    starts: NDArray[np.uint8],
    decisions: list[dict[str, Any]],
    instance: NDArray[np.int32],
    budget: int,
) -> DecisionRows:
    """The games once more. An answer that could not be read is a decision of depth 0: nothing was carried out."""
    games = [Game(task, start, budget) for start in starts]
    states = np.array([_replayed(games[i], one) for i, one in zip(instance, decisions, strict=True)], np.uint8)
    states = states.reshape(2, 0, *task.shape) if not decisions else states.swapaxes(0, 1)
    turn = np.array([one["decision"] for one in decisions], np.int16)
    steps = [games[i].steps[t] for i, t in zip(instance, turn, strict=True)]
    return DecisionRows.of(
        instance=instance,
        turn=turn,
        depth=np.array([step.depth for step in steps], np.int8),
        executed=np.array([step.executed for step in steps], np.int8),
        before=task.distance(np.ascontiguousarray(states[0])),
        after=task.distance(np.ascontiguousarray(states[1])),
        solved=np.array([step.solved for step in steps], np.bool_),
        actions=packed(_actions(decisions)),
    )


def _replayed(game: Game, record: dict[str, Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The states before and after a record's decision."""
    before = game.state
    if record["decision"] != len(game.steps):
        raise ValueError(f"decision: expected {len(game.steps)} of {record['instance']}, got {record['decision']}")
    if not np.array_equal(before, record["state"]):
        raise _AnotherState
    codes = tuple(ACTIONS.index(word) for word in record["actions"])
    game.commit(Commitment(AnswerOutcome(record["outcome"]), record["h"], codes))
    return before, game.state


def _actions(decisions: list[dict[str, Any]]) -> NDArray[np.uint8]:
    actions = np.zeros((len(decisions), PLAN_LENGTH), np.uint8)
    for i, one in enumerate(decisions):
        actions[i, : one["h"]] = [ACTIONS.index(word) for word in one["actions"]]
    return actions
