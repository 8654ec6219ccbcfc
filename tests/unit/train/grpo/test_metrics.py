"""Log lines over several steps."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from recommit.train.grpo import loss, metrics


def test_shares_of_depths_are_averaged_over_all_steps():
    steps = [{"depths": {"1": 1.0}, "mean_depth": {"near": 1.0}}] * 9
    steps.append({"depths": {"1": 0.9, "8": 0.1}, "mean_depth": {"near": 2.0, "far": 8.0}})
    line = metrics.averaged(steps)
    assert line["depths"] == {"1": 0.99, "8": 0.01}
    assert line["mean_depth"] == {"near": 1.1, "far": 8.0}, "means over the steps that have one"


def test_a_step_without_an_update_says_nothing_of_updates():
    nothing = dict.fromkeys((*loss.MEASURES, "norm", "loss"), 0.0)
    empty = metrics.Signals(**dict.fromkeys(metrics.Signals.__dataclass_fields__, 0.0))
    empty.probs, empty.by_depth, empty.buckets = np.full(4, 0.25), np.zeros(8), np.zeros((3, 2))
    still = metrics.line_of(empty, nothing)
    moved = metrics.line_of(empty, {**nothing, "states": 2.0, "actions": 1.0, "entropy_actions": 0.5})
    assert moved.keys() - still.keys() >= {"entropy_actions", "kl_actions", "gradient_norm", "clipped"}
    assert metrics.averaged([still, moved])["entropy_actions"] == 0.5


def test_warnings_name_what_goes_wrong():
    well = {"entropy_depth": 1.0, "mutual_information": 0.3, "zero_std_fraction": 0.1, "clipped": 0.1}
    rising = [{"reward": 0.1 * (i > 9), "solve_rate": 0.5 - 0.1 * (i > 9)} for i in range(20)]
    for changes, earlier, words in [
        ({}, [], None),
        ({"entropy_depth": 0.05, "mutual_information": 0.0}, [], "the depth head says the same in every state"),
        ({"zero_std_fraction": 0.95}, [], "95 % of the groups have equal rewards"),
        ({"clipped": 0.6}, [], "60 % of the ratios are clipped"),
        ({}, rising, "the reward rises while fewer episodes are solved"),
        ({}, rising[::-1], None),
    ]:
        found = metrics.warnings({**well, **changes}, earlier, 4, head=True)
        assert [each.partition(words or "-")[1] for each in found] == ([words] if words else [])
