"""A rule with a memory against its twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import horizon as slow

from recommit.horizon import Confidence, Plans, WithMemory

ALLOWED = (1, 2, 4, 8)
#: Looks at a batch: which episodes are still there, and what each of them sees.
LOOKS = st.lists(st.dictionaries(st.integers(0, 3), st.integers(0, 2), min_size=1), min_size=1, max_size=8)


def plans_of(keys, horizon=8):
    """Alike for equal keys: the product of probabilities falls below 0.5 at a place that depends on the key."""
    chances = np.array([[0.9 if place < 3 * key else 0.6 for place in range(horizon)] for key in keys])
    return Plans(np.zeros((len(keys), horizon), int), chances.reshape(-1, horizon), keys=np.array(keys, int))


def played(rule, looks):
    """The depths of each look."""
    return [rule.choose(plans_of(list(look.values())), np.array(list(look))).tolist() for look in looks]


def expected(rule, looks, defect=False):
    visits, result = {}, []
    for look in looks:
        depths = []
        for episode, key in look.items():
            chosen = int(rule.choose(plans_of([key]))[0])
            order = slow.order(chosen, rule.depths or range(1, 9))
            own = visits.setdefault(episode, {})
            depths.append(slow.with_memory(own, key, order, defect))
        result.append(depths)
    return result


@settings(max_examples=40, deadline=None)
@given(looks=LOOKS, depths=st.sampled_from([None, ALLOWED, (4,)]))
def test_it_equals_its_twin(looks, depths):
    rule = Confidence(0.5, depths=depths)
    assert played(WithMemory(rule), looks) == expected(rule, looks)


def test_a_planted_defect_is_noticed():
    looks, rule = [{0: 1}, {0: 2}, {0: 1}], Confidence(0.5, depths=ALLOWED)
    assert played(WithMemory(rule), looks) == expected(rule, looks)
    assert played(WithMemory(rule), looks) != expected(rule, looks, defect=True)
