"""The page at three widths, in a real browser: what the first screen shows, and nothing is wider than the window."""

from __future__ import annotations

import html
import json
import re

import pytest
from tests.unit.report import browser
from tests.unit.report.conftest import with_gains

from recommit.report import page
from recommit.report.reading import Folder

pytestmark = browser.NEEDED

#: Windows: of a phone, of a small laptop, of a large screen.
WINDOWS = {390: 844, 1110: 900, 1920: 1080}
#: What has to be seen without scrolling where there is room for it.
FIRST = ("#result h2", "#result .worth strong", "#result .front img", "#viewer .board", "#play", "#viewer .strip")
MEASURE = """
addEventListener("load", () => {
  const all = (query) => [...document.querySelectorAll(query)];
  const bottom = (one) => Math.round(one.getBoundingClientRect().bottom);
  const over = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const out = { width: innerWidth, height: innerHeight, over: over() };
  out.first = FIRST.map((query) => all(query).map(bottom));
  out.lines = new Set(all("nav a").map((link) => Math.round(link.getBoundingClientRect().top))).size;
  for (const folded of all("details")) folded.open = true;
  out.unfolded = over();
  const box_of = (one) => one.getBoundingClientRect();
  const shown = all(".agents td small").filter((one) => one.getClientRects().length);
  const lines_of = (one) => box_of(one).height / parseFloat(getComputedStyle(one).fontSize);
  out.intervals = Math.max(...shown.map(lines_of));
  out.tables = all(".agents .wide").map((box) => box.scrollWidth - box.clientWidth);
  all(".show-all").forEach((box) => box.click());
  all(".agents .wide").forEach((box) => { box.scrollLeft = 300; });
  const box = document.querySelector(".agents .wide").getBoundingClientRect();
  out.sticky = Math.round(document.querySelector(".agents tbody th").getBoundingClientRect().left - box.left);
  out.every = over();
  out.used = Math.max(...all("main > section > *").map((one) => one.getBoundingClientRect().right)) / innerWidth;
  parent.postMessage(JSON.stringify(out), "*");
});
"""
#: Chromium's own window is never as narrow as a phone, so pages stand in frames.
FRAMES = """<!doctype html><body><script>
const seen = [];
addEventListener("message", (event) => {
  seen.push(JSON.parse(event.data));
  if (seen.length === WIDTHS.length) document.body.textContent = "RESULT" + JSON.stringify(seen) + "END";
});
for (const [width, height] of WIDTHS) {
  const frame = document.createElement("iframe");
  Object.assign(frame, { src: "page.html", width, height, style: "border: 0" });
  document.body.append(frame);
}
</script>"""


def measured(made, tmp_path):
    """By width, of a page in windows of its own."""
    script = MEASURE.replace("FIRST", json.dumps(FIRST))
    text = re.sub(r"<meta http-equiv=[^>]*>", "", made).replace("<body>", f"<script>{script}</script><body>", 1)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    frames = tmp_path / "frames.html"
    frames.write_text(FRAMES.replace("WIDTHS", json.dumps(list(WINDOWS.items()))), encoding="utf-8")
    said = re.search(r"<body>RESULT(.*)END", browser.opened(frames, tmp_path), re.DOTALL)
    return {one["width"]: one for one in json.loads(html.unescape(said[1]))}


@pytest.fixture(scope="module")
def made(evaluations, tmp_path_factory):
    return {
        task: page.make(Folder(with_gains(folder, tmp_path_factory.mktemp("gains")))).html
        for task, folder in evaluations.items()
    }


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_the_first_screen_and_every_width(made, task, tmp_path):
    seen = measured(made[task], tmp_path)
    assert sorted(seen) == sorted(WINDOWS)
    for width, one in seen.items():
        assert (one["over"], one["unfolded"], one["every"]) == (0, 0, 0), f"nothing is wider than {width}"
        assert one["lines"] == 1, "navigation is one line"
        assert one["sticky"] <= 4, "the first column stays"
        assert one["intervals"] < 2, "an interval is on one line"
        assert max(one["tables"]) <= 0, "tables fit, before all columns are asked for"
        assert all(bottoms for bottoms in one["first"]), "everything is there"
        if width >= 1110:
            assert max(max(bottoms) for bottoms in one["first"]) <= one["height"]
            assert one["used"] > 0.8, "the right third is used"
    assert max(seen[390]["first"][0] + seen[390]["first"][1]) <= 844, "a phone shows the verdict and the figure"


@pytest.mark.parametrize(
    ("style", "noticed"),
    [
        ("main { min-width: 2000px }", lambda one: one["over"] > 0),
        (".front { margin-top: 500px }", lambda one: max(one["first"][2]) > one["height"]),
        (".agents td { min-width: 900px; display: inline-block }", lambda one: max(one["tables"]) > 0),
    ],
)
def test_a_broken_layout_is_noticed(made, tmp_path, style, noticed):
    seen = measured(made["sliding"].replace("</style>", f"{style}</style>", 1), tmp_path)
    assert all(noticed(seen[width]) for width in (390, 1110))
