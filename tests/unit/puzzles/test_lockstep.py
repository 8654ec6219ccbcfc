"""Row L8: the compiled simulators and their plain-Python twins in lockstep, random and adversarial actions, wrong ones
included; commitments that stop at the goal, and those that go on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.reference.simulate import TWINS, Twin

import recommit

SLIDING = [(2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (4, 4), (5, 5)]
SOKOBAN = [((6, 6), 1), ((7, 9), 2), ((10, 10), 4), ((12, 5), 2)]
OPEN = [(1, 1), (1, 7), (3, 5), (4, 4), (9, 2), (6, 11), (1, 64), (16, 16)]
CAVES = [(1, 7), (6, 11), (40, 64)]


def stack(states: list[bytearray], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(states), np.uint8).reshape(-1, *shape)


def check_steps(task: Any, twin: Twin, starts: Any, steps: int, seed: int) -> int:
    """Walk all starts, with actions drawn so that most of them do something; states must agree after every one. Now and
    then a wrong action is slipped in, which changes nothing. Returns the number of transitions compared."""
    rng = np.random.default_rng(seed)
    states, twins = starts.copy(), [bytearray(state.tobytes()) for state in starts]
    stay = rng.integers(0, 4, len(states))  # runs into things: the same direction for a while
    for step in range(steps):
        stay = np.where(rng.random(len(states)) < 0.3, rng.integers(0, 4, len(states)), stay)
        if step % 50 == 0:
            wrong, before = stay.copy(), states.copy()
            wrong[rng.integers(len(wrong))] = rng.choice([4, 255, -1, 2**31])
            with pytest.raises(ValueError, match="actions"):
                task.step(states, wrong)
            assert np.array_equal(states, before)
        for state, action in zip(twins, stay.tolist(), strict=True):
            twin.step(state, action)
        states = task.step(states, stay.astype(rng.choice([np.uint8, np.int32, np.int64])))
        assert np.array_equal(states, stack(twins, states.shape[1:])), f"seed {seed}, step {step}: states differ"
        solved = task.is_solved(states).tolist()
        assert solved == [twin.is_solved(state) for state in twins], f"seed {seed}, step {step}: solved differs"
    return len(states) * steps


def check_executes(task: Any, twin: Twin, starts: Any, rounds: int, seed: int) -> int:
    """The same for open-loop commitments of 0..8 actions; what lies behind the depth is garbage."""
    rng = np.random.default_rng(seed)
    states, total = starts.copy(), 0
    for _ in range(rounds):
        depths = rng.integers(0, 9, len(states))
        actions = rng.integers(0, 4, (len(states), 8))
        actions[np.arange(8) >= depths[:, None]] = 77
        plans = [row[:depth].tolist() for row, depth in zip(actions, depths, strict=True)]
        stopped, whole = ([bytearray(state.tobytes()) for state in states] for _ in range(2))
        expected = [twin.execute(state, plan) for state, plan in zip(stopped, plans, strict=True)]
        out = task.execute(states, actions.astype(np.uint8), depths)
        assert np.array_equal(out.states, stack(stopped, states.shape[1:])), f"seed {seed}: states differ"
        found = list(zip(out.executed.tolist(), out.solved.tolist(), out.moved.tolist(), strict=True))
        assert found == expected, f"seed {seed}: outcomes differ"
        on = task.to_the_end().execute(states, actions.astype(np.uint8), depths)
        moved = [sum(twin.step(state, each) for each in plan) for state, plan in zip(whole, plans, strict=True)]
        assert np.array_equal(on.states, stack(whole, states.shape[1:])), f"seed {seed}: states differ at the end"
        ends = [twin.is_solved(state) for state in whole]
        assert (on.moved.tolist(), on.executed.tolist(), on.solved.tolist()) == (moved, depths.tolist(), ends)
        masks = task.action_masks(out.states)
        assert masks.tolist() == [twin.mask(state) for state in stopped], f"seed {seed}: masks differ"
        total += int(depths.sum())
        states = out.states
    return total


def open_levels(count: int, rows: int, cols: int, seed: int) -> Any:
    """Random cells without any enclosing wall, one player each: the border itself is what stops moves."""
    rng = np.random.default_rng(seed)
    states = rng.choice(np.array([0, 0, 0, 0, 1, 2, 3, 3, 4], np.uint8), (count, rows, cols))
    flat = states.reshape(count, -1)
    flat[np.arange(count), rng.integers(0, rows * cols, count)] = rng.choice(np.array([5, 6], np.uint8), count)
    return states


def open_caves(count: int, rows: int, cols: int, seed: int) -> Any:
    """Rocks, also none along the edge, one goal and one player."""
    rng = np.random.default_rng(seed)
    states = (rng.random((count, rows, cols)) < 0.2).astype(np.uint8)
    for state in states:
        places = rng.permutation(rows * cols)[:2]
        state.flat[places[0]], state.flat[places[1]] = 2, 3
    return states


def cases() -> list[Any]:
    made = [pytest.param(recommit.Sliding(r, c), None, id=f"sliding-{r}x{c}") for r, c in SLIDING]
    made += [pytest.param(recommit.Sokoban(s, b), None, id=f"sokoban-{s[0]}x{s[1]}") for s, b in SOKOBAN]
    made += [pytest.param(recommit.Ice(8), None, id="ice-8x8")]
    made += [pytest.param(recommit.Sokoban(), shape, id=f"open-{shape[0]}x{shape[1]}") for shape in OPEN]
    return made + [pytest.param(recommit.Ice(), shape, id=f"cave-{shape[0]}x{shape[1]}") for shape in CAVES]


def starts_of(task: Any, shape: Any, count: int) -> Any:
    if shape is None:
        return task.generate(count, seed=5).states
    return (open_levels if task.task == "sokoban" else open_caves)(count, *shape, seed=5)


@pytest.mark.parametrize(("task", "shape"), cases())
def test_transitions_agree(task: Any, shape: Any) -> None:
    count = 20 if task.task == "ice" else 100  # the twin of the cave takes its time
    starts = starts_of(task, shape, count)
    twin = TWINS[task.task](*starts.shape[1:])
    assert check_steps(task, twin, starts, 100, seed=1) == 100 * count
    assert check_executes(task, twin, starts, 12, seed=2) > 0


@pytest.mark.parametrize("task", [recommit.Sliding(3), recommit.Sokoban(8, 2), recommit.Ice(8)], ids=lambda t: t.task)
def test_a_wrong_rule_is_noticed(task: Any) -> None:
    starts = task.generate(100, seed=5).states
    twin = TWINS[task.task](*starts.shape[1:], defect=True)
    for check in (check_steps, check_executes):
        with pytest.raises(AssertionError, match="differ"):
            check(task, twin, starts, 100, seed=1)


@pytest.mark.parametrize(
    "task", [recommit.Sliding(2, 3), recommit.Sokoban(6, 1), recommit.Ice(8)], ids=lambda t: t.task
)
def test_what_goes_on_parts_at_the_goal_alone(task: Any) -> None:
    starts = task.generate(400, seed=4, length=(3, 4) if task.task == "ice" else (1, 3)).states
    rng, plans = np.random.default_rng(1), task.solve(starts)
    actions = rng.integers(0, 4, (len(starts), 8)).astype(np.uint8)
    for i in range(0, len(starts), 2):  # every other one begins with a plan that solves
        actions[i, : plans.length[i]] = plans[i]
    depths = rng.integers(0, 9, len(starts)).astype(np.int32)
    usual, whole = task.execute(starts, actions, depths), task.to_the_end().execute(starts, actions, depths)
    stopped, passed = usual.executed < depths, usual.solved & ~whole.solved
    assert passed.any()
    assert stopped[passed].all()
    assert np.array_equal(usual.states[~stopped], whole.states[~stopped])


@pytest.mark.nightly
@pytest.mark.parametrize(("task", "shape"), cases())
def test_many_transitions_agree(task: Any, shape: Any) -> None:
    for seed in range(100):
        starts = starts_of(task, shape, 500 if task.task != "ice" else 50)
        check_steps(task, TWINS[task.task](*starts.shape[1:]), starts, 105, seed=1000 + seed)
