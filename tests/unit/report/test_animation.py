"""An episode is what the puzzle makes of its actions; its film shows every look and every action once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import recommit
from recommit.report import animation
from recommit.storage import errors

TASK = recommit.Sliding(3)
START = TASK.generate(1, seed=3, length=12).states[0]


def scripted(_, turn):
    """Depth 1, then 2, then 4, ... up and down."""
    return np.array([2 ** min(turn, 3)]), np.array([[0, 1] * 4], np.uint8)


def test_a_state_may_be_lists():
    played = recommit.episode("solver", [[1, 2, 3], [4, 5, 6], [7, 0, 8]])
    assert (played.solved, played.actions) == (True, (3,))


def test_the_states_follow_from_the_actions():
    played = recommit.episode(scripted, START, budget=3)
    assert (played.depths, played.executed, len(played), played.observations) == ((1, 2, 4), (1, 2, 4), 7, 3)
    assert not played.solved
    state = START
    for after, action in zip(played.states[1:], played.actions, strict=True):
        state = TASK.step(state, action)
        assert np.array_equal(state, after)


def test_an_episode_ends_at_the_goal_in_the_middle_of_a_commitment():
    start = np.array([[1, 2, 3], [4, 5, 6], [7, 0, 8]], np.uint8)
    played = recommit.episode(lambda *_: (np.array([8]), np.full((1, 8), 3, np.uint8)), start)
    assert (played.depths, played.executed, played.solved) == ((8,), (1,), True)


def test_a_policy_acts_and_the_puzzle_is_told_by_the_cells():
    class Acting:
        def act(self, task, states):
            assert task == recommit.Sokoban.of_states(states.shape[1:])
            return np.array([1]), np.zeros((1, 8), np.uint8)

    instance = recommit.Sokoban(7, 1).generate(1, seed=0)[0]
    assert recommit.episode(Acting(), instance).observations == 6


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_film_has_a_picture_per_look_and_action_and_an_end(tmp_path, theme):
    image = pytest.importorskip("PIL.Image")
    played = recommit.episode(scripted, START, budget=3)
    path = played.save(tmp_path / "episode.gif", cell=20, theme=theme)
    with image.open(path) as film:
        times = []
        for number in range(film.n_frames):
            film.seek(number)
            times.append(film.info["duration"])
    # Pillow draws equal neighbours once, for as long as both.
    assert sum(times) == pytest.approx(3 * animation.OBSERVATION + 7 * animation.ACTION + animation.END, abs=200)
    assert path.stat().st_size < 60_000


def test_what_is_refused(monkeypatch):
    played = recommit.episode(scripted, START)
    refused(
        [
            (lambda: recommit.episode(scripted, START, budget=0), "budget: expected at least 1, got 0"),
            (lambda: recommit.episode(scripted, START[None]), "state: expected 2 dimensions [rows, columns]"),
            (lambda: recommit.episode("solver", [[1, 2, 3], [4, 5, 6], [7, -1, 8]]), "cell codes 0..255, got -1..8"),
            (lambda: recommit.episode("nosuch", START), "agent: expected a policy, a function, solver, the folder"),
            (lambda: played.save("x.png"), "path: expected a name that ends in .gif"),
            (lambda: played.save("x.gif", theme="red"), "theme: expected"),
        ]
    )
    monkeypatch.setattr(errors, "is_missing", lambda name: name == "torch")
    refused(
        [(lambda: recommit.episode("sliding-3x3", START), "torch is not installed; in a clone ")], errors.Unavailable
    )
