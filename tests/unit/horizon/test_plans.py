"""Plans are checked once, hold what they are handed, and know what is left of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.horizon import cases

from recommit.horizon import Confidence, Plans, Tail
from recommit.horizon.plans import joined

ACTIONS = np.array([[0, 1, 2], [3, 2, 1]])
VECTORS = np.zeros((2, 3, 4))
HALF = np.full((2, 3), 0.5)


WRONG = [
    ({"actions": [["up"]]}, TypeError, "actions: expected integers or floats, got <U2"),
    ({"actions": [[0.5, 1.0]]}, ValueError, r"actions: expected shape \[N, H, D\], got \[1, 2\]"),
    ({"actions": np.zeros((2, 0), int)}, ValueError, "actions: expected at least 1 action per plan, got 0"),
    ({"actions": VECTORS * np.nan}, ValueError, r"actions: expected finite numbers, got nan at \[0, 0, 0\]"),
    ({"actions": np.ma.array(ACTIONS)}, TypeError, "actions: expected an array without a mask, got MaskedArray"),
    ({"probabilities": HALF[:1]}, ValueError, r"probabilities: expected shape \[2, 3\] or \[2, 3, A\], got \[1, 3\]"),
    ({"probabilities": HALF * 3}, ValueError, r"probabilities: expected numbers in 0..1, got 1.5 at \[0, 0\]"),
    ({"probabilities": HALF * np.nan}, ValueError, r"probabilities: .* in 0..1, got nan at \[0, 0\]"),
    ({"probabilities": np.full((2, 3, 4), 0.2)}, ValueError, r"sums of 1 over the last axis, got 0.8\d* at \[0, 0\]"),
    ({"probabilities": np.full((2, 3, 2), 0.5)}, ValueError, r"has 2 columns\) in 0..1, got 2 at \[0, 2\]"),
    ({"samples": np.zeros((2, 3), int)}, ValueError, r"samples: expected shape \[2, S, 3\], got \[2, 3\]"),
    ({"samples": np.zeros((2, 0, 3), int)}, ValueError, "samples: expected at least 1 per plan, got 0"),
    ({"samples": np.zeros((2, 5, 3))}, TypeError, "samples: expected integers, got float64"),
    ({"previous": ACTIONS}, TypeError, r"previous: expected a Tail, as plans.tail\(depths\) makes one, got ndarray"),
    ({"previous": Tail(ACTIONS[:1], np.array([1]))}, ValueError, r"previous.actions: expected shape \[2, T\]"),
    ({"features": np.zeros((3, 2))}, ValueError, r"features: expected shape \[2, ...\], got \[3, 2\]"),
    ({"entropies": HALF * np.inf}, ValueError, r"entropies: expected finite numbers, got inf at \[0, 0\]"),
    ({"events": np.zeros((2, 3), int)}, TypeError, "events: expected booleans, got int64"),
    ({"keys": np.zeros(2)}, TypeError, "keys: expected integers, got float64"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG)
def test_what_is_wrong_is_named_with_both_values(arguments, error, message):
    with pytest.raises(error, match=message):
        Plans(**{"actions": ACTIONS, **arguments})


def test_a_tail_is_checked_too():
    with pytest.raises(ValueError, match=r"remaining: expected counts in 0..3, got 4 at \[1\]"):
        Tail(ACTIONS, np.array([1, 4]))
    with pytest.raises(ValueError, match=r"depths: expected counts in 0..3, got 4 at \[1\]"):
        Plans(ACTIONS).tail(np.array([1, 4]))


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
    with pytest.raises(ValueError, match="parts: expected probabilities in all 2 batches or in none, got 1"):
        joined([parts[0], Plans(parts[1].actions, keys=parts[1].keys)])


def test_rules_need_numpy_only():
    code = (
        "import sys; before = set(sys.modules); import recommit.horizon; "
        "foreign = {name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names); "
        "print(sorted(name for name in foreign if not name.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "['numpy', 'recommit']"
