"""Plans are checked once, hold what they are handed, and know what is left of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.horizon import cases

from recommit.horizon import Confidence, Plans
from recommit.horizon.plans import joined


def test_distributions_of_half_precision_add_up():
    logits = np.random.default_rng(0).normal(size=(50, 8, 11))
    exact = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    assert len(Plans(np.zeros((50, 8), int), exact.astype(np.float16))) == 50


@settings(max_examples=40, deadline=None)
@given(plans=st.one_of(cases.numbered(), cases.continuous()), data=st.data())
def test_a_tail_begins_behind_what_was_executed(plans, data):
    count = st.integers(0, plans.horizon)
    depths = np.array(data.draw(st.lists(count, min_size=len(plans), max_size=len(plans))), int)
    tail = plans.tail(depths)
    for i, depth in enumerate(depths):
        assert tail.remaining[i] == plans.horizon - depth
        assert (tail.actions[i, : tail.remaining[i]] == plans.actions[i, depth:]).all()
    again = Plans(plans.actions, previous=tail)
    assert again.previous is tail


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint64])
def test_actions_and_depths_of_any_width(kind):
    plans = Plans(np.zeros((1, 300), kind), np.full((1, 300, 2), 0.5))
    assert plans.tail(np.array([100], kind)).remaining.tolist() == [200]
    assert Confidence(0.1, "least").choose(plans).tolist() == [300]


def test_batches_of_plans_are_joined():
    parts = [Plans(np.full((n, 3), n), np.full((n, 3), 0.5), keys=np.arange(n)) for n in (1, 2)]
    whole = joined(parts)
    assert whole.actions[:, 0].tolist() == [1, 2, 2]
    assert whole.keys.tolist() == [0, 0, 1]
    assert whole.samples is None


def test_rules_need_numpy_only():
    code = (
        "import sys; before = set(sys.modules); import recommit.horizon; "
        "foreign = {name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names); "
        "print(sorted(name for name in foreign if not name.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "['numpy', 'recommit']"
