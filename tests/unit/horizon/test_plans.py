"""Plans are checked once, hold what they are handed, and know what is left of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.horizon import cases

from recommit.horizon import Plans


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


def test_rules_need_numpy_only():
    code = (
        "import sys; before = set(sys.modules); import recommit.horizon; "
        "foreign = {name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names); "
        "print(sorted(name for name in foreign if not name.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "['numpy', 'recommit']"
