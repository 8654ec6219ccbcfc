// Two agents on one instance, one commitment at a time.
const VIEWER = (() => {
  "use strict";
  const { make } = DRAW;
  const find = (id) => document.getElementById(id);

  function viewer(data) {
    const root = find("viewer");
    if (!data || !root) return;
    root.hidden = false;
    const ARROWS = "↑↓←→";
    const now = { i: data.open, who: [0, data.other], k: 0, sub: 0, timer: 0 };
    const puzzle = Object.hasOwn(PUZZLES, data.task) ? PUZZLES[data.task] : null;
    const numbers = (text, wide, base) => (text || "").match(new RegExp(`.{${wide}}`, "g"))?.map((part) => parseInt(part, base)) || [];
    const known = new Map();

    // Every decision of an episode: the board before each of its actions and after the last, and what it did to the distance.
    function episode(agent, i) {
      const key = `${agent}/${i}`;
      if (known.has(key)) return known.get(key);
      const packed = data.played[agent][i], depth = numbers(packed.h, 1, 10), executed = numbers(packed.x, 1, 10);
      const actions = numbers(packed.a, 1, 10), chances = numbers(packed.p, 2, 16), many = data.depths.length;
      let board = numbers(data.instances[i].state, 2, 16), at = 0;
      const decisions = depth.map((h, k) => {
        const own = actions.slice(at, at + executed[k]), boards = [board], before = packed.d[k], after = packed.d[k + 1];
        at += executed[k];
        if (puzzle) for (const action of own) boards.push(board = puzzle.move(board, data.rows, data.cols, action));
        const kind = after < 0 ? (before < 0 ? "lost" : "dead") : before < 0 ? "" : after === before ? "wasted" : after > before ? "backward" : "";
        const regret = packed.r ? { lost: packed.r[k] / 1000, best: Number(packed.b[k]), cause: data.causes[packed.c[k] - 1] } : null;
        return { h, regret, executed: executed[k], actions: own, boards, before, after, kind, spent: at, chances: packed.p ? chances.slice(many * k, many * (k + 1)) : [] };
      });
      const made = { decisions, last: board, solved: packed.solved, distances: packed.d, spent: at };
      known.set(key, made);
      return made;
    }

    const shown = () => now.who.map((agent) => episode(agent, now.i));
    const longest = () => Math.max(...shown().map((one) => one.decisions.length));
    const said = (distance) => (distance === -1 ? "out of reach" : distance < 0 ? "unknown" : String(distance));
    // What the commitment cost against the best depth; empty where nobody worked that out.
    const price = (regret) => (!regret ? "" : !regret.cause ? "no depth is better" : `${lost(regret.lost)} lost, best was h = ${regret.best} (${regret.cause})`);
    const lost = (value) => (value === 1 ? "the solution" : value.toFixed(3));
    const MARKS = { wasted: "=", backward: "^", dead: "×", lost: "×", "": "" };
    const WORDS = { wasted: "left the distance as it was", backward: "raised the distance", dead: "made it unsolvable", lost: "nobody can solve this any more", "": "" };

    function status(box, one, agent) {
      const k = Math.min(now.k, one.decisions.length);
      box.setAttribute("aria-live", now.timer ? "off" : "polite"); // what plays by itself is not read out
      box.replaceChildren();
      if (k < one.decisions.length) {
        const d = one.decisions[k];
        box.append(`Observation ${k + 1}: `, make("b", {}, `h = ${d.h}`), `, distance ${said(d.before)} → ${said(d.after)}${d.kind ? `, ${WORDS[d.kind]}` : ""}. ${d.spent - d.executed} actions so far.`);
        if (d.regret) box.append(make("span", { class: `regret${d.regret.cause ? " lost" : ""}` }, `Regret: ${price(d.regret)}.`));
      } else {
        const end = one.solved ? "Solved" : one.distances.at(-1) === -1 ? "Lost" : "Not solved";
        box.append(make("b", {}, end), ` after ${one.decisions.length} observations and ${one.spent} actions${one.solved ? "" : `; distance ${said(one.distances.at(-1))}`}.`);
      }
      if (k === one.decisions.length && k && one.decisions[0].regret) {
        const all = one.decisions.reduce((sum, d) => sum + d.regret.lost, 0), places = one.decisions.filter((d) => d.regret.cause).length;
        box.append(make("span", { class: `regret${all ? " lost" : ""}` }, all ? `Against the best depths ${lost(all)} lost, at ${places} of ${k} decisions.` : "No other depths would have done better."));
      }
      if (data.agents[agent].seeds > 1) box.append(` (one of ${data.agents[agent].seeds} seeds)`);
    }

    function plan(one) {
      const box = make("div", { class: "plan", "aria-hidden": "true" }), d = one.decisions[now.k];
      d?.actions.forEach((action, a) => {
        const blocked = d.boards[a + 1] === d.boards[a];
        box.append(make("span", { class: `${a < now.sub ? "now" : ""}${blocked ? " blocked" : ""}`, title: blocked ? "blocked" : "" }, ARROWS[action]));
      });
      return box;
    }

    function chances(one, agent) {
      const box = make("div", { class: "chances" }), d = one.decisions[now.k];
      if (!d) return box;
      const always = data.agents[agent].depth;
      if (always) {
        box.append(make("span", { style: { "grid-column": "1 / -1" } }, `Always h = ${always}.`));
        return box;
      }
      const total = d.chances.reduce((a, b) => a + b, 0);
      if (!total) box.append(make("span", { style: { "grid-column": "1 / -1" } }, "The depth head was not asked."));
      else data.depths.forEach((h, c) => {
        const share = d.chances[c] / total, taken = h === d.h ? " taken" : "", best = d.regret?.cause && h === d.regret.best;
        box.append(make("span", { class: taken + (best ? " best" : "") }, `h = ${h}${best ? " ✓" : ""}`), make("i", { class: `d${h}`, style: { width: `${100 * share}%` } }), make("span", { class: taken }, `${Math.round(100 * share)} %`));
      });
      return box;
    }

    const wide = (one) => one.decisions.reduce((sum, d) => sum + d.h, 0);

    function strip(one, widest, width) {
      const box = make("div", { class: "strip", role: "group", "aria-label": "commitments" }), unit = width / Math.max(widest, 1);
      one.decisions.forEach((d, k) => {
        const label = `decision ${k + 1}: h = ${d.h}, ${d.executed} executed, distance ${said(d.before)} to ${said(d.after)}${d.kind ? `, ${WORDS[d.kind]}` : ""}${d.regret ? `; regret: ${price(d.regret)}` : ""}`;
        const worse = d.regret?.cause ? " worse" : "";
        const state = worse + (k < now.k ? " past" : k === now.k ? " here" : "");
        const block = make("button", { type: "button", class: `d${d.h}${state}`, style: { "--wide": d.h }, title: label, "aria-label": label, tabindex: -1 }, d.h * unit < 9 ? "" : String(d.h), make("b", {}, MARKS[d.kind]));
        block.addEventListener("click", () => { go(k); root.focus({ preventScroll: true }); }); // the block itself is drawn anew
        box.append(block);
      });
      if (wide(one) < widest) box.append(make("span", { style: { flex: `${widest - wide(one)} 1 0` } }));
      return box;
    }

    function spark(one, most, steps, width) {
      const svg = make("svg", { class: "spark", viewBox: `0 0 ${width} 76`, role: "img", "aria-label": `distance after every decision: ${one.distances.map(said).join(", ")}` });
      const x = (k) => 30 + (width - 42) * k / Math.max(steps, 1), y = (d) => 60 - 50 * Math.max(d, 0) / Math.max(most, 1);
      for (const d of [0, most]) svg.append(make("line", { x1: 30, x2: width - 10, y1: y(d), y2: y(d), style: { stroke: "var(--rule)" } }), make("text", { x: 18, y: y(d) + 3, "text-anchor": "end" }, String(d)));
      for (const [name, budget] of Object.entries(data.budgets)) if (budget < steps) {
        svg.append(make("line", { x1: x(budget), x2: x(budget), y1: 8, y2: 60, style: { stroke: "var(--soft)", "stroke-dasharray": "2 3" } }), make("text", { x: x(budget), y: 74, "text-anchor": "middle" }, `${name} K = ${budget}`));
      }
      svg.append(make("text", { x: 4, y: 74 }, "distance"));
      const alive = one.distances.map((d, k) => [k, d]).filter(([, d]) => d >= 0);
      svg.append(make("polyline", { points: alive.map(([k, d]) => `${x(k)},${y(d)}`).join(" "), style: { fill: "none", stroke: "var(--ink)", "stroke-width": "1.6" } }));
      one.distances.forEach((d, k) => {
        const kind = k ? one.decisions[k - 1].kind : "";
        if (d < 0) svg.append(make("text", { x: x(k), y: 14, "text-anchor": "middle", style: { fill: "var(--bad)", "font-size": "13px" } }, "×"));
        else svg.append(make("circle", { cx: x(k), cy: y(d), r: kind ? 3.2 : 2, style: { fill: kind === "backward" ? "var(--bad)" : kind === "wasted" ? "var(--card)" : "var(--ink)", stroke: kind ? "var(--bad)" : "none", "stroke-width": "1.4" } }));
      });
      const k = Math.min(now.k, one.decisions.length), d = one.distances[k];
      svg.append(make("circle", { cx: x(k), cy: d < 0 ? 10 : y(d), r: 6, style: { fill: "none", stroke: "var(--first)", "stroke-width": "2.4" } }));
      return svg;
    }

    function draw() {
      const every = shown(), most = Math.max(...every.flatMap((one) => one.distances)), steps = longest(), widest = Math.max(...every.map(wide));
      now.k = Math.min(Math.max(now.k, 0), steps);
      root.querySelectorAll(".pane").forEach((pane, p) => {
        const one = every[p], d = one.decisions[now.k], [, scene, said_, rest] = pane.children, [top, side] = scene.children;
        const width = Math.max(pane.clientWidth, 140);
        const cells = d ? d.boards[Math.min(now.sub, d.boards.length - 1)] : one.last;
        top.replaceChildren(puzzle ? DRAW.board(puzzle, data.rows, data.cols, cells) : make("p", { class: "missing" }, "This page cannot draw the puzzle."));
        status(said_, one, now.who[p]);
        side.replaceChildren(plan(one), chances(one, now.who[p]));
        rest.replaceChildren(strip(one, widest, width), spark(one, most, steps, width));
      });
      const slide = find("turn");
      slide.max = steps;
      slide.value = now.k;
      slide.setAttribute("aria-valuetext", find("turn-said").textContent = `${now.k} of ${steps}`);
      find("pick-instance").value = now.i;
    }

    function note() {
      const words = { i: data.instances[now.i].n, a: data.agents[now.who[0]].label, b: data.agents[now.who[1]].label, k: now.k };
      const hash = "#" + Object.entries(words).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
      try { history.replaceState(null, "", hash); } catch { /* some browsers refuse this for a page from a disk */ }
    }

    function go(k, sub = 0) {
      pause();
      now.k = k;
      now.sub = sub;
      draw();
      note();
    }

    function pause() {
      clearTimeout(now.timer);
      now.timer = 0;
      find("play").textContent = "Play";
    }

    const longestAt = (k) => Math.max(...shown().map((one) => one.decisions[k]?.executed || 0));

    // Milliseconds of an action: a whole episode takes as many seconds as the speed says, a short one fewer.
    function pace() {
      const seconds = Number(find("speed").value);
      let beats = 0;
      for (let k = 0; k < longest(); k++) beats += longestAt(k) + 2;
      return Math.min(40 * seconds, 980 * seconds / Math.max(beats, 1));
    }

    function tick() {
      const most = longestAt(now.k), beat = pace();
      if (now.sub < most) now.sub += 1;
      else { now.k += 1; now.sub = 0; }
      const done = now.k >= longest();
      if (done) { pause(); note(); }
      draw();
      if (!done) now.timer = setTimeout(tick, now.sub ? beat : 2 * beat); // a look takes longer than an action
    }

    function play() {
      if (now.timer) { pause(); draw(); note(); return; }
      if (now.k >= longest()) { now.k = 0; now.sub = 0; }
      find("play").textContent = "Pause";
      now.timer = setTimeout(tick, 0);
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
        const scene = make("div", { class: "scene" }, make("div"), make("div", { class: "side" }));
        pick.setAttribute("aria-label", `Agent ${"AB"[p]}`);
        pane.append(make("label", {}, pick), scene, make("p", { class: "said" }), make("div"));
      });
      find("pick-instance").addEventListener("change", (event) => choose(Number(event.target.value)));
      find("previous").addEventListener("click", () => choose(now.i - 1));
      find("next").addEventListener("click", () => choose(now.i + 1));
      find("play").addEventListener("click", play);
      find("back").addEventListener("click", () => go(now.sub ? now.k : now.k - 1));
      find("step").addEventListener("click", () => go(now.k + 1));
      find("turn").addEventListener("input", (event) => go(Number(event.target.value)));
      root.addEventListener("keydown", key);
      document.addEventListener("keydown", keyOutside);
      addEventListener("hashchange", read);
      addEventListener("resize", draw);
    }

    const ORDERS = { ArrowRight: () => go(now.k + 1), ArrowLeft: () => go(now.sub ? now.k : now.k - 1), j: () => choose(now.i + 1), k: () => choose(now.i - 1), p: play };
    // These scroll a page, so they are the viewer's only where it has the focus.
    const FOCUSED = { ArrowUp: () => go(0), ArrowDown: () => go(longest()), " ": play };

    // Nothing has the focus, and the viewer is on the screen: its keys work without a click.
    function keyOutside(event) {
      const box = root.getBoundingClientRect(), seen = box.bottom > 120 && box.top < innerHeight - 120;
      if (seen && [document.body, document.documentElement].includes(event.target)) obey(event, ORDERS);
    }

    function key(event) {
      const own = ["SELECT", "INPUT"].includes(event.target.tagName), press = [" ", "Enter"].includes(event.key);
      if (own || (press && ["BUTTON", "SUMMARY"].includes(event.target.tagName))) return;
      obey(event, { ...ORDERS, ...FOCUSED });
    }

    function obey(event, orders) {
      if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(orders, event.key)) return;
      event.preventDefault();
      orders[event.key]();
    }

    build();
    if (!read()) draw();
  }

  return viewer;
})();
