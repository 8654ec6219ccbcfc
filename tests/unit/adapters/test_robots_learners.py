"""Learners of depths against plain implementations: sums over an episode, loops over a batch, means of returns."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from bench.robots import learners
from bench.robots.tasks import DEPTHS, PRICE

GOAL = 5


def walk(choose, episodes: int, first: int = 0) -> dict[str, np.ndarray]:
    """A corridor: column c goes c + 1 places on; who stops at the goal succeeds, who is beyond it has failed."""
    rows = []
    for number in range(first, first + episodes):
        place, generator = number % GOAL, np.random.default_rng(number)
        while place < GOAL:
            seen = np.eye(GOAL, dtype=np.float32)[place]
            column = choose(seen, generator)
            place += column + 1
            rows.append((seen, column, float(place == GOAL) - PRICE, DEPTHS[column], place >= GOAL))
    names = ("rows", "columns", "rewards", "ticks", "ends")
    return {name: np.array(each) for name, each in zip(names, zip(*rows, strict=True), strict=True)}


def anything(_row, draw) -> int:
    return int(draw.integers(len(DEPTHS)))


def test_advantages_are_the_discounted_sums_of_what_surprises():
    data = walk(anything, 20)
    values = np.random.default_rng(1).normal(size=len(data["ends"]))
    plain = []
    for i in range(len(values)):
        total, weight = 0.0, 1.0
        for j in range(i, len(values)):
            following = 0.0 if data["ends"][j] else learners.GAMMA ** data["ticks"][j] * values[j + 1]
            total += weight * (data["rewards"][j] + following - values[j])
            if data["ends"][j]:
                break
            weight *= learners.LAMBDA * learners.GAMMA ** data["ticks"][j]
        plain.append(total)
    np.testing.assert_allclose(learners.advantages(data, values), plain, atol=1e-12)


def test_the_surrogate_is_the_mean_of_clipped_ratios_less_the_entropy():
    draw = np.random.default_rng(2)
    logits, columns = 2 * draw.normal(size=(40, 6)), draw.integers(6, size=40)
    old, gains = np.log(draw.uniform(0.05, 0.9, 40)), draw.normal(size=40)
    plain = 0.0
    for row, column, before, gain in zip(logits, columns, old, gains, strict=True):
        odds = [math.exp(each) / sum(map(math.exp, row)) for each in row]
        ratio = odds[column] / math.exp(before)
        plain -= min(ratio * gain, min(max(ratio, 1 - learners.CLIP), 1 + learners.CLIP) * gain) / 40
        plain += learners.ENTROPY * sum(p * math.log(p) for p in odds) / 40
    found = learners.surrogate(*(torch.from_numpy(each) for each in (logits, columns, old, gains)))
    assert float(found) == pytest.approx(plain, abs=1e-12)


def exact() -> np.ndarray:
    """Values [places, depths] by backward induction."""
    values = np.zeros((GOAL, len(DEPTHS)))
    for place in reversed(range(GOAL)):
        for column, ticks in enumerate(DEPTHS):
            after = place + column + 1
            rest = learners.GAMMA**ticks * values[after].max() if after < GOAL else 0.0
            values[place, column] = float(after == GOAL) - PRICE + rest
    return values


def test_the_q_head_comes_to_the_mean_returns_of_what_was_executed():
    data, sums = walk(anything, 150), {}
    for i, ended in enumerate(data["ends"]):
        total, weight, j = data["rewards"][i], 1.0, i
        while not ended:
            weight *= learners.GAMMA ** data["ticks"][j]
            j += 1
            total, ended = total + weight * data["rewards"][j], data["ends"][j]
        assert learners.returns(data)[i] == pytest.approx(total)
        sums.setdefault((data["rows"][i].argmax(), data["columns"][i]), []).append(total)
    nets = learners.q_head(data, 300, seed=0)
    for (place, column), each in sums.items():
        found = learners.outputs(nets, np.eye(GOAL, dtype=np.float32)[place])[column]
        assert found == pytest.approx(np.mean(each), abs=0.08)


def test_ppo_finds_the_depths_that_reach_the_goal():
    nets = learners.ppo(lambda choose, batch: walk(choose, 100, first=100 * batch), 25, seed=0)
    chosen = nets(np.eye(GOAL, dtype=np.float32)[None])[0].argmax(axis=1)
    assert (exact()[np.arange(GOAL), chosen] > exact().max(axis=1) - 0.03).all()
