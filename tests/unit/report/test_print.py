"""The printed page, in a real browser: colours that are backgrounds stay, and no figure or row is cut by a page's end.

Rules for printing are made rules for every medium, so that a browser can be asked what they come to.
"""

from __future__ import annotations

import html
import json
import re

import pytest
from tests.unit.report import browser

from recommit.report import page
from recommit.report.reading import Folder

pytestmark = browser.NEEDED

MEASURE = """
addEventListener("load", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  const rules = (query, name) =>
    [...new Set([...document.querySelectorAll(query)].map((one) => getComputedStyle(one)[name]))];
  const out = {
    colours: rules(".swatch, .strip *", "printColorAdjust"),
    figures: rules("figure", "breakInside"), rows: rules("tr", "breakInside"),
    links: rules("nav, .controls", "display"),
  };
  document.body.textContent = "RESULT" + JSON.stringify(out) + "END";
});
"""
PRINTED = {"colours": ["exact"], "figures": ["avoid"], "rows": ["avoid"], "links": ["none"]}


def printed(text, tmp_path):
    """What the rules come to on paper."""
    text = re.sub(r"<meta http-equiv=[^>]*>", "", text).replace("@media print", "@media all")
    path = tmp_path / "page.html"
    path.write_text(text.replace("<body>", f"<script>{MEASURE}</script><body>", 1), encoding="utf-8")
    seen = re.search(r"<body>RESULT(.*)END</body>", browser.opened(path, tmp_path), re.DOTALL)
    return json.loads(html.unescape(seen[1]))


@pytest.fixture(scope="module")
def sliding(evaluations):
    return page.make(Folder(evaluations["sliding"])).html


def test_colours_stay_and_nothing_is_cut(sliding, tmp_path):
    assert printed(sliding, tmp_path) == PRINTED


@pytest.mark.parametrize(
    ("rule", "other", "name"),
    [
        ("print-color-adjust: exact", "print-color-adjust: economy", "colours"),
        ("figure, tr, .viewer", ".viewer", "figures"),
    ],
)
def test_a_broken_rule_is_noticed(sliding, tmp_path, rule, other, name):
    assert rule in sliding
    assert printed(sliding.replace(rule, other), tmp_path)[name] != PRINTED[name]
