"""The theory against brute force: every sequence of depths tried, every path of a decision process walked."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from recommit import theory

H = theory.DEPTHS
#: Relative to sums of a few dozen logarithms.
CLOSE = 1e-11


def log_success(h, c, alpha):
    u = c * h**alpha
    return math.log(1 - u) if u < 1 else -math.inf


def rate(h, c, alpha):
    return log_success(h, c, alpha) / h


def sequences(remaining, depths, cut=True):
    """Every way to fill ``left`` actions with commitments."""
    if remaining == 0:
        yield ()
    for h in depths if remaining else ():
        if h <= remaining or cut:
            for rest in sequences(max(remaining - h, 0), depths, cut):
                yield (min(h, remaining), *rest)


def walk(plan, c, alpha):
    """The log success of commitments in a row."""
    total, t = 0.0, 0
    for h in plan:
        total, t = total + log_success(h, c[t], alpha[t]), t + h
    return total


def fixed_plan(h, horizon):
    return (h,) * (horizon // h) + ((horizon % h,) if horizon % h else ())


def greedy_plan(c, alpha, depths):
    plan, t = [], 0
    while t < len(c):
        plan.append(min(max(depths, key=lambda h, t=t: rate(h, c[t], alpha[t])), len(c) - t))
        t += plan[-1]
    return plan


def difficulties(draw, horizon, largest=8):
    """One c and alpha per action; a commitment of the largest depth never fails for certain."""
    alpha = draw.uniform(0.05, 0.99, horizon)
    return 10 ** draw.uniform(-3, 0, horizon) * float(largest) ** -alpha, alpha


# F and the critical depth


def test_the_slope_of_f_has_another_sign_than_the_printed_one():
    u = np.linspace(0.02, 0.98, 97)
    slope = (theory.F(u + 1e-6) - theory.F(u - 1e-6)) / 2e-6
    assert slope == pytest.approx((u + np.log1p(-u)) / u**2, rel=1e-6)
    assert slope[48] == pytest.approx(-0.7726, abs=5e-5)  # at 0.5, where the printed one is -4.7726


def test_u_star():
    known = {0.1: 0.97308, 0.25: 0.90335, 0.5: 0.71533, 0.75: 0.42317, 0.9: 0.18710, 0.99: 0.01987}
    for alpha, u in known.items():
        assert theory.u_star(alpha) == pytest.approx(u, abs=5e-6)
    alpha = np.concatenate([np.geomspace(1e-6, 0.5, 200), np.linspace(0.5, 1 - 1e-6, 200)])
    assert theory.F(theory.u_star(alpha)) == pytest.approx(alpha, rel=1e-9)
    middle = alpha[(alpha > 0.01) & (alpha < 0.99)]
    low, high = theory.u_star(middle) - 1e-12, theory.u_star(middle) + 1e-12
    assert (theory.F(low) > middle).all()
    assert (theory.F(high) < middle).all()


def test_the_critical_depth_is_where_the_rate_peaks():
    draw = np.random.default_rng(0)
    c, alpha = 10 ** draw.uniform(-4, 0, 2000), draw.uniform(0.05, 0.95, 2000)
    h = theory.h_star_cont(c, alpha)
    assert c * h**alpha == pytest.approx(theory.u_star(alpha), rel=1e-9)
    for nudge in (0.999, 1.001):
        assert (theory.rate(h * nudge, c, alpha) < theory.rate(h, c, alpha)).all()


# The lemma


def interior_by_search(c, alpha):
    """Whether one of 500 depths inside (1, c^(-1/alpha)) beats depth 1."""
    share = np.concatenate([np.geomspace(1e-5, 0.1, 250), np.linspace(0.1, 1, 250, endpoint=False)])
    c, alpha = np.asarray(c)[:, None], np.asarray(alpha)[:, None]
    # u = c^(1 - share) at the depth c^(-share/alpha)
    return (np.log1p(-(c ** (1 - share))) * c ** (share / alpha) > np.log1p(-c)).any(axis=1)


def lemma_mismatches(predicate, draws=10_000):
    c, alpha = np.random.default_rng(1).uniform(0.001, (0.999, 1.3), (draws, 2)).T
    clear = np.abs(alpha - theory.F(c)) > 1e-3  # nearer than that, a search by steps sees nothing
    assert clear.mean() > 0.98
    return np.count_nonzero((interior_by_search(c, alpha) != predicate(c, alpha))[clear])


def test_the_corrected_lemma_agrees_with_search_and_the_printed_one_does_not():
    assert lemma_mismatches(theory.interior_exists) == 0
    assert lemma_mismatches(lambda _c, alpha: alpha < 1) > 0.2 * 10_000


def test_doubling_finds_the_best_depth_of_a_grid():
    draw = np.random.default_rng(4)
    for c, alpha in zip(10 ** draw.uniform(-4, 0, 10_000), draw.uniform(0.01, 1.5, 10_000), strict=True):
        for largest in (8, 64):
            grid = [2**i for i in range(largest.bit_length())]
            assert theory.h_star_grid(c, alpha, largest) == max(grid, key=lambda h: rate(h, c, alpha))


def test_what_an_interior_optimum_needs_of_q():
    """The paper's two conditions are neither needed (alpha < 1) nor enough (alpha > 1), nor is q -> 1 alone."""
    h = np.geomspace(1e-8, 1e-4, 50)
    assert 0.01 * h[0] ** 1.5 / h[0] < 1e-5, "q/h -> 0"
    assert 0.01 * h[0] ** 0.5 / h[0] > 99, "q/h -> infinity"
    assert (np.diff(theory.rate(h, 0.01, 1.5)) < 0).all()
    assert (np.diff(theory.rate(h, 0.01, 0.5)) > 0).all()
    assert theory.h_star_cont(0.01, 0.5) > 1
    wide = np.geomspace(1e-6, 1e3, 100)
    q = -np.expm1(-np.sqrt(wide))  # q/h -> infinity and q -> 1, but ever longer commitments are better
    assert q[-1] > 1 - 1e-12
    assert (np.diff(-np.sqrt(wide) / wide) > 0).all()


