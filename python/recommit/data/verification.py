"""Verification of a finished data set: files against the manifest, and rows against the rules of the puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.data import assignment, manifest, rows, shards
from recommit.storage import errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows
    from recommit.puzzles.puzzle import Puzzle


def verify(dataset: Dataset, *, labels: bool = False) -> int:
    """Check every shard; returns the number of rows. Raises Damaged at the first error.

    Files: size and hash. Rows: content hash, replay of the expert actions, distances along paths, sample counts and
    splits; with all splits open, also their overlap. ``labels`` recomputes every label with the solver.
    """
    checked = 0
    for record in dataset.records:
        content = shards.read(dataset.folder, dataset.spec, record)
        _same(record.name, "content", record.content, content.sha256())
        _same(record.name, "samples", record.samples, shards.samples(content))
        _same(record.name, "dead", record.dead, int(content.dead.sum()))
        check_rows(dataset.puzzle, content, record.name, labels=labels)
        _check_instances(dataset, record.name, content)
        checked += len(content)
    if dataset.split is None:
        counted = manifest.overlap(dataset.folder, dataset.spec, dataset.records)
        _same(manifest.NAME, "overlap", dataset.manifest.overlap, counted)
    return checked


def check_rows(puzzle: Puzzle, content: LabelledRows, name: str, *, labels: bool = False) -> None:
    """Refuse labelled rows that contradict the rules of the puzzle."""
    counts = np.clip(content.distance, 0, rows.NEXT)
    _all(name, "count", content.count == counts)
    _all(name, "optimal", (content.optimal == 0) == (content.distance <= 0))
    _all(name, "optimal", (content.optimal < 16))
    outcome = puzzle.execute(content.states, content.actions, content.count.astype(np.int32))
    _all(name, "actions (all of them move)", outcome.moved == counts)
    _all(name, "actions (the goal comes exactly at the end)", outcome.executed == counts)
    short = (content.distance >= 0) & (content.distance <= rows.NEXT)
    _all(name, "actions (short plans end at the goal, others do not)", outcome.solved == short)
    alive = content.count > 0
    first = rows.masks(content.optimal)[alive, content.actions[alive, 0]]
    _all(name, "actions (the first is optimal)", first)
    if labels:
        _all(name, "distance", puzzle.distance(content.states) == content.distance)
        masks = puzzle.optimal_actions(content.states)
        _all(name, "optimal", (masks == rows.masks(content.optimal)).all(axis=1))
        _all(name, "actions", puzzle.distance(outcome.states) == content.distance - counts, alive)


def _check_instances(dataset: Dataset, name: str, content: LabelledRows) -> None:
    """Check that expert paths are complete, with distances down to 1, and that instances belong to the split."""
    expert = content[content.kind == rows.EXPERT]
    _all(name, "distance (length - t on expert paths)", expert.distance == expert.length - expert.t)
    at = np.flatnonzero(expert.t == 0)
    _all(name, "t (paths are whole)", np.diff([*at, len(expert)]) == expert.length[at])
    _all(name, "t (paths are in order)", expert.t == np.arange(len(expert)) - np.repeat(at, expert.length[at]))
    # The first expert action of each state on a path must lead to the path's next state.
    after = dataset.puzzle.step(expert.states, np.minimum(expert.actions[:, 0], 3))
    along = (after[:-1] == expert.states[1:]).all(axis=(1, 2))
    _all(name, "state (expert actions lead along the path)", along, expert.distance[:-1] != 1)
    per_path = sum(rows.sample_count(length) for length in expert.length[at].tolist())
    _same(name, "samples of expert paths", per_path, shards.samples(expert))
    states = np.ascontiguousarray(expert.states[at])
    keys = assignment.split_keys(dataset.spec, states)
    _all(name, "split", assignment.members(dataset.spec, states, keys, shards.parse_name(name)[0]))
    for index, difficulty in enumerate(dataset.spec.difficulties):
        low, high = difficulty.length
        _all(name, "length", (low <= content.length) & (content.length <= high), content.difficulty == index)


def _all(name: str, what: str, good: NDArray[np.bool_], where: NDArray[np.bool_] | None = None) -> None:
    bad = ~np.asarray(good) if where is None else ~np.asarray(good) & where
    if bad.any():
        raise errors.Damaged(f"{name}: {what}: wrong in {int(bad.sum())} rows, first in row {int(bad.argmax())}")


def _same(name: str, what: str, expected: object, got: object) -> None:
    if expected != got:
        raise errors.Damaged(f"{name}: {what}: expected {expected}, got {got}")
