"""The committed stubs describe the compiled module, and the check of that notices a lie."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests import stubs

ALLOWED = Path(__file__).parent / "stubtest_allowlist.txt"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pybind11_stubgen") is None, reason="pybind11-stubgen is not installed"
)


def stubtest() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy.stubtest", "recommit._core"]
    command += ["--allowlist", str(ALLOWED), "--mypy-config-file", str(stubs.ROOT / "pyproject.toml")]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=stubs.ROOT)


def test_stubs_are_what_the_module_says() -> None:
    assert stubs.differences() == []


def test_stubtest_agrees() -> None:
    pytest.importorskip("mypy")
    result = stubtest()
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("lie", ["an argument that is not there", "a part that is not there"])
def test_a_lie_is_noticed(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = stubs.generate()
    lying = dict(true)
    if lie.startswith("an argument"):
        lying["sliding.pyi"] = true["sliding.pyi"].replace("threads", "workers")
    else:
        del lying["sliding.pyi"]
    monkeypatch.setattr(stubs, "generate", lambda: lying)
    assert [line.split(":")[0] for line in stubs.differences()] == ["sliding.pyi"]
