"""What the checks share. A check sees what neither pytest nor ctest can see from inside; with ``plant`` it has a defect
that it must find: one that passes then is itself broken.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: Of ``plant``: how many of what were executed.
    Check = Callable[[bool], tuple[int, str]]

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "verify"


class Finding(Exception):
    """Something is wrong; the message says what and how to see it again."""


class Impossible(Exception):
    """What a check needs cannot be had on this machine; the message says what. It neither passed nor failed."""


def expect(condition: object, finding: str) -> None:
    """Raise a finding unless the condition holds."""
    if not condition:
        raise Finding(finding)


def run(command: Sequence[object], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> str:
    """The output of a command that must succeed; ``env`` adds to the environment."""
    words = [str(word) for word in command]
    # Nothing is decoded by the rules of the caller's locale.
    done = subprocess.run(
        words, check=False, capture_output=True, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL
    )
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        tail = (output + done.stderr.decode("utf-8", "replace"))[-4000:]
        raise Finding(f"exit status {done.returncode} of: {' '.join(words)}\n{tail}")
    return output


def cpp_tests() -> Path:
    """The folder of the C++ tests, brought up to date: the build of scripts/test if there is one, else a release."""
    folder = ROOT / "build" / f"test-{sys.implementation.cache_tag}"
    if not (folder / "CTestTestfile.cmake").exists():
        run(["cmake", "--preset", "release"])
        folder = ROOT / "build" / "release"
    run(["cmake", "--build", folder])
    return folder
