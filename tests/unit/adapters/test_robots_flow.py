"""The flow policy against plain implementations: guidance with gradients by differences, and what an arm executes."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from bench.robots import flow
from bench.robots.policies import Nets
from bench.robots.tasks import H

SEEN = 3


def nets(sizes: tuple[int, ...], seed: int) -> Nets:
    draw = np.random.default_rng(seed)
    return Nets([(draw.normal(size=(1, a, b)) / math.sqrt(a), draw.normal(size=(1, 1, b))) for a, b in pairwise(sizes)])


@pytest.fixture
def policy() -> flow.Flow:
    wide = 4 * H
    return flow.Flow(np.zeros(SEEN), np.ones(SEEN), nets((SEEN + wide + 1, 16, 16, wide), 0), nets((9, 8, 8, 4), 1))


def denoised(policy: flow.Flow, seen: np.ndarray, x: np.ndarray, t: float) -> np.ndarray:
    """The network, layer by layer."""
    rows = np.concatenate([seen, x, [t]]).astype(np.float32).astype(np.float64)
    for number, (weight, bias) in enumerate(policy.denoiser.layers):
        rows = rows @ weight[0] + bias[0, 0]
        rows = rows if number == 2 else np.maximum(rows, 0)
    return rows


def test_an_old_plan_pulls_as_in_the_code_of_real_time_chunking(policy):
    seen, draw = np.array([0.3, -1.0, 2.0]), np.random.default_rng(2)
    noise, old, delay, end = draw.normal(size=(1, H, 4)), draw.uniform(-1, 1, (H, 4)), 3, 20
    wanted = []
    for place in range(H):
        share = min(max((delay - 1 - place) / (end - delay + 1) + 1, 0.0), 1.0)
        wanted.append(share * (math.exp(share) - 1) / (math.e - 1) if place < end else 0.0)
    np.testing.assert_allclose(flow.weights(delay, end), wanted, atol=1e-6)
    x = noise.ravel()
    for step in range(flow.DENOISING):
        t, small = step / flow.DENOISING, 1e-4
        out = denoised(policy, seen, x, t)
        error = np.repeat(wanted, 4) * (old.ravel() - out)
        pull = np.zeros_like(x)
        for i in range(len(x)):
            up, down = x.copy(), x.copy()
            up[i], down[i] = x[i] + small, x[i] - small
            pull[i] = error @ (denoised(policy, seen, up, t) - denoised(policy, seen, down, t)) / (2 * small)
        variance = (1 - t) ** 2 / (t**2 + (1 - t) ** 2)
        strength = min((1 - t) / t / variance, flow.STRONGEST) if t else flow.STRONGEST
        x = x + ((out - x) / (1 - t) + strength * pull) / flow.DENOISING
    found = policy.plans(seen, noise, old, flow.weights(delay, end))
    np.testing.assert_allclose(found[0].ravel(), np.clip(x, -1, 1), atol=2e-3)
    free = policy.plans(seen, noise)
    assert np.abs(free - found).max() > 0.05
    np.testing.assert_array_equal(policy.plans(seen, noise, old, np.zeros(H)), free)


class Recorder:
    """An arm of forty ticks that keeps what it executes; the observation is the tick."""

    def reset(self, _number):
        self.t, self.over, self.success, self.done = 0, False, False, []

    observation = property(lambda self: self.t)

    def commit(self, actions):
        self.done.append(actions[0].tolist())
        self.t += 1
        self.over = self.t == 40


@pytest.mark.parametrize("method", flow.METHODS)
@pytest.mark.parametrize("delay", flow.DELAYS)
def test_plans_come_late_by_so_many_ticks(method, delay):
    asked = []

    def plans(seen, _noise, old=None, wanted=None):
        asked.append((seen, old, wanted))
        return np.stack([np.full(H, seen), np.arange(H), np.zeros(H), np.zeros(H)], axis=1)[None]

    corrected = lambda seen, action, place: np.array([action[0], action[1], seen, place])
    arm = Recorder()
    rows = flow.play(arm, SimpleNamespace(plans=plans, corrected=corrected), method, delay, [0])
    assert rows == [[0, 5, 40]]
    for tick, (begun, place, newest, told) in enumerate(arm.done):
        query = tick - tick % flow.EXECUTED
        mine = query - flow.EXECUTED if query and tick - query < delay else query
        assert (begun, place) == (mine, tick - mine)
        assert (newest, told) == ((tick, tick - mine) if "a2c2" in method else (0, 0))
    for seen, old, wanted in asked[1:]:
        if "rtc" in method:
            assert old[: H - flow.EXECUTED, :2].tolist() == [[seen - flow.EXECUTED, i] for i in range(flow.EXECUTED, H)]
            np.testing.assert_array_equal(wanted, flow.weights(delay, H - flow.EXECUTED))
        else:
            assert old is None


def test_a_correction_reads_the_newest_observation_the_action_and_its_place(policy):
    seen, action, place = np.array([0.5, 0.1, -0.4]), np.array([0.2, -0.3, 0.9, -0.9]), 5
    row = np.array([*seen, *action, math.cos(math.pi * place / H), math.sin(math.pi * place / H)])
    for number, (weight, bias) in enumerate(policy.correction.layers):
        row = row @ weight[0] + bias[0, 0]
        row = row if number == 2 else np.maximum(row, 0)
    np.testing.assert_allclose(policy.corrected(seen, action, place), np.clip(action + row, -1, 1), atol=1e-5)
