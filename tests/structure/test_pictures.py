"""The pictures of the pages are what docs/figures/concepts.py draws today."""

from __future__ import annotations

import base64
import re
import runpy
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
DRAWN = runpy.run_path(str(DOCS / "figures" / "concepts.py"))


def plain(svg: str) -> str:
    """With pixels instead of PNG files, whose bytes depend on the version of zlib."""

    def pixels(match: re.Match[str]) -> str:
        file = base64.b64decode(match[1])
        start = file.index(b"IDAT")
        size = int.from_bytes(file[start - 4 : start], "big")
        return zlib.decompress(file[start + 4 : start + 4 + size]).hex()

    return re.sub(r"data:image/png;base64,([\w+/=]+)", pixels, svg)


@pytest.mark.parametrize("draw", ["clocks", "distances", "prefixes"])
def test_a_picture_is_up_to_date(draw):
    name, content = DRAWN[draw]()
    assert plain((DOCS / "assets" / name).read_text(encoding="utf-8")) == plain(content)
    assert ET.fromstring(content).get("aria-label")
    assert name in (DOCS / "concepts.md").read_text(encoding="utf-8")


def test_another_board_is_noticed():
    _, content = DRAWN["distances"]()
    other = content.replace("data:image/png;base64,", "", 1)
    assert plain(content) != plain(other)
