"""Rules that combine plans, played by a queue, against loops that keep every chunk."""

from __future__ import annotations

import numpy as np
import pytest

from recommit import horizon

HORIZON, TICKS, COUNT = 5, 14, 3


def executed(rule, chunks, samples=None):
    """[TICKS, COUNT, D] what a queue gives; chunk t is what the policy would say at tick t."""
    queue = horizon.Queue(rule, COUNT)

    def look(rows):
        (tick,) = set(queue.t[rows].tolist())
        return horizon.Plans(chunks[tick, rows], samples=None if samples is None else samples[tick, rows])

    return np.stack([queue.act(look) for _ in range(TICKS)])


@pytest.mark.parametrize("decay", [0.0, 0.01, 0.7, -0.3])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_temporal_ensembling_is_the_weighted_mean_of_all_plans_for_a_tick(decay, depth):
    chunks = np.random.default_rng(0).normal(size=(TICKS, COUNT, HORIZON, 2))
    played = executed(horizon.TemporalEnsemble(depth, decay), chunks)
    for tick in range(TICKS):
        asked = range(0, tick + 1, depth)  # from the oldest
        plans = [chunks[t, :, tick - t] for t in asked if tick - t < HORIZON]
        weights = np.exp(-decay * np.arange(len(plans)))
        np.testing.assert_allclose(played[tick], np.tensordot(weights / weights.sum(), plans, 1), atol=1e-12)


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_backward_coherence_takes_the_plan_that_goes_on_most_as_the_last_one(depth, vectors):
    rng = np.random.default_rng(1)
    shape = (TICKS, COUNT, 8, HORIZON, *([2] if vectors else []))
    every = rng.normal(size=shape) if vectors else rng.integers(0, 3, shape)
    played = executed(horizon.BackwardCoherence(depth, 0.5), every[:, :, 0], every[:, :, 1:])
    for row in range(COUNT):
        last = None
        for tick in range(0, TICKS, depth):
            rest = [] if last is None else last[depth:]

            def apart(chunk, rest=rest):
                steps = [float(np.linalg.norm(a - b) if vectors else a != b) for a, b in zip(chunk, rest, strict=False)]
                return sum(0.5**i * step for i, step in enumerate(steps))

            last = min(every[tick, row], key=apart)
            assert np.array_equal(played[tick : tick + depth, row], last[: min(depth, TICKS - tick)])


def test_what_they_need():
    chunks = horizon.Plans(np.zeros((1, 3), int), previous=horizon.Tail(np.zeros((1, 3), int), np.array([2])))
    with pytest.raises(ValueError, match=r"needs Plans\.previous\.decisions"):
        horizon.TemporalEnsemble().revise(chunks)
    with pytest.raises(ValueError, match=r"needs Plans\.samples"):
        horizon.BackwardCoherence(1).revise(chunks)
