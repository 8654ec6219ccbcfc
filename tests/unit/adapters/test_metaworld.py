"""Meta-World goes back bit for bit; nightly, in an environment that has it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.unit.adapters import peers

TASKS = (
    *("push-v3", "pick-place-v3", "peg-insert-side-v3", "assembly-v3", "basketball-v3", "hammer-v3", "soccer-v3"),
    *("shelf-place-v3", "stick-pull-v3", "stick-push-v3", "bin-picking-v3"),
)


@pytest.mark.nightly
def test_tasks_go_back_bit_for_bit():
    result = peers.run("metaworld", *TASKS)
    assert {task: said for task, said in result.items() if not said.startswith("equal")} == {}
    assert sum(said == "equal, solved" for said in result.values()) >= 8


@pytest.mark.nightly
@pytest.mark.parametrize("attribute", ["_prev_obs", "_target_pos"])
def test_an_attribute_that_a_snapshot_leaves_out_is_caught(attribute):
    assert not peers.run("metaworld", f"push-v3={attribute}")[f"push-v3={attribute}"].startswith("equal")


def test_without_meta_world_it_says_what_to_install():
    code = "import sys; sys.modules['metaworld'] = None; import recommit.adapters.metaworld"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "pip install '.[metaworld]'" in done.stderr
