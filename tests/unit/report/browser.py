"""A real browser without a window; tests that need one are skipped where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests.waiting import HANG

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
NEEDED = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


def opened(path, tmp_path, anchor=""):
    """The document after its scripts have run."""
    return run(path, tmp_path, "--dump-dom", anchor=anchor).decode()


def run(path, tmp_path, *flags, anchor=""):
    """What Chromium prints about a page."""
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--window-size=1110,900"]
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [BROWSER, *fixed, f"--user-data-dir={home}", *flags, f"{path.as_uri()}{anchor}"],
        check=True,
        capture_output=True,
        timeout=HANG,
        env=_without_libraries() | {"HOME": str(home)},
    ).stdout


def _without_libraries():
    """The browser is not what is tested: under AddressSanitizer, which row M1 loads before everything, it hangs."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
