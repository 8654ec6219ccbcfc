"""The compiled core and interpreters beside the main one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.waiting import HANG

#: Under a name of its own in each version of Python.
INTERPRETERS = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
"""


def test_a_sub_interpreter_is_refused_with_a_sentence():
    """It would wait for an interpreter lock that is never given to it: then this ends by the limit of time alone."""
    pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    inside = "try:\n    import recommit._core\nexcept ImportError as error:\n    print(error, flush=True)"
    code = f"{INTERPRETERS}\ninterpreters.run_string(interpreters.create(), {inside!r})\nimport recommit"
    words = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    assert "sub-interpreter" in done.stdout or "subinterpreter" in done.stdout
