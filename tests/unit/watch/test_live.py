"""A policy that is watched: its regrets are those of every depth tried out, and its boards those of its plans."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="policies need torch")

import recommit
from recommit.prices import Prices
from recommit.watch import live
from recommit.watch.live import PolicyMatch
from recommit.watch.match import About, Level, ends, of_state

TASK, BUDGET, PRICE = recommit.Sliding(2, 3), 4, 0.01
DEPTHS = (1, 2, 4, 8)


class Stumbling:
    """Optimal plans, but for one action in every plan; its head prefers a depth by the state."""

    config = SimpleNamespace(depths=DEPTHS, plan_length=8, budget_conditioned=False)
    plans_first = True

    def plan(self, task: Any, states: np.ndarray, depths: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        rows = np.zeros((len(states), 8), np.uint8)
        for row, state in zip(rows, states, strict=True):
            plan = task.solve(state[None])[0][:8]
            row[: len(plan)] = plan
            row[int(state[0, 0]) + 1] ^= 1  # of six places, the wrong way
        logits = np.stack([np.roll(np.arange(4.0, dtype=np.float32), int(state[0, 1])) for state in states])
        probs = np.full((len(states), 1, 8, 4), 0.25, np.float32)
        return np.zeros((len(states), 1), np.float32), logits, np.repeat(rows[:, None], len(depths), axis=1), probs


def level(number: int) -> Level:
    (state,) = TASK.generate(1, seed=2, start=number, length=(8, 14)).states
    return of_state("sliding", state, f"level {number}")


@pytest.fixture
def match() -> PolicyMatch:
    about = About("stumbling", "", "sliding", DEPTHS, BUDGET, "")
    policy: Any = Stumbling()
    return PolicyMatch(policy, about, Prices(PRICE), level)


@cache
def tried(state: bytes, left: int) -> tuple[float, ...]:
    """The value of each depth 1 to 8 in a state, by playing it and then the best of all."""
    here = np.frombuffer(state, np.uint8).reshape(2, 3)
    plan = Stumbling().plan(TASK, here[None], (1,))[2][0]
    values = []
    for depth in range(1, 9):
        outcome = TASK.execute(here[None], plan, np.array([depth], np.int32))
        after = 1.0 if outcome.solved[0] else max(tried(outcome.states[0].tobytes(), left - 1)) if left > 1 else 0.0
        values.append(after - PRICE * int(outcome.executed[0]))
    return tuple(values)


@pytest.mark.parametrize("depth", [0, 3, 8])
def test_regrets_are_those_of_every_depth_tried_out(match: PolicyMatch, depth: int) -> None:
    costly = 0
    for number in range(4):
        start = level(number)
        played = match.episode(start, depth)
        boards = ends(start, played)
        assert list(played.distances) == TASK.distance(np.stack(boards)).tolist()
        assert played.solved == bool(TASK.is_solved(boards[-1]))
        for k, (one, board) in enumerate(zip(played.commitments, boards, strict=False)):
            values = tried(board.tobytes(), BUDGET - k)
            assert one.regret == pytest.approx(max(values) - values[one.depth - 1], abs=1e-9)
            assert values[one.best - 1] == pytest.approx(max(values), abs=1e-9)
            assert (one.cause < 0) == (one.regret < 1e-9)
            assert one.depth == (depth or DEPTHS[int(np.argmax(one.chances))])
            costly += one.cause >= 0
    assert costly


def test_where_too_much_would_have_to_be_planned_there_is_no_regret(
    match: PolicyMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "CAP", 1)
    played = match.episode(level(0), 0)
    assert {one.regret for one in played.commitments} == {None}
    assert "r" not in played.packed()


def test_a_graph_that_has_grown_large_is_begun_anew(match: PolicyMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    first = match.episode(level(0), 0)
    graph = match._graph
    assert match.episode(level(0), 0) == first
    assert match._graph is graph
    monkeypatch.setattr(live, "KEPT", 1)
    assert match.episode(level(0), 0) == first
    assert match._graph is not graph
