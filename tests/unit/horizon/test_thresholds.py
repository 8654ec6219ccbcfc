"""Scores are computed once and serve every threshold; thresholds cut them into equal parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import horizon as slow
from tests.unit.horizon import cases

from recommit.horizon import Agreement, Confidence, Disagreement

RULES = [Confidence(0.5), Confidence(0.5, "least"), Confidence(0.5, "entropy"), Disagreement(1.0, 2), Agreement(0.5)]
#: Lower is better: a higher threshold never gives a smaller depth.
LOOSER_UPWARDS = {True: [RULES[2], RULES[3]], False: [RULES[0], RULES[1], RULES[4]]}
quick = settings(max_examples=30, deadline=None)


@pytest.mark.parametrize("rule", RULES, ids=str)
@quick
@given(plans=cases.numbered(), wanted=st.lists(st.integers(-1, 17).map(lambda i: i / 8), max_size=4))
def test_a_sweep_is_one_rule_after_the_other(rule, plans, wanted):
    for depths in (None, (1, 2, 4)):
        rule = replace(rule, depths=depths)
        swept = rule.sweep(plans, wanted)
        assert swept.dtype == np.int32
        assert swept.shape == (len(wanted), len(plans))
        for row, threshold in zip(swept, wanted, strict=True):
            assert row.tolist() == replace(rule, threshold=threshold).choose(plans).tolist()


@quick
@given(plans=cases.numbered(), pair=st.tuples(st.integers(0, 16), st.integers(0, 16)))
def test_a_stricter_threshold_is_never_deeper(plans, pair):
    low, high = sorted(pair)
    for upwards, rules in LOOSER_UPWARDS.items():
        for rule in rules:
            one, other = rule.sweep(plans, [low / 8, high / 8])
            assert ((one <= other) if upwards else (one >= other)).all(), rule


@pytest.mark.parametrize("count", [1, 2, 7, 50])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_thresholds_are_quantiles_of_the_scores(rule, count):
    plans = cases.many("numbered", 37)
    for depths, columns in ((None, [1, 2, 3, 4]), ((1, 3, 4, 8), [2, 3]), ((2,), [1])):
        scores = [row[c] for row in rule.scores(plans).tolist() for c in columns if np.isfinite(row[c])]
        if scores:
            values = replace(rule, depths=depths).thresholds(plans, count)
            assert values.tolist() == slow.thresholds(scores, count)
