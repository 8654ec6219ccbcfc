"""The page of a recording in a real browser; skipped where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.report import browser
from tests.unit.watch.scripted import ScriptedMatch

from recommit.watch.recorded import page, record

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = browser.NEEDED

SCRIPT = """
const out = { alerts: 0, errors: [] };
window.alert = () => { out.alerts += 1; };
addEventListener("error", (event) => out.errors.push(event.message));
const texts = (what) => [...document.querySelectorAll(`.pane ${what}`)].map((each) => each.textContent);
const press = (...keys) => keys.forEach((key) => {
  document.getElementById("viewer").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
});
addEventListener("load", () => {
  out.first = texts(".said"); out.chances = texts(".chances");
  out.plans = texts(".plan .kept"); out.rest = texts(".plan .rest");
  press("j", "ArrowRight"); out.second = texts(".said");
  document.body.textContent = "RESULT" + JSON.stringify(out) + "END";
});
"""


def test_a_hostile_recording_is_watched(tmp_path: Path) -> None:
    match = ScriptedMatch()
    made = page(record(match, [match.level(0), match.level(1)]))
    assert "script-src 'sha256-" in made
    assert "connect-src" not in made
    file = tmp_path / "match.html"
    file.write_text(browser.with_script(made, SCRIPT), encoding="utf-8")
    out = browser.said(file, tmp_path)
    assert (out["errors"], out["alerts"]) == ([], 0)
    own, fixed = out["first"]
    assert own.startswith("Observation 1: h = 1, distance 2 → 1. 0 actions so far.")
    assert own.endswith("Regret: 0.020 lost, best was h = 2 (too shallow).")
    assert fixed == "Observation 1: h = 4, distance 2 → 0. 0 actions so far.Regret: none."
    assert (out["plans"], out["rest"]) == (["→", "→→→→"], ["→→→→→→→", "→→→→"])
    assert out["chances"] == ["h = 180 %h = 2 ✓20 %h = 40 %h = 80 %", "Always h = 4."]
    assert out["second"][0].startswith("Observation 2: h = 1, distance 1 → 0.")
