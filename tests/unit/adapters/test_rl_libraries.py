"""Stable-Baselines3 and torchrl, each in an environment of its own."""

from __future__ import annotations

import pytest
from tests.unit.adapters import foreign


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "script", "says"),
    [
        ("sb3", "sb3_ppo.py", "stable-baselines3 2.9.2: "),
        ("torchrl", "torchrl_rollout.py", "torchrl 0.14.1 rolled out 8 decisions"),
    ],
)
def test_it_takes_our_environments(name, script, says, tmp_path):
    assert says in foreign.run(name, script, tmp_path)
