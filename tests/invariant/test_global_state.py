"""No code of the package changes what belongs to the whole process of its user: every module is imported, every verb
and every public function is called, and backends, threads, seeds, warnings, signals and the like are compared.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.invariant import global_state
from tests.structure.conftest import model_server  # noqa: F401

for module in ("gymnasium", "matplotlib", "pyarrow", "torch", "transformers", "tyro"):
    pytest.importorskip(module)

if TYPE_CHECKING:
    from pathlib import Path


def report(folder: Path, server: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.invariant.global_state", str(folder), server]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=global_state.ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_nothing_of_the_process_is_changed(tmp_path: Path, model_server: str) -> None:  # noqa: F811
    found = report(tmp_path, model_server)
    assert found["failed"] == {}
    assert found["changed"] == {}
    assert found["uncalled"] == [], "public, and no example calls it: see global_calls.py"
    assert found["imported"] > 100


def test_a_careless_call_is_noticed(tmp_path: Path) -> None:
    found = report(tmp_path, "")
    assert set(found["changed"]) == set(global_state.planted())
