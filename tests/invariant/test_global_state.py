"""No import changes what belongs to the whole process of its user: backends, threads, seeds, warnings, signals and the
like. Commands and Python blocks of the pages are watched where they run: tests/structure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.invariant import global_state

for module in ("gymnasium", "matplotlib", "pyarrow", "torch", "transformers", "tyro"):
    pytest.importorskip(module)

if TYPE_CHECKING:
    from pathlib import Path


def test_imports_change_nothing_and_a_careless_call_is_noticed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.invariant.global_state", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=global_state.ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    changed = json.loads(done.stdout.splitlines()[-1])
    assert set(changed) == set(global_state.planted()), changed
