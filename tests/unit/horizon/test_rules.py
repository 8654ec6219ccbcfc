"""Every rule against its slow twin, on plans of every kind; each twin with its planted defect is told apart."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reference import horizon as slow
from tests.unit.horizon import cases

from recommit.horizon import (
    Agreement,
    Confidence,
    Consecutive,
    Disagreement,
    EntropyJump,
    FirstEvent,
    Fixed,
    LowSpeed,
    Plans,
    Repetition,
)

quick = settings(max_examples=40, deadline=None)
EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)
DEPTHS = st.sampled_from([None, (1,), (1, 2, 4, 8), (2, 3), (1, 5)])
TOLERANCE = st.sampled_from([0.0, 0.25])
LEAST = st.integers(1, 4)

#: Rules with numbers drawn, and their twins.
RULES = {
    "fixed": (st.builds(Fixed, st.integers(1, 5), depths=DEPTHS), slow.fixed),
    "product": (st.builds(Confidence, EIGHTHS, depths=DEPTHS), slow.confidence),
    "least": (st.builds(Confidence, EIGHTHS, st.just("least"), depths=DEPTHS), slow.confidence),
    "entropy": (
        st.builds(Confidence, EIGHTHS.map(lambda t: 4 * t), st.just("entropy"), depths=DEPTHS),
        slow.confidence,
    ),
    "jump": (st.builds(EntropyJump, LEAST, depths=DEPTHS), slow.entropy_jump),
    "disagreement": (
        st.builds(Disagreement, st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), LEAST, depths=DEPTHS),
        slow.disagreement,
    ),
    "agreement": (st.builds(Agreement, EIGHTHS, TOLERANCE, depths=DEPTHS), slow.agreement),
    "consecutive": (st.builds(Consecutive, TOLERANCE, LEAST, depths=DEPTHS), slow.consecutive),
    "repetition": (st.builds(Repetition, TOLERANCE, depths=DEPTHS), slow.repetition),
    "slow": (st.builds(LowSpeed, EIGHTHS, depths=DEPTHS), slow.low_speed),
    "event": (st.builds(FirstEvent, depths=DEPTHS), slow.first_event),
    "reversal": (st.builds(FirstEvent, st.just((1, 0, 2)), depths=DEPTHS), slow.first_event),
}
ON_VECTORS = ["entropy", "jump", "disagreement", "agreement", "consecutive", "repetition", "slow", "event"]


def expected(plans, rule, twin):
    return [slow.rounded(twin(row, rule), rule.depths, plans.horizon) for row in slow.rows(plans)]


def fits(plans, rule):
    """Is there a depth to choose from?"""
    least = 1 if rule.depths is None else rule.depths[0]
    return max(least, getattr(rule, "depth", 1)) <= plans.horizon


def equal_sums(plans, rule):
    """Sums of entropies, which are those of the twin."""
    exact = [slow.confidence_score(row, "entropy", h) for row in slow.rows(plans) for h in range(1, plans.horizon + 1)]
    assert rule.scores(plans).ravel().tolist() == pytest.approx(exact, abs=1e-9)
    return exact


def compare(plans, rule, twin):
    depths = rule.choose(plans)
    assert depths.dtype == np.int32
    # Not a comparison of lists: where CI is set, pytest shows all that differs, and takes minutes for a planted defect.
    np.testing.assert_array_equal(depths, expected(plans, rule, twin))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((cases.numbered, name) for name in RULES if name != "slow"),
        *((cases.continuous, name) for name in ON_VECTORS),
        *((cases.with_distributions, name) for name in ("product", "least", "disagreement")),
    ],
)
@quick
@given(data=st.data())
def test_rules_equal_their_twins(kind, name, data):
    """On numbered actions, on vectors, and where the plan's probability is taken from distributions."""
    plans, (rules, twin) = data.draw(kind()), RULES[name]
    rule = data.draw(rules.filter(partial(fits, plans)))
    if (kind, name) == (cases.continuous, "entropy"):  # logarithms: not on the threshold to the last bit
        assume(all(abs(score - rule.threshold) > 1e-9 for score in equal_sums(plans, rule)))
    compare(plans, rule, twin)


@quick
@given(plans=st.one_of(cases.with_distributions(), cases.with_samples()), threshold=EIGHTHS, least=LEAST)
def test_entropies_are_computed_where_there_are_none(plans, threshold, least):
    compare(plans, EntropyJump(least), slow.entropy_jump)
    rule = Confidence(4 * threshold + 0.01, "entropy")
    assume(all(abs(score - rule.threshold) > 1e-9 for score in equal_sums(plans, rule)))
    compare(plans, rule, slow.confidence)


@pytest.mark.parametrize(("threshold", "depth"), [(0.2, 7), (0.3, 4), (0.6, 4), (1.0, 4)])
def test_a_slow_point_is_slower_than_its_neighbours(threshold, depth):
    """Steps of 0.5 and 0.375 of the largest lead to the slowest, of 0.25, and are no ends themselves."""
    plans = Plans(np.cumsum([0.0, 4.0, 2.0, 1.5, 1.0, 2.0, 4.0])[None, :, None])
    compare(plans, LowSpeed(threshold), slow.low_speed)
    assert LowSpeed(threshold).choose(plans).tolist() == [depth]


PLANTED = {
    "fixed": Fixed(3),
    "product": Confidence(0.5),
    "least": Confidence(0.5, "least"),
    "entropy": Confidence(1.0, "entropy"),
    "jump": EntropyJump(),
    "disagreement": Disagreement(1.0, 2),
    "agreement": Agreement(0.75),
    "consecutive": Consecutive(),
    "repetition": Repetition(),
    "slow": LowSpeed(0.75),
    "event": FirstEvent(),
    "reversal": FirstEvent((1, 0, 2)),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("numbered", name) for name in RULES if name != "slow"),
        *(("continuous", name) for name in RULES if name != "reversal"),
    ],
)
def test_a_planted_defect_is_noticed(kind, name):
    plans, (_, twin), rule = cases.many(kind), RULES[name], PLANTED[name]
    compare(plans, rule, twin)
    with pytest.raises(AssertionError):
        compare(plans, rule, partial(twin, defect=True))


def test_level_entropies_do_not_rise():
    """Rounding makes means of equal entropies rise by 1e-17."""
    plans = Plans(np.zeros((1, 8), int), entropies=np.full((1, 8), 0.1))
    assert EntropyJump().choose(plans) == 8
    uneven = Plans(np.zeros((1, 8), int), entropies=np.array([[0.1, 0.3, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1]]))
    assert EntropyJump().choose(uneven) == 1, "two rises of 0.1: the first counts"