# Fixed depths over a horizon


def test_success_at_a_fixed_depth_cuts_the_last_commitment():
    for horizon, h in itertools.product((1, 3, 8, 13), H):
        wanted = 0.9
        for n in fixed_plan(h, horizon):
            wanted *= max(1 - 0.3 * n**0.5, 0)
        assert theory.p_fixed(h, horizon, 0.3, 0.5, p0=0.9) == pytest.approx(wanted, rel=1e-12)
        relaxed = theory.p_fixed(h, horizon, 0.3, 0.5, relaxed=True)
        assert relaxed == pytest.approx((1 - 0.3 * h**0.5) ** (horizon / h), rel=1e-12)
        if horizon % h == 0:
            assert relaxed * 0.9 == pytest.approx(wanted, rel=1e-12)
    assert theory.p_fixed(8, 16, 0.5, 0.5) == 0


# The proposition


def test_dynamic_programming_equals_enumeration():
    draw = np.random.default_rng(7)
    for case in range(120):
        horizon, depths = int(draw.integers(1, 10)), [H, (1, 3), (1, 2, 5), (1, 8)][case % 4]
        c, alpha = difficulties(draw, horizon)
        for cut in (True, False):
            best = max(walk(plan, c, alpha) for plan in sequences(horizon, depths, cut))
            assert theory.dp_value(c, alpha, depths=depths, cut=cut) == pytest.approx(best, rel=CLOSE)
        fixed = max(walk(fixed_plan(h, horizon), c, alpha) for h in depths)
        assert theory.dp_value(c, alpha, "fixed", depths) == pytest.approx(fixed, rel=CLOSE)
        greedy = walk(greedy_plan(c, alpha, depths), c, alpha)
        assert theory.dp_value(c, alpha, "greedy", depths) == pytest.approx(greedy, rel=CLOSE)


@pytest.mark.parametrize(
    ("c", "alpha", "at", "stars"),
    [
        ([0.01] + [0.1] * 7, [0.1] + [0.9] * 7, 4, (8, 2)),
        ([0.01, 0.15], [0.1, 0.9], 1, (8, 1)),  # the smallest horizon that there is
    ],
    ids=["8 actions", "2 actions"],
)
def test_optima_that_differ_do_not_make_adaptive_better(c, alpha, at, stars):
    assert all(c[t] * 8 ** alpha[t] < 1 for t in range(len(c)))
    for t, star in zip((0, at), stars, strict=True):
        others = [rate(h, c[t], alpha[t]) for h in H if h != star]
        assert rate(star, c[t], alpha[t]) > max(others) + 1e-6, "the premise asks for one best depth"
    plans = {plan: walk(plan, c, alpha) for plan in sequences(len(c), H)}
    best = max(plans, key=plans.get)
    assert best == fixed_plan(8, len(c)) == (len(c),)
    assert theory.dp_value(c, alpha) == pytest.approx(plans[best], rel=CLOSE)
    assert theory.dp_value(c, alpha, "fixed") == pytest.approx(plans[best], rel=CLOSE)
    assert len(c) == 2 or plans[best] == pytest.approx(-0.012388, abs=5e-7), "the number on the page"


def test_the_proofs_policy_loses_to_depth_one():
    c, alpha = [0.3] + [0.01] * 3, [0.5] + [0.1] * 3
    plans = {plan: math.exp(walk(plan, c, alpha)) for plan in sequences(4, H)}
    assert greedy_plan(c, alpha, H) == [4]
    assert plans[(4,)] == pytest.approx(0.4)
    assert plans[(1, 1, 1, 1)] == pytest.approx(0.6792093)
    assert max(plans.values()) == pytest.approx(math.exp(theory.dp_value(c, alpha)))


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
