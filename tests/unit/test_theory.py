"""The theory against brute force: every sequence of depths tried, every path of a decision process walked."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.unit.theory_cases import CLOSE, H, difficulties, fixed_plan, greedy_plan, log_success, rate, sequences, walk

from recommit import theory

# F and the critical depth


def test_the_slope_of_f_has_another_sign_than_the_printed_one():
    u = np.linspace(0.02, 0.98, 97)
    slope = (theory.F(u + 1e-6) - theory.F(u - 1e-6)) / 2e-6
    assert slope == pytest.approx((u + np.log1p(-u)) / u**2, rel=1e-6)
    assert slope[48] == pytest.approx(-0.7726, abs=5e-5)  # at 0.5, where the printed one is -4.7726


def test_f_falls_from_one_to_zero():
    u = np.concatenate([np.geomspace(1e-9, 0.5, 500), 1 - np.geomspace(0.4999, 1e-12, 500)])
    f = theory.F(u)
    assert (np.diff(f) < 0).all()
    assert [f[0], f[-1]] == pytest.approx([1, 0], abs=1e-8)
    assert f == pytest.approx((1 - u) * -np.log1p(-u) / u, rel=1e-12)


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


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1.5, math.nan])
def test_u_star_exists_between_zero_and_one_only(alpha):
    with pytest.raises(ValueError, match="alpha: expected values in"):
        theory.u_star(alpha)


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


def test_both_forms_of_the_condition_agree_and_how_often_the_printed_one_is_wrong():
    c, alpha = np.random.default_rng(2).uniform(1e-9, 1, (2, 50_000))
    assert (theory.interior_exists(c, alpha) == (c < theory.u_star(alpha))).all()
    assert 1 - theory.interior_exists(c, alpha).mean() == pytest.approx(2 - math.pi**2 / 6, abs=0.005)
    assert theory.interior_exists(1e-9, 0.999999)


def test_at_alpha_one_and_above_depth_one_is_best():
    c, alpha = np.random.default_rng(3).uniform((0.001, 1), (0.999, 3), (1000, 2)).T
    assert not theory.interior_exists(c, alpha).any()
    assert not interior_by_search(c, alpha).any()


def test_doubling_finds_the_best_depth_of_a_grid():
    draw = np.random.default_rng(4)
    for c, alpha in zip(10 ** draw.uniform(-4, 0, 10_000), draw.uniform(0.01, 1.5, 10_000), strict=True):
        for largest in (8, 64):
            grid = [2**i for i in range(largest.bit_length())]
            assert theory.h_star_grid(c, alpha, largest) == max(grid, key=lambda h: rate(h, c, alpha))


def test_the_smaller_depth_of_a_tie():
    assert rate(1, 0.5, math.log2(1.5)) == pytest.approx(rate(2, 0.5, math.log2(1.5)), rel=1e-15)
    assert theory.h_star_grid(0.5, math.log2(1.5)) == 1


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


def test_the_relaxed_horizon_picks_another_depth():
    depths = np.array(H)
    assert H[theory.p_fixed(depths, 13, 0.3, 0.5, relaxed=True).argmax()] == 4
    assert H[theory.p_fixed(depths, 13, 0.3, 0.5).argmax()] == 8


def test_the_small_error_form():
    draw = np.random.default_rng(5)
    for _ in range(2000):
        h, horizon, alpha = 2 ** int(draw.integers(0, 4)), int(draw.integers(1, 100)), draw.uniform(0.05, 2)
        q = draw.uniform(0, 0.5)
        c = q / h**alpha
        exact = -math.log(theory.p_fixed(h, horizon, c, alpha, p0=0.7, relaxed=True))
        assert abs(exact - (-math.log(0.7) + horizon * c * h ** (alpha - 1))) <= horizon / h * q**2 + 1e-12


# The proposition


def test_with_given_states_depth_one_maximises_the_product():
    draw = np.random.default_rng(6)
    for _ in range(200):
        c, alpha = difficulties(draw, 3)
        tried = {
            depths: sum(log_success(h, c[k], alpha[k]) for k, h in enumerate(depths))
            for depths in itertools.product(H, repeat=3)
        }
        assert max(tried, key=tried.get) == (1, 1, 1)
        for k in range(3):
            star = theory.h_star_grid(c[k], alpha[k])
            assert star == 1 or 1 - c[k] > 1 - c[k] * star ** alpha[k]


def test_where_depths_move_the_state_depth_one_need_not_maximise_it():
    """Two factors; action 1 is hard, and depth 2 steps over it."""
    c, alpha = [0.01, 0.5, 0.01, 0.01], [0.1] * 4
    assert walk((2, 2), c, alpha) > walk((1, 1), c, alpha) + 0.5


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


def test_a_depth_that_does_not_fit_is_impossible_without_a_cut():
    assert theory.dp_value([0.1] * 3, [0.5] * 3, depths=(2,), cut=False) == -math.inf
    with pytest.raises(ValueError, match="policy: expected"):
        theory.dp_value([0.1], [0.5], "best")


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


def test_the_number_of_that_counterexample():
    assert theory.dp_value([0.01] + [0.1] * 7, [0.1] + [0.9] * 7) == pytest.approx(-0.012388, abs=5e-7)


def test_the_proofs_policy_loses_to_depth_one():
    c, alpha = [0.3] + [0.01] * 3, [0.5] + [0.1] * 3
    plans = {plan: math.exp(walk(plan, c, alpha)) for plan in sequences(4, H)}
    assert greedy_plan(c, alpha, H) == [4]
    assert plans[(4,)] == pytest.approx(0.4)
    assert plans[(1, 1, 1, 1)] == pytest.approx(0.6792093)
    assert max(plans.values()) == pytest.approx(math.exp(theory.dp_value(c, alpha)))


def test_how_often_the_proposition_fails():
    """Random instances that meet its premise; both failures are common, and greedy never beats adaptive."""
    draw, met, no_gap, suboptimal, worse = np.random.default_rng(8), 0, 0, 0, 0
    for _ in range(500):
        c, alpha = difficulties(draw, int(draw.integers(8, 33)))
        if len({theory.h_star_grid(x, a) for x, a in zip(c, alpha, strict=True)}) > 1:
            adaptive, fixed, greedy = (theory.dp_value(c, alpha, policy) for policy in ("adaptive", "fixed", "greedy"))
            assert adaptive >= max(fixed, greedy) - CLOSE
            met += 1
            no_gap += adaptive <= fixed + CLOSE
            suboptimal += greedy < adaptive - CLOSE
            worse += greedy < fixed - CLOSE
    assert met > 300
    assert min(no_gap / 0.02, suboptimal / 0.8, worse / 0.2) > met
