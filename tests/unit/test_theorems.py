"""The theorems T1, T2 and T3 against brute force: every sequence of depths, every policy of a decision process."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.unit.theory_cases import CLOSE, H, difficulties, log_success, sequences, walk

from recommit import theory

# T1


POOL = [(0.5, math.log2(1.5)), (0.05, 0.9), (0.02, 0.9), (0.3, 0.5), (0.01, 0.1), (0.8, 0.5), (0.15, 0.9)]


def block_value(c, alpha, length, depths):
    """Plain dynamic programming over one block that no commitment leaves."""
    value = [0.0]
    for remaining in range(1, length + 1):
        value.append(
            max((log_success(h, c, alpha) + value[remaining - h] for h in depths if h <= remaining), default=-math.inf)
        )
    return value[length]


def regimes(draw, case, depths):
    """Two or three blocks, half of them from a pool with ties and repeats."""
    blocks = int(draw.integers(2, 4))
    pairs = [POOL[i] for i in draw.integers(0, len(POOL), blocks)]
    if case % 2:
        pairs = list(zip(*difficulties(draw, blocks), strict=True))
    lengths = [math.lcm(*depths) * int(n) for n in draw.integers(1, 4, blocks)]
    return [c for c, _ in pairs], [a for _, a in pairs], lengths


@pytest.mark.parametrize("depths", [H, (1, 2, 3), (1, 8)], ids=str)
def test_t1(depths):
    draw, outcomes = np.random.default_rng(9), set()
    for case in range(400):
        c, alpha, lengths = regimes(draw, case, depths)
        cases = list(zip(c, alpha, lengths, strict=True))
        found = theory.regime_value(c, alpha, lengths, depths)
        adaptive = sum(block_value(*block, depths) for block in cases)
        fixed = max(sum(block_value(*block, (h,)) for block in cases) for h in depths)
        assert found.adaptive == pytest.approx(adaptive, rel=CLOSE)
        assert found.fixed == pytest.approx(fixed, rel=CLOSE)
        assert found.strict == (adaptive > fixed * (1 - CLOSE))
        outcomes.add((found.strict, max(len(best) for best in found.best)))
    assert {True, False} <= {strict for strict, _ in outcomes}
    assert (False, 2) in outcomes or depths == (1, 8), "a tie decided none"


def test_t1_by_enumeration():
    c, alpha, lengths = [0.3, 0.05], [0.5, 0.9], [8, 16]
    found = theory.regime_value(c, alpha, lengths, (1, 2, 4))
    parts = [
        max(walk(plan, [c[i]] * n, [alpha[i]] * n) for plan in sequences(n, (1, 2, 4), cut=False))
        for i, n in enumerate(lengths)
    ]
    assert found.adaptive == pytest.approx(sum(parts), rel=CLOSE)
    with pytest.raises(ValueError, match="lengths: expected positive multiples"):
        theory.regime_value([0.1], [0.5], [12])


def test_across_blocks_t1_is_a_lower_bound_only():
    draw, above, against_iff = np.random.default_rng(10), 0, 0
    for _ in range(200):
        c, alpha, lengths = regimes(draw, 1, H)
        found = theory.regime_value(c, alpha, lengths)
        free = theory.dp_value(np.repeat(c, lengths), np.repeat(alpha, lengths))
        assert free >= found.adaptive * (1 + CLOSE)
        assert free > found.fixed or not found.strict
        above += free > found.adaptive * (1 - CLOSE)
        against_iff += not found.strict and free > found.fixed * (1 - CLOSE)
    assert above > 20
    assert against_iff > 0


def test_with_cuts_t1_fails_on_coarse_depths():
    """A last commitment that is cut acts as a depth that the grid has not. With doubling depths no case was found."""
    c, alpha = 0.2, 0.7
    closed = theory.regime_value([c], [alpha], [8], (1, 8)).adaptive
    assert theory.dp_value([c] * 8, [alpha] * 8, depths=(1, 8), cut=False) == pytest.approx(closed, rel=CLOSE)
    assert theory.dp_value([c] * 8, [alpha] * 8, depths=(1, 8)) > closed + 0.1
    draw = np.random.default_rng(11)
    for alpha in draw.uniform(0.01, 0.99, 300):
        h = 2 ** int(draw.integers(0, 3))
        c = (2 - 2**alpha) / h**alpha  # depths h and 2h tie: what lies between is better than both
        if c * 8**alpha < 1:
            closed = theory.regime_value([c], [alpha], [16]).adaptive
            assert theory.dp_value([c] * 16, [alpha] * 16) == pytest.approx(closed, rel=CLOSE)


# T2


def process(draw, states=4, actions=2):
    """Sparse and dyadic, so that some states stay out of reach and ties are exact."""
    transition = np.zeros((actions, states, states))
    for a, s in np.ndindex(actions, states):
        for target in draw.integers(0, states, 2):
            transition[a, s, target] += draw.choice([0, 0.25, 0.5])
    start = np.zeros(states)
    start[draw.integers(0, states)] = 1
    return transition, draw.integers(0, 2, (actions, states)) / 4, start


def returns(transition, reward, s, remaining, choose):
    """The best expected return when ``choose(s, left)`` says which actions may be taken."""
    if remaining == 0:
        return 0.0
    return max(
        reward[a, s]
        + sum(p * returns(transition, reward, n, remaining - 1, choose) for n, p in enumerate(transition[a, s]) if p)
        for a in choose(s, remaining)
    )


def reached(transition, start, budget, action):
    """What always taking one action visits: (state, decisions left)."""
    seen = frontier = {(int(s), budget) for s in np.flatnonzero(start)}
    while frontier:
        frontier = {
            (int(n), remaining - 1)
            for s, remaining in frontier
            if remaining
            for n in np.flatnonzero(transition[action, s])
        }
        seen = seen | frontier
    return seen


def test_t2():
    draw, strict, elsewhere = np.random.default_rng(12), 0, 0
    for _ in range(150):
        transition, reward, start = process(draw)
        root = int(start.argmax())
        optimal = returns(transition, reward, root, 4, lambda *_: (0, 1))
        for action in (0, 1):
            fixed = returns(transition, reward, root, 4, lambda *_, a=action: (a,))
            found = theory.bellman_gap(transition, reward, start, 4, action)
            assert [found.optimal, found.fixed] == pytest.approx([optimal, fixed], abs=1e-14)
            assert optimal - fixed == pytest.approx((found.visits * found.gap).sum(), abs=1e-14)
            assert found.strict == (optimal > fixed)
            visited = reached(transition, start, 4, action)
            assert {(int(s), int(k)) for k, s in np.argwhere(found.visits > 0)} == visited
            assert found.strict == any(found.gap[k, s] > 0 for s, k in visited)
            strict += found.strict
            elsewhere += not found.strict and (found.gap > 0).any()
    assert min(strict, elsewhere) > 30


def test_the_optimum_of_t2_is_that_of_every_policy():
    draw = np.random.default_rng(13)
    for _ in range(10):
        transition, reward, start = process(draw, states=2)
        root, keys = int(start.argmax()), list(itertools.product(range(2), (1, 2, 3)))
        policies = (dict(zip(keys, picks, strict=True)) for picks in itertools.product((0, 1), repeat=len(keys)))
        best = max(returns(transition, reward, root, 3, lambda s, k, p=p: (p[s, k],)) for p in policies)
        assert theory.bellman_gap(transition, reward, start, 3, 0).optimal == pytest.approx(best, abs=1e-14)


def test_t2_on_the_horizon_model():
    """Depth 8 never decides at action 4: a gap there, visited by other policies, costs it nothing."""
    c, alpha = [0.01] + [0.1] * 7, [0.1] + [0.9] * 7
    transition, reward = np.zeros((4, 8, 8)), np.zeros((4, 8))
    for (i, h), t in itertools.product(enumerate(H), range(8)):
        n = min(h, 8 - t)
        reward[i, t] = log_success(n, c[t], alpha[t])
        if t + n < 8:
            transition[i, t, t + n] = 1
    found = [theory.bellman_gap(transition, reward, np.eye(8)[0], 8, i) for i in range(4)]
    assert found[3].optimal == pytest.approx(theory.dp_value(c, alpha), rel=CLOSE)
    assert [one.strict for one in found] == [True, True, True, False]
    assert found[3].gap[4, 4] > 0.01
    assert found[3].visits[:, 4].sum() == 0 < found[2].visits[:, 4].sum()


# T3


@pytest.mark.parametrize("shape", [(4, 9), (4, 1), (9,), ()], ids=str)
def test_t3_equals_enumeration(shape):
    draw = np.random.default_rng(14)
    for case in range(25):
        alpha = draw.uniform(0.05, 1.5, shape)
        c = 10 ** draw.uniform(-3, 0, shape) * (8.0**-alpha if case % 2 else 1)
        progress, full = int(draw.integers(1, 10)), np.broadcast_to
        c, alpha = (x[..., :progress] if shape and shape[-1] > 1 else x for x in (c, alpha))
        for budget in (1, 2, 4):
            some = [x[:budget] if len(shape) == 2 else x for x in (c, alpha)]
            wide_c, wide_alpha = (full(x, (budget, progress)) for x in some)
            for depths in (H, (2,), (1, 3)):
                best = -math.inf
                for plan in itertools.product(depths, repeat=budget):
                    total, made = 0.0, 0
                    for k, h in enumerate(plan):
                        if made < progress:
                            total += log_success(h, wide_c[k, made], wide_alpha[k, made])
                            made += h
                    best = max(best, total if made >= progress else -math.inf)
                assert theory.budget_value(*some, budget, progress, depths) == pytest.approx(best, rel=CLOSE)


def test_t3_is_t2_with_success_as_the_reward():
    draw = np.random.default_rng(15)
    for _ in range(50):
        progress, budget = int(draw.integers(2, 20)), int(draw.integers(1, 6))
        c, alpha = difficulties(draw, progress)
        transition, reward = np.zeros((4, progress, progress)), np.zeros((4, progress))
        for (i, h), s in itertools.product(enumerate(H), range(progress)):
            if s + h < progress:
                transition[i, s, s + h] = 1 - c[s] * h ** alpha[s]
            else:
                reward[i, s] = 1 - c[s] * h ** alpha[s]
        for i, h in enumerate(H):
            found = theory.bellman_gap(transition, reward, np.eye(progress)[0], budget, i)
            best, fixed = (theory.budget_value(c, alpha, budget, progress, depths) for depths in (H, (h,)))
            assert [found.optimal, found.fixed] == pytest.approx([math.exp(best), math.exp(fixed)], rel=1e-10)
            assert found.strict == (best > fixed + CLOSE)


def test_under_a_budget_optima_that_vary_are_neither_enough_nor_needed():
    c, alpha = np.repeat([0.01, 0.1], 8), np.repeat([0.1, 0.9], 8)
    assert [theory.h_star_grid(*pair) for pair in ((0.01, 0.1), (0.1, 0.9))] == [8, 2]
    assert theory.budget_value(c, alpha, 2, 16) == pytest.approx(theory.budget_value(c, alpha, 2, 16, (8,)), rel=CLOSE)
    c = np.repeat([0.1, 0.01], 4)
    assert [theory.h_star_grid(x, 1.2) for x in (0.1, 0.01)] == [1, 1]
    fixed = [math.exp(theory.budget_value(c, 1.2, 5, 8, (h,))) for h in H]
    plan = math.exp(walk((1, 1, 1, 1, 4), c, [1.2] * 8))
    assert fixed[0] == fixed[3] == 0
    assert math.exp(theory.budget_value(c, 1.2, 5, 8)) == pytest.approx(plan, rel=CLOSE)
    assert plan > max(fixed) + 0.05
