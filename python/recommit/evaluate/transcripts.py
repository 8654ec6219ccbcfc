"""A finished zero-shot run as rows, so that its model stands beside the other agents on the same instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.play.episodes import NOT_ASKED, DecisionRows, packed
from recommit.policy.config import MAX_ACTIONS
from recommit.storage import jsonl, reading
from recommit.zero_shot.parser import ACTIONS
from recommit.zero_shot.spec import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle


def _spec(folder: Path) -> dict[str, Any]:
    try:
        spec: dict[str, Any] = reading.values(folder, MANIFEST, {"run": dict})["run"]
    except ValueError as error:
        raise ValueError(f"agents: expected the folder of a zero-shot run, got {folder} ({error})") from None
    return spec


def model(folder: Path) -> str:
    """Who was asked."""
    return str(_spec(folder)["model"])


def rows(folder: Path, task: Puzzle, ids: list[str], starts: NDArray[np.uint8], budget: int) -> DecisionRows:
    """Its decisions on these instances, all of which it must have played to the end, within a budget that it had."""
    spec = _spec(folder)
    if spec["budget"] < budget:
        raise ValueError(f"budgets: expected at most the {spec['budget']} decisions of {folder}, got {budget}")
    finished = {one["instance"] for one in jsonl.read(folder / "episodes.jsonl") if one["finished"]}
    missing = [name for name in ids if name not in finished]
    if missing:
        raise ValueError(
            f"agents: expected all {len(ids)} instances played to the end in {folder}, "
            f"got {len(ids) - len(missing)}: without {missing[0]}"
        )
    number = {name: i for i, name in enumerate(ids)}
    decisions = [one for one in jsonl.read(folder / "decisions.jsonl") if one["instance"] in number]
    decisions = [one for one in decisions if one["decision"] < budget]
    decisions.sort(key=lambda one: (one["decision"], number[one["instance"]]))
    result = _rows(task, decisions, np.array([number[one["instance"]] for one in decisions], np.int32))
    states = np.array([one["state"] for one in decisions if not one["decision"]], np.uint8)
    if not np.array_equal(states, starts):
        raise ValueError(f"agents: expected the states of the test set in {folder}, got others by the same names")
    return result


def _rows(task: Puzzle, decisions: list[dict[str, Any]], instance: NDArray[np.int32]) -> DecisionRows:
    """An answer that could not be read is a decision of depth 0: nothing was carried out."""
    count = len(decisions)
    states = np.array([one["state"] for one in decisions], np.uint8).reshape(count, *task.shape)
    depth = np.array([one["h"] for one in decisions], np.int32)
    actions = np.zeros((count, MAX_ACTIONS), np.uint8)
    for i, one in enumerate(decisions):
        actions[i, : one["h"]] = [ACTIONS.index(word) for word in one["actions"]]
    after, executed, solved = states.copy(), np.zeros(count, np.int8), np.zeros(count, np.bool_)
    with_depth = np.flatnonzero(depth)
    if len(with_depth):
        outcome = task.execute(states[with_depth], actions[with_depth], depth[with_depth])
        after[with_depth], executed[with_depth], solved[with_depth] = outcome.states, outcome.executed, outcome.solved
    nothing = np.full(count, NOT_ASKED, np.float32)
    return DecisionRows(
        instance,
        np.array([one["decision"] for one in decisions], np.int16),
        depth.astype(np.int8),
        executed,
        task.distance(states),
        task.distance(after),
        solved,
        nothing,
        nothing,
        packed(actions),
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint64),
    )
