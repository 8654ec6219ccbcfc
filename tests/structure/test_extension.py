"""What the built extension is, beside what it does: hardened, silent about the machine, and described by its stubs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests import stubs
from tests.verify import package
from tests.verify.harness import Finding

ALLOWED = Path(__file__).parent / "stubtest_allowlist.txt"
needs_elf = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("nm", "readelf", "cc"))),
    reason="expected an ELF file, nm and readelf of binutils to read it, and a C compiler",
)


@needs_elf
def test_it_is_hardened_and_a_careless_library_is_noticed() -> None:
    properties, _ = package.symbols(plant=False)
    assert properties == 10
    with pytest.raises(Finding, match="exported symbols"):
        package.symbols(plant=True)


def test_stubs_are_what_the_module_says_and_a_lie_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pybind11_stubgen")
    true = stubs.generate()
    lies: list[dict[str, str]] = [
        {**true, "sliding.pyi": true["sliding.pyi"].replace("threads", "workers")},
        {name: text for name, text in true.items() if name != "sliding.pyi"},
    ]
    for generated, stale in [(true, []), *((lie, ["sliding.pyi"]) for lie in lies)]:
        monkeypatch.setattr(stubs, "generate", lambda generated=generated: generated)
        assert [line.split(":")[0] for line in stubs.differences()] == stale


@pytest.mark.nightly
def test_stubtest_agrees() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "recommit._core"]
    command += ["--allowlist", str(ALLOWED), "--mypy-config-file", str(stubs.ROOT / "pyproject.toml")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=stubs.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
