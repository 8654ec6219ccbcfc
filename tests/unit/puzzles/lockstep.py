"""The compiled simulators and their plain-Python twins, move by move."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.reference.simulate import Twin


def stack(states: list[bytearray], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(states), np.uint8).reshape(-1, *shape)


def refuses(task: Any, states: Any, actions: Any) -> bool:
    """Wrong actions raise ValueError and change nothing."""
    before = states.copy()
    try:
        task.step(states, actions)
    except ValueError:
        return np.array_equal(states, before)
    return False


def check_steps(task: Any, twin: Twin, starts: Any, steps: int, seed: int) -> int:
    """Walk all starts for some steps, with actions drawn so that most of them do something; states must agree after
    every one. Now and then a wrong action is slipped in. Returns the number of transitions compared."""
    rng = np.random.default_rng(seed)
    states, twins = starts.copy(), [bytearray(state.tobytes()) for state in starts]
    stay = rng.integers(0, 4, len(states))  # runs into things: the same direction for a while
    for step in range(steps):
        stay = np.where(rng.random(len(states)) < 0.3, rng.integers(0, 4, len(states)), stay)
        if step % 50 == 0:
            wrong = stay.copy()
            wrong[rng.integers(len(wrong))] = rng.choice([4, 255, -1, 2**31])
            assert refuses(task, states, wrong)
        for state, action in zip(twins, stay.tolist(), strict=True):
            twin.step(state, action)
        states = task.step(states, stay.astype(rng.choice([np.uint8, np.int32, np.int64])))
        expected = stack(twins, states.shape[1:])
        assert np.array_equal(states, expected), f"seed {seed}, step {step}: states differ"
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
        twins = [bytearray(state.tobytes()) for state in states]
        expected = [
            twin.execute(state, row[:depth].tolist()) for state, row, depth in zip(twins, actions, depths, strict=True)
        ]
        out = task.execute(states, actions.astype(np.uint8), depths)
        assert np.array_equal(out.states, stack(twins, states.shape[1:])), f"seed {seed}: states differ"
        found = list(zip(out.executed.tolist(), out.solved.tolist(), out.moved.tolist(), strict=True))
        assert found == expected, f"seed {seed}: outcomes differ"
        masks = task.action_masks(out.states)
        assert masks.tolist() == [twin.mask(state) for state in twins], f"seed {seed}: masks differ"
        total += int(depths.sum())
        states = out.states
    return total
