"""Actions per second: environments as they are made without a flag, without what costs time, and pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.answers import group
from bench.simulation.envs import SLOTS, Player, ceiling
from tests.reference.simulate import SokobanTwin

import recommit

if TYPE_CHECKING:
    from pathlib import Path

    from bench.conftest import Foreign, Timed

pytestmark = group("simulation")
TASK = recommit.Sokoban(10, 4)
STEPS = 13


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return np.tile(TASK.generate(SLOTS // 8, seed=0).states, (8, 1, 1))


@pytest.fixture(scope="module")
def actions() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 4, (8, SLOTS), np.uint8)


def plain_steps(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The same in plain Python."""
    twin, after = SokobanTwin(*states.shape[1:]), []
    for state, action in zip(states, actions, strict=True):
        board = bytearray(state.tobytes())
        twin.step(board, int(action))
        after.append(board)
    return np.frombuffer(b"".join(after), np.uint8).reshape(states.shape)


def test_plain_python(timed: Timed, states: np.ndarray, actions: np.ndarray) -> None:
    few = slice(0, 256)
    after = timed(lambda: plain_steps(states[few], actions[0, few]), 256, yardstick=True)
    assert np.array_equal(after, TASK.step(states[few], actions[0, few]))


def test_pure_step(timed: Timed, states: np.ndarray, actions: np.ndarray) -> None:
    after = timed(lambda: TASK.step(states, actions[0], threads=1), SLOTS)
    assert np.array_equal(after[:64], plain_steps(states[:64], actions[0, :64]))


def test_open_loop(timed: Timed, states: np.ndarray, actions: np.ndarray) -> None:
    depths = np.full(SLOTS, 8, np.int32)
    plans = np.ascontiguousarray(actions.T)
    outcome = timed(lambda: _executed(states, plans, depths), SLOTS * 8)
    expected = states
    for column in actions:
        expected = np.where(TASK.is_solved(expected)[:, None, None], expected, TASK.step(expected, column))
    assert np.array_equal(outcome[0], expected)


def _executed(states: np.ndarray, plans: np.ndarray, depths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    outcome = TASK.execute(states, plans, depths, threads=1)
    return outcome.states, outcome.executed


@pytest.mark.parametrize("name", ["Sokoban", "Sliding"])
def test_default_environment(timed: Timed, name: str) -> None:
    """``gymnasium.make_vec`` with no flags: fresh observations, action masks, all threads."""
    play(timed, Player(f"recommit/{name}-v0", **SIZES[name]))


@pytest.mark.parametrize("name", ["Sokoban", "Sliding"])
def test_zero_copy_environment_without_masks(timed: Timed, name: str) -> None:
    play(timed, Player(f"recommit/{name}-v0", copy=False, action_mask=False, **SIZES[name]))


SIZES = {"Sokoban": {"size": 10, "boxes": 4}, "Sliding": {"size": 4}}


def play(timed: Timed, player: Player) -> None:
    """Thirteen steps at a time; the answer is the last step's."""
    player.check(timed(lambda: [player.play() for _ in range(STEPS)][-1], SLOTS * STEPS))


@pytest.mark.parametrize("game", ["sokoban", "sliding"])
def test_loop_without_anything_around_it(foreign: Foreign, scratch: Path, game: str) -> None:
    assert foreign(lambda: ceiling(scratch, "steps", game, str(SLOTS)), unit=1e6) > 0
