"""Wrong options and wrong calls are refused with the argument's name and both values, and change nothing."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from tests.refusals import refused
from tests.unit.envs.test_snapshot import Walk, planner

import recommit
from recommit import envs, horizon
from recommit.envs import Commit, SnapshotEnv, VectorCommit

LEVEL = recommit.Sokoban(6, 1).generate(1, seed=0).states
BOARDS = recommit.Sliding(3).generate(200)
NO_BOARDS = np.zeros((2, 3, 3), np.uint8)
TWO = np.array([[[1, 2], [0, 3]]], np.uint8)
BOARD = np.array([[1, 2, 3], [4, 5, 6], [7, 0, 8]], np.uint8)
FINISHED = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 0]], np.uint8)
#: Gymnasium repeats all arguments where a ``TypeError`` is raised: wrong options are a ``ValueError``.
OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("Sliding", {"boxes": 2}, "boxes: expected None for sliding, got 2"),
    ("Sliding", {"levels": BOARDS, "length": 3}, "length: expected None where levels are given, got 3"),
    ("Sliding", {"observation": "pixels"}, "observation: expected grid, onehot or rgb, got pixels"),
    ("Sliding", {"levels": NO_BOARDS[0]}, "expected uint8 states of shape [N, rows, columns], got uint8 of shape"),
    ("Sliding", {"levels": NO_BOARDS.astype(np.int64)}, "levels: expected uint8 states "),
    ("Sliding", {"levels": BOARDS.states.tolist()}, "levels: expected a path, Levels, "),
    ("Sliding", {"levels": recommit.Ice(8).generate(9)}, "levels: expected sliding levels, got ice levels"),
    ("Sliding", {"levels": TWO, "size": 3}, "levels: expected states of 3x3, got 2x2"),
    ("Sokoban", {"levels": LEVEL, "boxes": 3}, "boxes: expected None where levels are given, got 3"),
    ("Sokoban", {"box": 1}, "option: expected size, boxes, levels, "),
    ("Sokoban", {"render_mode": "video"}, "render_mode: expected rgb_array or ansi, got video"),
    ("SlidingVector", {"autoreset_mode": "no"}, "autoreset_mode: expected NEXT_STEP, SAME_STEP or DISABLED, got no"),
]
RESETS = [
    ({"start": BOARD}, "options: expected reset_mask, state or level, got start"),
    ({"state": BOARD, "level": 0}, "options: expected either state or level, got both"),
    ({"state": FINISHED}, "state: expected boards to be solved, got a solved one"),
    ({"state": BOARD[:2]}, "state: "),
    ({"state": BOARD.astype(int)}, "state: expected dtype uint8, got int64"),
    ({"state": BOARD[0]}, "state: expected one state, or one for each of 3 slots, got"),
    ({"level": 1024}, "level: expected 0..1023, got 1024"),
    ({"level": [0, 1]}, "level: expected one number, or 3, got shape (2,)"),
    ({"reset_mask": [True] * 3}, "reset_mask: expected a numpy array bool[3], got list"),
    ({"reset_mask": np.ones(3, np.uint8)}, "got uint8 of shape (3,)"),
    ({"reset_mask": np.zeros(3, bool)}, "reset_mask: expected at least one True, got none"),
]
ACTIONS = [
    (np.zeros(3), "actions: expected dtype uint8, int32 or int64, got float64"),
    (np.array([0, 0, 4], np.uint8), "actions: expected values 0"),
    (np.array([0, 0, 4], np.int32), "actions: expected values 0"),
    (np.array([0, -1, 0]), "got -1 for slot 1"),
    (np.zeros(4, np.uint8), "actions: expected shape (3,), got (4,)"),
    (np.zeros(6, np.int64)[::2], "actions: expected a C-contiguous array"),
]


def begun(env: Any) -> Any:
    env.reset(seed=0)
    return env


def commit(**options: Any) -> Commit:
    return begun(Commit(gymnasium.make("recommit/Sliding-v0"), **options))


def vector(**options: Any) -> Any:
    return gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, **options)


def test_options_decisions_and_snapshots() -> None:
    made = lambda kind, options: lambda: getattr(envs, f"{kind}Env")(**options)
    refused([(made(kind, options), words) for kind, options, words in OPTIONS], ValueError)
    two = lambda _: horizon.Plans(np.zeros((2, 6, 1)))
    walk = lambda: begun(SnapshotEnv(Walk()))
    decisions: list[tuple[Any, str]] = [
        (lambda: commit().commit(3, [0] * 3), "depth: expected one of (1, 2, 4, 8), got 3"),
        (lambda: commit().commit(4, [0, 0]), "actions: expected 4 actions for depth 4, got 2"),
        (lambda: commit().commit(2, [0, 9]), "actions: expected values 0..3, got 9 at position 1"),
        (lambda: commit().commit(2, [0.0, 1.0]), "actions: expected a row of integers, got float64"),
        (lambda: commit().commit(1, [[0]]), "expected a row of integers, got int64 of shape (1, 1)"),
        (lambda: commit().step(3), "expected a dict with 'depth_index' and 'actions', got int"),
        (lambda: commit().step({"actions": [0]}), "got ['actions']"),
        (lambda: commit().step({"depth_index": 4, "actions": [0] * 8}), "expected 0..3, got 4"),
        (lambda: commit().step({"depth_index": 3, "actions": [0] * 7}), "at least 8 actions"),
        (lambda: commit(space="flat").step([0] * 8), "action: expected 9 integers, a depth's index"),
        (lambda: commit(depths=(2, 1)), "ascending order, got (2, 1)"),
        (lambda: Commit(vector()), "(one environment, not a vector of them), got SlidingVectorEnv"),
        (lambda: Commit(commit()), "env: expected a Discrete action space, got Dict"),
        (lambda: Commit(recommit.Sliding(3)), "got Sliding"),  # type: ignore[arg-type]
        (lambda: VectorCommit(commit()), "envs: expected a vector of our puzzles"),  # type: ignore[arg-type]
        (lambda: VectorCommit(vector()), "got NEXT_STEP"),
        (lambda: SnapshotEnv(Walk()).branch(planner, (1,), horizon.Fixed(1)), "expected a running episode"),
        (lambda: SnapshotEnv(Walk()).commit([[1.0]]), "expected a running episode"),
        (lambda: SnapshotEnv(Walk(), latency=2), "hold: expected the action"),
        (lambda: walk().branch(planner, (7,), horizon.Fixed(1)), "depths: expected 1..6, got 7"),
        (lambda: walk().branch(two, (1,), horizon.Fixed(1)), "plans for one observation, got 2"),
        (lambda: walk().load(walk().save()), "one of this environment"),
    ]
    refused(decisions)


def test_calls_of_a_vector_change_nothing() -> None:
    env = gymnasium.make_vec("recommit/Sliding-v0", num_envs=3, copy=False)
    masked = {"reset_mask": np.array([True, False, False])}
    refused([(lambda: env.reset(options=masked), "expected a reset of all slots first")], ResetNeeded)
    before = env.reset(seed=0)[0].copy()
    rows = [(lambda actions=actions: env.step(actions), words) for actions, words in ACTIONS]
    rows += [
        (lambda: env.reset(seed=[1, 2]), "seed: expected 3 seeds, one per slot, got 2"),
        (lambda: env.reset(seed=-1), "seed: expected 0.."),
    ]
    refused(rows)
    assert np.array_equal(env._observe(), before)  # type: ignore[attr-defined]
    refused([(lambda options=options: env.reset(seed=0, options=options), words) for options, words in RESETS])
    one = begun(gymnasium.make("recommit/Sliding-v0", disable_env_checker=True).unwrapped)
    words = "action: expected an integer 0..3, got "
    refused([(lambda each=each: one.step(each), words) for each in (1.7, np.float32(1.7), None, "1")], TypeError)
    pair = begun(VectorCommit(vector(autoreset_mode="SAME_STEP")))
    refused(
        [
            (lambda: pair.step(np.zeros((2, 8), int)), "actions: expected shape [2, 9], got [2, 8]"),
            (lambda: pair.step(np.full((2, 9), 4)), "depth_index: expected numbers in 0..3, got 4"),
            (lambda: pair.step(np.array([[3] + [4] * 8] * 2)), "actions: expected"),
            (lambda: pair.step(np.zeros((2, 9))), "depth_index: expected integers, got float64"),
        ]
    )
    assert pair.step(np.zeros((2, 9), int))[4]["k"].tolist() == [1, 1]


@pytest.mark.parametrize("many", [False, True])
def test_use_after_the_end_and_after_close(many: bool) -> None:
    options: dict[str, Any] = {"size": 2, "max_steps": 1}
    env: Any = gymnasium.make("recommit/Sliding-v0", **options).unwrapped
    if many:
        env = gymnasium.make_vec("recommit/Sliding-v0", num_envs=1, autoreset_mode="DISABLED", **options)
    action = np.zeros(1, np.uint8) if many else 0
    refused([(lambda: env.step(action), "expected a call of reset first")], ResetNeeded)
    begun(env).step(action)
    refused([(lambda: env.step(action), "that is over")], ResetNeeded)
    env.reset()
    env.step(action)
    env.close()
    env.close()
    uses = (lambda: env.step(action), env.reset, env.render)
    refused([(use, "expected an open environment") for use in uses], ClosedEnvironmentError)
