"""A real browser without a window; tests that need one are skipped where there is none."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess

import pytest
from tests.waiting import HANG

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
NEEDED = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


def opened(path, tmp_path, anchor=""):
    """The document after its scripts have run."""
    return run(path, tmp_path, "--dump-dom", anchor=anchor).decode()


def said(path, tmp_path, anchor=""):
    """The values that a script left in the document."""
    text = re.search(r"<body>RESULT(.*)END", opened(path, tmp_path, anchor), re.DOTALL)
    return json.loads(html.unescape(text[1]))


def with_script(made, script):
    """A page that runs another script too, which its own policy would forbid."""
    return re.sub(r"<meta http-equiv=[^>]*>", "", made).replace("<body>", f"<script>{script}</script><body>", 1)


def run(path, tmp_path, *flags, anchor=""):
    """What Chromium prints about a page: a file, or an address."""
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--window-size=1110,900"]
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    address = path if isinstance(path, str) else path.as_uri()
    return subprocess.run(
        [
            BROWSER,
            *fixed,
            f"--user-data-dir={home}",
            *flags,
            f"{address}{anchor}",
        ],
        check=True,
        capture_output=True,
        timeout=HANG,
        env=_without_libraries() | {"HOME": str(home)},
    ).stdout


def _without_libraries():
    """The browser is not what is tested: under AddressSanitizer, which row M1 loads before everything, it hangs."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
