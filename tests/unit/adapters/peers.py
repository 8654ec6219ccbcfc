"""Environments with the real packages that adapters meet."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import recommit

ROOT = Path(__file__).resolve().parents[3]
#: Where scripts/verify makes one environment per package.
ENVIRONMENTS = Path(os.environ.get("RECOMMIT_ADAPTERS", ROOT / "build" / "verify" / "adapters"))
#: What those environments see of this one.
PATH = os.pathsep.join([str(Path(recommit.__file__).parents[1]), str(ROOT)])


def interpreter(name):
    """The Python of the environment that has the real package; the test is skipped where there is none."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs {name} in {python.parents[1]}: scripts/verify nightly makes it")
    return str(python)


def environment(name):
    """Its variables: this package and the tests are seen, and its own tools."""
    tools = os.pathsep.join([str(ENVIRONMENTS / name / "bin"), os.environ["PATH"]])
    # One thread: the models are tiny, and on a busy machine threads wait for each other.
    return {**os.environ, "PYTHONPATH": PATH, "PATH": tools, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def run(name, *words):
    """What ``with_NAME.py`` prints as its last line, run by that interpreter."""
    script = Path(__file__).with_name(f"with_{name}.py")
    done = subprocess.run(
        [interpreter(name), str(script), *words], check=False, capture_output=True, text=True, env=environment(name)
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
