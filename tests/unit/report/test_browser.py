"""What the page's scripts do, in a real browser; skipped where there is none."""

from __future__ import annotations

import html
import json
import re

import numpy as np
from tests.unit.report import browser
from tests.unit.report.conftest import puzzle, write

from recommit.puzzles.registry import TASKS
from recommit.report import page
from recommit.report.html import asset
from recommit.report.reading import Folder

pytestmark = browser.NEEDED


def driven(made, script, tmp_path, anchor=""):
    """What a script in the page says of it."""
    document = tmp_path / "page.html"
    document.write_text(browser.with_script(made, script), encoding="utf-8")
    return browser.said(document, tmp_path, anchor)


def test_the_moves_are_those_of_the_core(tmp_path):
    rng = np.random.default_rng(0)
    cases, expected, solved = [], [], list[bool]()
    for task in TASKS:
        game = puzzle(task)
        states = np.concatenate([game.generate(30, seed=5).states, game.generate(9, seed=6, length=(1, 4)).states])
        for turn in range(20):
            random, best = rng.integers(0, 4, len(states)), game.optimal_actions(states).argmax(axis=1)
            actions = (best if turn < 4 else random).astype(np.uint8)  # so that some reach the goal
            after = game.step(states, actions)
            cases += [[task, *game.shape, s.ravel().tolist(), int(a)] for s, a in zip(states, actions, strict=True)]
            goals = game.is_solved(after).tolist()
            expected += [[s.ravel().tolist(), goal] for s, goal in zip(after, goals, strict=True)]
            solved += goals
            states = after
    script = f"const cases = {json.dumps(cases)}; document.body.textContent = JSON.stringify(cases.map("
    script += "([task, rows, cols, cells, action]) => { const after = PUZZLES[task].move(cells, rows, cols, action);"
    script += "return [after, PUZZLES[task].solved(after)]; }));"
    document = tmp_path / "moves.html"
    rules = asset("puzzles.js") + "".join(asset(f"puzzles/{task}.js") for task in TASKS)
    document.write_text(f"<!doctype html><body><script>{rules}{script}</script>", encoding="utf-8")
    shown = re.search(r"<body>(.*?)</body>", browser.opened(document, tmp_path), re.DOTALL)
    assert json.loads(html.unescape(shown[1])) == expected
    assert any(solved)


#: Goes through every episode, then uses the keys and the buttons as a person would.
DRIVER = """
const out = { alerts: 0, errors: [], ends: [] };
window.alert = () => { out.alerts += 1; };
addEventListener("error", (event) => out.errors.push(event.message));
addEventListener("load", async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const all = (query) => [...document.querySelectorAll(query)], by = (id) => document.getElementById(id);
  const press = (key) => by("viewer").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const chosen = (select) => select.selectedOptions[0].textContent;
  out.linked = [by("turn").value, chosen(by("pick-instance")), ...all(".pane select").map(chosen)];
  const packed = JSON.parse(by("packed").textContent);
  for (let i = 0; i < packed.instances.length; i++) {
    by("pick-instance").value = i;
    by("pick-instance").dispatchEvent(new Event("change"));
    packed.agents.forEach((_, a) => {
      const select = document.querySelector(".pane select");
      select.value = a;
      select.dispatchEvent(new Event("change"));
      press("ArrowDown");
      const pane = (what) => document.querySelector(`.pane ${what}`);
      out.ends.push([packed.played[a][i].solved, pane(".said").textContent, pane(".board").getAttribute("aria-label")]);
    });
  }
  press("ArrowUp"); out.start = by("turn").value;
  press("ArrowRight"); out.step = by("turn").value; out.hash = location.hash;
  press("j"); out.next = by("turn").value; press("k");
  press(" "); out.playing = by("play").textContent;
  await wait(10000);
  out.played = [by("play").textContent, by("turn").value === by("turn").max];
  document.querySelector(".strip button").click(); out.clicked = by("turn").value;
  location.hash = "#i=999999"; await wait(200); out.absent = by("absent").textContent;
  by("theme").click(); by("theme").click(); out.theme = document.documentElement.dataset.theme;
  document.body.textContent = "RESULT" + JSON.stringify(out) + "END";
});
"""


def test_a_hostile_page_is_watched_from_end_to_end(tmp_path):
    name = "x<img src=y onerror=alert(1)>&amp;'\""
    folder = Folder(write(tmp_path / "eval", "sliding", run=f"/runs/{name}"))
    made = page.make(folder, 6).html
    number = json.loads(re.search(r'id="packed">(.*?)</script>', made)[1])["instances"][2]["n"]
    out = driven(made, DRIVER, tmp_path, f"#i={number}&a=oracle-dp&b=fixed-2&k=1")
    assert out["errors"] == []
    assert out["alerts"] == 0
    assert out["linked"][0] == "1"
    assert out["linked"][1].startswith(f"{number}: ")
    assert out["linked"][2:] == ["oracle depth", "fixed depth 2 (same plans)"]
    assert len(out["ends"]) == 6 * len(folder.agents)
    for solved, said, board in out["ends"]:
        assert said.startswith("Solved after" if solved else "Not solved after")
        assert board.endswith(": 1 2 3 4 5 0") == solved
    assert (out["start"], out["step"], out["next"], out["clicked"]) == ("0", "1", "0", "0")
    assert re.fullmatch(r"#i=\d+&a=oracle-dp&b=fixed-2&k=1", out["hash"])
    assert out["playing"] == "Pause"
    assert out["played"] == ["Play", True], "a whole episode takes ten seconds at most"
    assert out["theme"] == "dark"
    assert out["absent"].startswith("Instance 999999 is not among")


def test_the_page_runs_under_its_own_policy(evaluations, tmp_path):
    document = tmp_path / "page.html"
    document.write_text(page.make(Folder(evaluations["sokoban"]), 4).html, encoding="utf-8")
    text = browser.opened(document, tmp_path)
    assert text.count("<option") == 4 + 2 * 6 + 4  # instances, agents twice, speeds
    assert text.count('class="board"') == 2
    assert "Colours: as the system" in text
