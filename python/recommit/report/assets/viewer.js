// Two agents on one instance, one commitment at a time.
const VIEWER = (() => {
  "use strict";
  const { make } = DRAW;
  const find = (id) => document.getElementById(id);

  function viewer(data) {
    const root = find("viewer");
    if (!data || !root) return;
    root.hidden = false;
    const now = { i: data.open, who: [0, data.other], k: 0, sub: 0, timer: 0 };
    const puzzle = Object.hasOwn(PUZZLES, data.task) ? PUZZLES[data.task] : null;
    const known = new Map();

    function episode(agent, i) {
      const key = `${agent}/${i}`;
      if (!known.has(key)) {
        const about = { ...data, ...data.instances[i], puzzle, start: PANE.numbers(data.instances[i].state, 2, 16) };
        known.set(key, PANE.unpack(data.played[agent][i], about));
      }
      return known.get(key);
    }

    const shown = () => now.who.map((agent) => episode(agent, now.i));

    function draw() {
      const every = shown(), steps = slide();
      root.querySelectorAll(".pane").forEach((pane, p) => {
        const agent = data.agents[now.who[p]];
        PANE.show(pane, every, p, now, { ...data, ...data.instances[now.i], puzzle, steps, jump, always: agent.depth });
        if (agent.seeds > 1) pane.querySelector(".said").append(` (one of ${agent.seeds} seeds)`);
      });
      find("pick-instance").value = now.i;
    }

    function note() {
      const words = { i: data.instances[now.i].n, a: data.agents[now.who[0]].label, b: data.agents[now.who[1]].label, k: now.k };
      const hash = "#" + Object.entries(words).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
      try { history.replaceState(null, "", hash); } catch { /* some browsers refuse this for a page from a disk */ }
    }

    const choose = (i) => { now.i = (i + data.instances.length) % data.instances.length; go(0); };

    function read() {
      const asked = new URLSearchParams(location.hash.slice(1));
      if (!asked.has("i")) return false;
      const i = data.instances.findIndex((one) => String(one.n) === asked.get("i"));
      if (i >= 0) now.i = i;
      find("absent").hidden = i >= 0;
      find("absent").textContent = `Instance ${asked.get("i")} is not among those that can be watched here; this is another one.`;
      ["a", "b"].forEach((key, p) => {
        const agent = data.agents.findIndex((one) => one.label === asked.get(key));
        if (agent >= 0) now.who[p] = agent;
        root.querySelectorAll(".pane select")[p].value = now.who[p];
      });
      now.k = Number.parseInt(asked.get("k"), 10) || 0;
      now.sub = 0;
      pause();
      draw();
      root.scrollIntoView();
      root.focus({ preventScroll: true });
      return true;
    }

    function build() {
      const groups = data.kinds.map((name) => make("optgroup", { label: name }));
      data.instances.forEach((one, i) => groups[one.kind].append(make("option", { value: i }, `${one.n}: ${data.played[0][i].d[0]} actions from the goal`)));
      find("pick-instance").append(...groups.filter((group) => group.children.length));
      root.querySelectorAll(".pane").forEach((pane, p) => {
        const pick = make("select", {}, ...data.agents.map((agent, a) => make("option", { value: a }, agent.words || agent.label)));
        pick.value = now.who[p];
        pick.addEventListener("change", () => { now.who[p] = Number(pick.value); go(Math.min(now.k, longest())); });
        pick.setAttribute("aria-label", `Agent ${"AB"[p]}`);
        PANE.build(pane, pick);
      });
      find("pick-instance").addEventListener("change", (event) => choose(Number(event.target.value)));
      find("previous").addEventListener("click", () => choose(now.i - 1));
      find("next").addEventListener("click", () => choose(now.i + 1));
      addEventListener("hashchange", read);
    }

    const { go, step, back, jump, pause, play, longest, slide, keys } = PLAYBACK(root, now, { shown, draw, note });
    keys({ ArrowRight: step, ArrowLeft: back, j: () => choose(now.i + 1), k: () => choose(now.i - 1), p: play }, { ArrowUp: () => go(0), ArrowDown: () => go(longest()), " ": play });
    build();
    if (!read()) draw();
  }

  return viewer;
})();
