"""The page at three widths, in a real browser: what the first screen shows, and nothing is wider than the window."""

from __future__ import annotations

import json

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
  const pen = document.createElement("canvas").getContext("2d");
  const wide = (one, word) => { pen.font = getComputedStyle(one).font; return pen.measureText(word).width; };
  const over = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const out = { width: innerWidth, height: innerHeight, over: over() };
  out.first = FIRST.map((query) => all(query).map(bottom));
  for (const folded of all("details")) folded.open = true;
  out.unfolded = over();
  const cells = all(".agents :is(td, th)");
  out.cells = cells.length;
  out.spilled = cells.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent);
  const broken = (one) => one.textContent.split(" ").some((word) => wide(one, word) > one.clientWidth);
  out.broken = all(".agents thead th").filter(broken).map((one) => one.textContent);
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
    (tmp_path / "page.html").write_text(browser.with_script(made, script), encoding="utf-8")
    frames = tmp_path / "frames.html"
    frames.write_text(FRAMES.replace("WIDTHS", json.dumps(list(WINDOWS.items()))), encoding="utf-8")
    return {one["width"]: one for one in browser.said(frames, tmp_path)}


def test_the_first_screen_and_every_width(evaluations, tmp_path):
    made = page.make(Folder(with_gains(evaluations["sokoban"], tmp_path))).html
    seen = measured(made, tmp_path)
    assert sorted(seen) == sorted(WINDOWS)
    for width, one in seen.items():
        assert (one["over"], one["unfolded"]) == (0, 0), f"nothing is wider than {width}"
        assert (one["spilled"], one["broken"]) == ([], []), "no cell runs into the next one, no word of a head breaks"
        assert one["cells"] > 100
        assert all(bottoms for bottoms in one["first"]), "everything is there"
        if width >= 1110:
            assert max(max(bottoms) for bottoms in one["first"]) <= one["height"]
    assert max(seen[390]["first"][0] + seen[390]["first"][1]) <= 844, "a phone shows the verdict and the figure"
    styles = (
        "main { min-width: 2000px } .agents table { table-layout: fixed } .agents td { white-space: nowrap }</style>"
    )
    broken = measured(made.replace("</style>", styles, 1), tmp_path)
    assert broken[1110]["over"] > 0, "a planted defect"
    assert broken[390]["spilled"] or broken[390]["broken"], "another"
