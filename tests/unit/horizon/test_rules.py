"""Every rule against its slow twin, on plans of every kind; each twin with its planted defect is told apart."""

from __future__ import annotations

from dataclasses import dataclass
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
    Plans,
    Repetition,
    Rule,
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
    "event": (st.builds(FirstEvent, depths=DEPTHS), slow.first_event),
    "reversal": (st.builds(FirstEvent, st.just((1, 0, 2)), depths=DEPTHS), slow.first_event),
}
ON_VECTORS = ["entropy", "jump", "disagreement", "agreement", "consecutive", "repetition", "event"]


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


@pytest.mark.parametrize("name", RULES)
@quick
@given(plans=cases.numbered(), data=st.data())
def test_rules_equal_their_twins(name, plans, data):
    rules, twin = RULES[name]
    compare(plans, data.draw(rules.filter(partial(fits, plans))), twin)


@pytest.mark.parametrize("name", ON_VECTORS)
@quick
@given(plans=cases.continuous(), data=st.data())
def test_rules_on_vectors_equal_their_twins(name, plans, data):
    rules, twin = RULES[name]
    rule = data.draw(rules.filter(partial(fits, plans)))
    if name == "entropy":  # logarithms: not on the threshold to the last bit
        assume(all(abs(score - rule.threshold) > 1e-9 for score in equal_sums(plans, rule)))
    compare(plans, rule, twin)


@pytest.mark.parametrize("name", ["product", "least", "disagreement"])
@quick
@given(plans=cases.with_distributions(), data=st.data())
def test_the_probability_of_the_plan_is_taken_from_distributions(name, plans, data):
    rules, twin = RULES[name]
    compare(plans, data.draw(rules.filter(partial(fits, plans))), twin)


@quick
@given(plans=st.one_of(cases.with_distributions(), cases.with_samples()), threshold=EIGHTHS, least=LEAST)
def test_entropies_are_computed_where_there_are_none(plans, threshold, least):
    compare(plans, EntropyJump(least), slow.entropy_jump)
    rule = Confidence(4 * threshold + 0.01, "entropy")
    assume(all(abs(score - rule.threshold) > 1e-9 for score in equal_sums(plans, rule)))
    compare(plans, rule, slow.confidence)


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
    "event": FirstEvent(),
    "reversal": FirstEvent((1, 0, 2)),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("numbered", name) for name in RULES), *(("continuous", name) for name in RULES if name != "reversal")],
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


NEEDS = [
    (Confidence(0.5), r"Confidence\(kind='product'\) needs Plans.probabilities \[N, H\].* because"),
    (Confidence(0.5, "least"), r"Confidence\(kind='least'\) needs Plans.probabilities \[N, H\].* because"),
    (Confidence(0.5, "entropy"), r"Confidence\(kind='entropy'\) needs Plans.entropies \[N, H\].* because"),
    (EntropyJump(), r"EntropyJump needs Plans.entropies \[N, H\].* because"),
    (Disagreement(), r"Disagreement needs Plans.samples, or probabilities \[N, H\], because"),
    (Agreement(0.5), r"Agreement needs Plans.samples \[N, S, H\], because"),
    (Consecutive(), r"Consecutive needs Plans.previous, .* because"),
    (FirstEvent(), r"FirstEvent needs Plans.events \[N, H\], .* because"),
]


@pytest.mark.parametrize(("rule", "sentence"), NEEDS, ids=lambda value: type(value).__name__)
def test_a_rule_says_what_it_lacks_and_why(rule, sentence):
    with pytest.raises(ValueError, match=sentence):
        rule.choose(Plans(np.zeros((2, 3), int)))


def test_one_probability_is_no_entropy():
    plans = Plans(np.zeros((2, 3), int), np.full((2, 3), 0.5))
    with pytest.raises(ValueError, match="because the probability of one action does not say how the others share"):
        EntropyJump().choose(plans)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda: Fixed(0), "depth: expected at least 1, got 0"),
        (lambda: Fixed(9).choose(Plans(np.zeros((1, 8), int))), "depth: expected 1..8, the actions of a plan, got 9"),
        (lambda: Fixed(1, depths=(2, 1)), r"depths: expected at least one, ascending, got \(2, 1\)"),
        (
            lambda: Repetition(depths=(4, 8)).choose(Plans(np.zeros((1, 3), int))),
            r"depths: expected one of 1..3, the actions of a plan, got \(4, 8\)",
        ),
        (lambda: Confidence(float("nan")), "threshold: expected a number, got nan"),
        (lambda: Confidence(0.5, "most"), "kind: expected product, least or entropy, got most"),
        (lambda: EntropyJump(0), "least: expected at least 1, got 0"),
        (lambda: Agreement(0.5, -1.0), "tolerance: expected a number of at least 0, got -1.0"),
        (
            lambda: FirstEvent((1, 0)).choose(Plans(np.array([[0, 2]]))),
            r"actions: expected actions \(2 have an opposite\) in 0..1, got 2 at \[0, 1\]",
        ),
        (
            lambda: FirstEvent((1, 0)).choose(Plans(np.zeros((1, 2, 3)))),
            "FirstEvent: `opposite` needs Plans.actions to be integers",
        ),
    ],
)
def test_numbers_that_make_no_sense_are_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        rule()


@dataclass(frozen=True)
class Own(Rule):
    """Somebody's own rule, wrong in some way."""

    proposal: object = None

    def propose(self, _plans):
        return self.proposal


@pytest.mark.parametrize(
    ("proposal", "error", "message"),
    [
        ([1, 0], ValueError, r"propose: expected depths in 1..3, got 0 at \[1\]"),
        ([4, 1], ValueError, r"propose: expected depths in 1..3, got 4 at \[0\]"),
        ([1], ValueError, r"propose: expected shape \[2\], got \[1\]"),
        ([1.0, 2.0], TypeError, "propose: expected integers, got float64"),
    ],
)
def test_what_a_rule_of_ones_own_proposes_is_checked(proposal, error, message):
    with pytest.raises(error, match=message):
        Own(proposal).choose(Plans(np.zeros((2, 3), int)))
    assert Own([3, 1], depths=(1, 2)).choose(Plans(np.zeros((2, 3), int))).tolist() == [2, 1]
