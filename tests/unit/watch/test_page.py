"""The page of a match in a real browser, with its server and without; skipped where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.unit.report import browser
from tests.unit.watch.scripted import LEVEL, ScriptedMatch

from recommit.watch import page
from recommit.watch.recorded import record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recommit.watch.server import MatchServer

pytestmark = browser.NEEDED

#: What every driver begins with: the page's errors, its parts, and a wait for what the server says.
BEGIN = """
const out = { alerts: 0, errors: [] }, by = (id) => document.getElementById(id);
window.alert = () => { out.alerts += 1; };
addEventListener("error", (event) => out.errors.push(event.message));
addEventListener("unhandledrejection", (event) => out.errors.push(String(event.reason)));
const until = async (look) => { while (!look()) await new Promise((done) => setTimeout(done, 5)); };
const typed = (key) => new KeyboardEvent("keydown", { key, bubbles: true });
const press = (...keys) => keys.forEach((key) => by("viewer").dispatchEvent(typed(key)));
const panes = (what) => [...document.querySelectorAll(`.pane ${what}`)].map((each) => each.textContent);
const strip = (p) => [...document.querySelectorAll(".pane")[p].querySelectorAll(".strip button")];
const blocks = (p) => strip(p).map((each) => each.getAttribute("aria-label"));
const said = (words) => panes(".said")[0].includes(words), wrong = () => !by("said").hidden && idle();
const shows = (title) => by("title").textContent.startsWith(title) && idle() && blocks(0).length === 2;
const idle = () => by("viewer").getAttribute("aria-busy") === "false";
const end = () => { document.body.textContent = "RESULT" + JSON.stringify(out) + "END"; };
"""

LIVE = """
addEventListener("load", async () => {
  await until(() => idle() && blocks(1).length);
  out.title = by("title").textContent;
  out.first = panes(".said"); out.chances = panes(".chances");
  out.plans = panes(".plan .kept"); out.rest = panes(".plan .rest");
  press("2"); await until(() => blocks(1)[0].includes("h = 2")); out.fixed = panes(".said")[1];
  press("s"); out.second = panes(".said")[0]; press("b");
  press("ArrowDown"); await until(() => said("Distance"));
  out.hand = panes(".said")[0]; out.on = by("on").disabled;
  press("ArrowRight", "ArrowUp"); await until(() => said("Deadlocked")); out.dead = panes(".said")[0];
  press("g"); await until(() => blocks(0).length > 1); press(" "); out.after = blocks(0);
  press("n"); await until(() => shows("level 1")); out.next = by("title").textContent;
  press("n"); await until(wrong); out.last = [by("said").textContent, by("number").value];
  by("text").value = LEVEL; by("take").click(); await until(() => shows("pasted level"));
  by("text").value = "<b>nothing</b>"; by("take").click(); await until(wrong); out.wrong = by("said").textContent;
  end();
});
"""


def test_a_hostile_match_is_watched_and_taken_over(serve: Callable[..., MatchServer], tmp_path: Path) -> None:
    match = ScriptedMatch()
    packed = {**match.about.described(), "levels": [{**match.level(0).described(), "number": 0}]}
    made = page.make(match.about, packed, asks=True)
    server = serve(match, browser.with_script(made, f"const LEVEL = {LEVEL!r};{BEGIN}{LIVE}"))
    out: dict[str, Any] = browser.said(server.address, tmp_path)
    assert (out["errors"], out["alerts"]) == ([], 0)
    assert out["title"].startswith("level 0 x<img")
    own, fixed = out["first"]
    assert own.startswith("Observation 1: h = 1, distance 2 → 1. 0 actions so far.")
    assert own.endswith("Regret: 0.020 lost, best was h = 2 (too shallow).")
    assert fixed == "Observation 1: h = 4, distance 2 → 0. 0 actions so far.Regret: no depth is better."
    assert (out["plans"], out["rest"]) == (["→", "→→→→"], ["→→→→→→→", "→→→→"])
    assert out["chances"] == ["h = 180 %h = 2 ✓20 %h = 40 %h = 80 %", "Always h = 4."]
    assert out["fixed"].startswith("Observation 1: h = 2, distance 2 → 0.")
    assert out["second"].startswith("Observation 2: h = 1, distance 1 → 0.")
    assert out["hand"] == "Your move. 4 of 4 observations are left. Distance 3."
    assert not out["on"]
    assert out["dead"].endswith("left.Deadlocked: no actions whatever solve it from here.")
    assert out["after"][0] == "by hand: 3 actions, distance 2 to out of reach, made it unsolvable"
    assert len(out["after"]) == 5, "four observations in vain"
    assert out["next"].startswith("level 1 ")
    assert out["last"] == ["there are two levels", "1"]
    assert "expected" in out["wrong"]


def test_taking_over_in_the_middle_of_a_commitment(serve: Callable[..., MatchServer], tmp_path: Path) -> None:
    """What was executed of it counts, and its observation is spent."""
    match = ScriptedMatch()
    packed = record(match, [match.level(0)])
    packed["levels"][0]["played"][0] = packed["levels"][0]["played"][4]
    made = page.make(match.about, {**packed, "levels": [{**packed["levels"][0], "number": 0}]}, asks=True)
    script = """
    addEventListener("load", async () => {
      await until(() => blocks(0).length);
      press(" "); await until(() => panes(".plan .now").length >= 2); // one action of each board
      press("ArrowLeft"); await until(() => blocks(0)[0].includes("distance 2 to 1"));
      out.blocks = blocks(0);
      press("g"); await until(() => blocks(0).length > 2); press(" "); out.after = blocks(0);
      end();
    });
    """
    server = serve(match, browser.with_script(made, BEGIN + script))
    out = browser.said(server.address, tmp_path)
    assert out["errors"] == []
    assert out["blocks"][0].startswith("decision 1: h = 4, 1 executed, distance 2 to 1")
    assert match.asked[-1] == (3, 0)
    assert out["after"][1].startswith("by hand: 1 actions, distance 1 to ")


FILE = """
addEventListener("load", async () => {
  await until(() => blocks(1).length);
  press("8"); await until(() => blocks(1)[0].includes("h = 8"));
  press("ArrowRight", "ArrowRight"); out.solved = panes(".said")[0]; out.on = by("on").disabled;
  press("p"); await until(() => !by("said").hidden); out.none = by("said").textContent;
  press("b", "b", "ArrowDown", "g"); await until(() => by("said").textContent.includes("goes on"));
  out.refused = by("said").textContent;
  end();
});
"""


def test_a_page_without_a_server_knows_what_was_played(tmp_path: Path) -> None:
    match = ScriptedMatch()
    made = page.make(match.about, record(match, [match.level(0), match.level(1)]), asks=False)
    file = tmp_path / "match.html"
    file.write_text(browser.with_script(made, BEGIN + FILE), encoding="utf-8")
    out = browser.said(file, tmp_path)
    assert out["errors"] == []
    assert out["solved"] == "Solved by hand. 4 of 4 observations are left."
    assert out["on"]
    assert out["none"] == "There are the levels 0 to 1."
    assert out["refused"].startswith("This page holds what was played; recommit play --agent x<img")


def test_the_page_runs_under_its_own_policy(serve: Callable[..., MatchServer], tmp_path: Path) -> None:
    match = ScriptedMatch()
    packed = {**match.about.described(), "levels": [{**match.level(0).described(), "number": 0}]}
    made = page.make(match.about, packed, asks=True)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made)
    assert policy is not None
    assert policy[1].endswith("img-src data:; connect-src 'self'")
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert "connect-src" not in page.make(match.about, packed, asks=False)
    text = browser.opened(serve(match, made).address, tmp_path)
    assert text.count('class="board"') == 2
    assert "Regret: 0.020 lost" in text
