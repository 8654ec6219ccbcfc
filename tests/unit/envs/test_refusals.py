"""Wrong options and wrong calls are refused with the argument's name and both values, and change nothing."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from tests.unit.envs.test_snapshot import Walk, planner

import recommit
from recommit import envs, horizon
from recommit.envs import Commit, SnapshotEnv, VectorCommit

LEVEL = recommit.Sokoban(6, 1).generate(1, seed=0).states
BOARDS = recommit.Sliding(3).generate(200)
OPEN = np.array([[[5, 0, 3, 2], [0, 0, 0, 0]]], np.uint8)
NO_BOARDS = np.zeros((2, 3, 3), np.uint8)
TWO = np.array([[[1, 2], [0, 3]]], np.uint8)
#: Puzzle, options, and what is said of them.
OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("Sliding", {"boxes": 2}, "boxes: expected None for sliding, got 2"),
    ("Sliding", {"levels": BOARDS, "length": 3}, "length: expected None where levels are given, got 3"),
    ("Sliding", {"observation": "pixels"}, "observation: expected grid or rgb, got pixels"),
    ("Sliding", {"levels": NO_BOARDS[0]}, r"expected uint8 states of shape \[N, rows, columns\], got uint8 of shape"),
    ("Sliding", {"levels": NO_BOARDS.astype(np.int64)}, "levels: expected uint8 states .*, got int64"),
    ("Sliding", {"levels": BOARDS.states.tolist()}, "levels: expected a path, Levels, .*, got list"),
    ("Sliding", {"levels": recommit.Ice(8).generate(9)}, "levels: expected sliding levels, got ice levels"),
    ("Sliding", {"levels": TWO, "size": 3}, "levels: expected states of 3x3, got 2x2"),
    ("Sokoban", {"levels": LEVEL, "boxes": 3}, "boxes: expected None where levels are given, got 3"),
    ("Sokoban", {"levels": OPEN, "crop": True}, "crop: expected levels with walls all around"),
    ("Sokoban", {"render_mode": "video"}, "render_mode: expected rgb_array or ansi, got video"),
    ("SlidingVector", {"autoreset_mode": "no"}, "autoreset_mode: expected NEXT_STEP, SAME_STEP or DISABLED, got no"),
]


@pytest.mark.parametrize(("kind", "options", "message"), OPTIONS, ids=[message for *_, message in OPTIONS])
def test_options(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(envs, f"{kind}Env")(**options)


BOARD = np.array([[1, 2, 3], [4, 5, 6], [7, 0, 8]], np.uint8)
FINISHED = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 0]], np.uint8)
RESETS = [
    ({"start": BOARD}, ValueError, "options: expected reset_mask, state or level, got start"),
    ({"state": BOARD, "level": 0}, ValueError, "options: expected either state or level, got both"),
    ({"state": FINISHED}, ValueError, "state: expected boards to be solved, got a solved one"),
    ({"state": BOARD[:2]}, ValueError, "state: expected states of 3x3 cells, got 2x3|state: .* tile"),
    ({"state": BOARD.astype(int)}, TypeError, "state: expected dtype uint8, got int64"),
    ({"state": BOARD[0]}, ValueError, r"state: expected one state, or one for each of 3 slots, got"),
    ({"level": 1024}, ValueError, r"level: expected 0\.\.1023, got 1024"),
    ({"level": [0, 1]}, ValueError, r"level: expected one number, or 3, got shape \(2,\)"),
    ({"reset_mask": [True] * 3}, ValueError, r"reset_mask: expected a numpy array bool\[3\], got list"),
    ({"reset_mask": np.ones(3, np.uint8)}, ValueError, r"reset_mask: .* got uint8 of shape \(3,\)"),
    ({"reset_mask": np.zeros(3, bool)}, ValueError, "reset_mask: expected at least one True, got none"),
]
ACTIONS = [
    (np.zeros(3), TypeError, "actions: expected dtype uint8, int32 or int64, got float64"),
    *((np.array([0, 0, 4], kind), ValueError, "actions: expected values 0.* got 4") for kind in (np.uint8, np.int32)),
    (np.array([0, -1, 0]), ValueError, r"actions: expected values 0\.\.3 .*, got -1 for slot 1"),
    (np.zeros(4, np.uint8), ValueError, r"actions: expected shape \(3,\), got \(4,\)"),
    (np.zeros(6, np.int64)[::2], ValueError, "actions: expected a C-contiguous array"),
]


def test_calls_of_a_vector_change_nothing() -> None:
    env = gymnasium.make_vec("recommit/Sliding-v0", num_envs=3, copy=False)
    with pytest.raises(ResetNeeded, match="expected a call of reset first"):
        env.step(np.zeros(3, np.uint8))
    with pytest.raises(ResetNeeded, match="expected a reset of all slots first"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    for seed, message in (([1, 2], "expected 3 seeds, one per slot, got 2"), (-1, r"expected 0\.\.\d+, got -1")):
        with pytest.raises(ValueError, match=f"seed: {message}"):
            env.reset(seed=seed)
    before = env.reset(seed=0)[0].copy()
    for actions, error, message in ACTIONS:
        with pytest.raises(error, match=message):
            env.step(actions)
    assert np.array_equal(env._observe(), before)  # type: ignore[attr-defined]
    for options, error, message in RESETS:
        with pytest.raises(error, match=message):
            env.reset(seed=0, options=options)


@pytest.mark.parametrize("action", [1.7, np.float32(1.7), None, "1"])
def test_an_action_that_is_no_integer(action: Any) -> None:
    env = gymnasium.make("recommit/Sliding-v0", disable_env_checker=True).unwrapped
    env.reset(seed=0)
    with pytest.raises(TypeError, match=f"action: expected an integer 0..3, got {type(action).__name__}"):
        env.step(action)


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_use_after_the_end_and_after_close(make: Any) -> None:
    env = make("recommit/Sliding-v0", size=2, max_steps=1)
    env, many = env.unwrapped, make is gymnasium.make_vec
    if many:
        env = make("recommit/Sliding-v0", num_envs=1, size=2, max_steps=1, autoreset_mode="DISABLED")
    action = np.zeros(1, np.uint8) if many else 0
    with pytest.raises(ResetNeeded, match="expected a call of reset first"):
        env.step(action)
    env.reset(seed=0)
    env.step(action)
    with pytest.raises(ResetNeeded, match="that is over"):
        env.step(action)
    env.reset()
    env.step(action)
    env.close()
    env.close()
    for use in (lambda: env.step(action), env.reset, env.render):
        with pytest.raises(ClosedEnvironmentError, match="expected an open environment"):
            use()


def commit(**options: Any) -> Commit:
    return Commit(gymnasium.make("recommit/Sliding-v0"), **options)


def vector(**options: Any) -> Any:
    return gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, **options)


def begun(env: Any) -> Any:
    env.reset(seed=0)
    return env


COMMITS: list[tuple[Any, type[Exception], str]] = [
    (lambda: commit().commit(1, [0]), ResetNeeded, "expected a running episode"),
    (lambda: begun(commit()).commit(3, [0] * 3), ValueError, r"depth: expected one of \(1, 2, 4, 8\), got 3"),
    (lambda: begun(commit()).commit(4, [0, 0]), ValueError, "actions: expected 4 actions for depth 4, got 2"),
    (lambda: begun(commit()).commit(2, [0, 9]), ValueError, r"actions: expected values 0\.\.3, got 9 at position 1"),
    (lambda: begun(commit()).commit(2, [0.0, 1.0]), ValueError, "actions: expected a row of integers, got float64"),
    (lambda: begun(commit()).commit(1, [[0]]), ValueError, r"expected a row of integers, got int64 of shape \(1, 1\)"),
    (lambda: begun(commit()).step(3), ValueError, "expected a dict with 'depth_index' and 'actions', got int"),
    (lambda: begun(commit()).step({"actions": [0]}), ValueError, r"got \['actions'\]"),
    (lambda: begun(commit()).step({"depth_index": 4, "actions": [0] * 8}), ValueError, r"expected 0\.\.3, got 4"),
    (
        lambda: begun(commit()).step({"depth_index": 3, "actions": [0] * 7}),
        ValueError,
        "at least 8 actions",
    ),
    (lambda: begun(commit(space="flat")).step([0] * 8), ValueError, "action: expected 9 integers, a depth's index"),
    (lambda: commit(depths=(2, 1)), ValueError, r"ascending order, got \(2, 1\)"),
    (lambda: Commit(vector()), TypeError, r"env: expected a gymnasium\.Env .*, got SlidingVectorEnv"),
    (
        lambda: Commit(commit()),
        TypeError,
        r"env: expected a Discrete action space, got Dict.*and recommit sweep",
    ),
    (lambda: Commit(recommit.Sliding(3)), TypeError, r"env: expected a gymnasium\.Env .*, got Sliding"),  # type: ignore[arg-type]
    (lambda: VectorCommit(commit()), TypeError, "envs: expected a vector of our puzzles"),  # type: ignore[arg-type]
    (lambda: VectorCommit(vector()), ValueError, "got NEXT_STEP"),
]


@pytest.mark.parametrize(("call", "error", "message"), COMMITS, ids=[message for *_, message in COMMITS])
def test_decisions(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_decisions_of_a_vector_change_nothing() -> None:
    decisions = begun(VectorCommit(vector(autoreset_mode="SAME_STEP")))
    for rows, error, message in (
        (np.zeros((2, 8), int), ValueError, r"actions: expected \(2, 8\) beside the depths, got \(2, 7\)"),
        (np.full((2, 9), 4), ValueError, r"depth_index: expected 0..3, got 4..4"),
        (np.zeros((2, 9)), TypeError, "depth_index: expected integers, got float64"),
    ):
        with pytest.raises(error, match=message):
            decisions.step(rows)
    assert decisions.step(np.zeros((2, 9), int))[4]["k"].tolist() == [1, 1]


SNAPSHOTS: list[tuple[Any, str]] = [
    (lambda: SnapshotEnv(Walk()).branch(planner, (1,), horizon.Fixed(1)), "expected a running episode"),
    (lambda: SnapshotEnv(Walk()).commit([[1.0]]), "expected a running episode"),
    (lambda: SnapshotEnv(Walk(), latency=2), "hold: expected the action"),
    (lambda: begun(SnapshotEnv(Walk())).branch(planner, (7,), horizon.Fixed(1)), r"depths: expected 1\.\.6, got 7"),
    (
        lambda: begun(SnapshotEnv(Walk())).branch(lambda _: horizon.Plans(np.zeros((2, 6, 1))), (1,), horizon.Fixed(1)),
        "plans for one observation, got 2",
    ),
    (lambda: SnapshotEnv(Walk()).load(SnapshotEnv(Walk()).save()), "one of this environment"),
]


@pytest.mark.parametrize(("call", "message"), SNAPSHOTS, ids=[message for _, message in SNAPSHOTS])
def test_snapshots(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
