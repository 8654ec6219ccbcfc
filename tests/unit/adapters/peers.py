"""The packages that adapters meet: stand-ins with their abstract signatures, and environments with the real ones."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import recommit

ROOT = Path(__file__).resolve().parents[3]
#: Where scripts/verify makes one environment per package.
ENVIRONMENTS = Path(os.environ.get("RECOMMIT_ADAPTERS", ROOT / "build" / "verify" / "adapters"))


def run(name, *words):
    """What ``with_NAME.py`` prints as its last line, run by the environment that has the real package."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs {name} in {python.parents[1]}: scripts/verify nightly makes it")
    path = [str(Path(recommit.__file__).parents[1]), str(ROOT)]
    tools = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PATH": tools, "HF_HUB_OFFLINE": "1"}
    script = Path(__file__).with_name(f"with_{name}.py")
    done = subprocess.run(
        [str(python), str(script), *words], check=False, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


class Model:
    """Stands in for a pydantic model: fields with defaults, by keyword."""

    def __init__(self, **fields):
        for name in fields:
            assert any(name in getattr(kind, "__annotations__", {}) for kind in type(self).__mro__), name
        self.__dict__.update(fields)

    def model_copy(self, update):
        other = type(self)()
        other.__dict__.update(self.__dict__ | update)
        return other


def module(monkeypatch, name, **content):
    """Put a module in the place of a package's."""
    stand_in = types.ModuleType(name)
    stand_in.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, stand_in)
    return stand_in


def adapter(monkeypatch, name):
    """The adapter, imported among stand-ins, and forgotten after the test."""
    full = f"recommit.adapters.{name}"
    monkeypatch.delitem(sys.modules, full, raising=False)
    result = importlib.import_module(full)
    monkeypatch.setitem(sys.modules, full, result)
    return result
