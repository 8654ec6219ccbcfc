// What is shown of one episode: its plan, the depths that it might have had, its commitments and its way to the goal.
const PANE = (() => {
  "use strict";
  const { make } = DRAW;
  const ARROWS = "↑↓←→";
  const MARKS = { wasted: "=", backward: "^", dead: "×", lost: "×", "": "" };
  const WORDS = { wasted: "left the distance as it was", backward: "raised the distance", dead: "made it unsolvable", lost: "nobody can solve this any more", "": "" };
  const numbers = (text, wide, base) => (text || "").match(new RegExp(`.{${wide}}`, "g"))?.map((part) => parseInt(part, base)) || [];
  const said = (distance) => (distance === -1 ? "out of reach" : distance < 0 ? "unknown" : String(distance));
  const lost = (value) => (value === 1 ? "the solution" : value.toFixed(3));
  // What the commitment cost against the best depth; empty where nobody worked that out.
  const price = (regret) => (!regret ? "" : !regret.cause ? "none" : `${lost(regret.lost)} lost, best was h = ${regret.best} (${regret.cause})`);
  const effect = (before, after) => (after === -1 ? (before < 0 ? "lost" : "dead") : before < 0 || after < 0 ? "" : after === before ? "wasted" : after > before ? "backward" : "");
  const wide = (one) => one.decisions.reduce((sum, d) => sum + d.h, 0);

  // Every decision of an episode: the board before each of its actions and after the last, and what it did to the
  // distance. Of some episodes the whole plans are known, and not only what was executed of them.
  function unpack(packed, { puzzle, rows, cols, start, causes, depths }) {
    const depth = numbers(packed.h, 1, 36), executed = numbers(packed.x, 1, 36), many = depths.length;
    const actions = numbers(packed.a, 1, 10), chances = numbers(packed.p, 2, 16), plans = numbers(packed.w, 1, 10), whole = plans.length / depth.length;
    let board = start, at = 0;
    const decisions = depth.map((h, k) => {
      const plan = plans.length ? plans.slice(whole * k, whole * (k + 1)) : actions.slice(at, at + executed[k]);
      const own = plan.slice(0, executed[k]), boards = [board], before = packed.d[k], after = packed.d[k + 1];
      at += executed[k];
      if (puzzle) for (const action of own) boards.push(board = puzzle.move(board, rows, cols, action));
      const regret = packed.r ? { lost: packed.r[k] / 1000, best: parseInt(packed.b[k], 36), cause: causes[packed.c[k] - 1] } : null;
      return { h, regret, executed: executed[k], actions: own, plan, boards, before, after, kind: effect(before, after), spent: at, chances: packed.p ? chances.slice(many * k, many * (k + 1)) : [] };
    });
    return { decisions, last: board, solved: packed.solved, distances: packed.d, spent: at };
  }

  // Of a commitment, or of the end, k being the number of all of them; what plays by itself is not read out.
  function status(box, one, k, playing) {
    box.setAttribute("aria-live", playing ? "off" : "polite");
    box.replaceChildren();
    const d = one.decisions[k];
    if (!d) return ended(box, one);
    box.append(`Observation ${k + 1}: `, make("b", {}, `h = ${d.h}`), `, distance ${said(d.before)} → ${said(d.after)}${d.kind ? `, ${WORDS[d.kind]}` : ""}. ${d.spent - d.executed} actions so far.`);
    if (d.regret) box.append(make("span", { class: `regret${d.regret.cause ? " lost" : ""}` }, `Regret: ${price(d.regret)}.`));
    return undefined;
  }

  function ended(box, one) {
    const own = one.decisions, worse = own.filter((d) => d.regret?.cause);
    const end = one.solved ? "Solved" : one.distances.at(-1) === -1 ? "Lost" : "Not solved";
    box.append(make("b", {}, end), ` after ${own.length} observations and ${one.spent} actions${one.solved ? "" : `; distance ${said(one.distances.at(-1))}`}.`);
    if (!own.length || !own[0].regret) return;
    const all = own.reduce((sum, d) => sum + (d.regret ? d.regret.lost : 0), 0);
    box.append(make("span", { class: `regret${all ? " lost" : ""}` }, all ? `Against the best depths ${lost(all)} lost, at ${worse.length} of ${own.length} decisions.` : "No other depths would have done better."));
  }

  // The actions of a commitment, those that were played first; what the plan has beyond it is pale.
  function plan(d, sub) {
    const box = make("div", { class: "plan", "aria-hidden": "true" });
    if (!d) return box;
    const kept = make("span", { class: `kept d${d.h}` });
    d.plan.slice(0, d.h).forEach((action, a) => {
      const blocked = d.boards[a + 1] === d.boards[a] && a < d.executed;
      kept.append(make("span", { class: `${a < sub ? "now" : ""}${blocked ? " blocked" : ""}`, title: blocked ? "blocked" : "" }, ARROWS[action]));
    });
    box.append(kept);
    if (d.plan.length > d.h) box.append(make("span", { class: "rest", title: "planned, and not committed to" }, d.plan.slice(d.h).map((action) => ARROWS[action]).join("")));
    return box;
  }

  // The depth head's probabilities; a depth that is always the same needs none.
  function chances(d, depths, always) {
    const box = make("div", { class: "chances" }), line = (text) => box.append(make("span", { style: { "grid-column": "1 / -1" } }, text));
    if (!d) return box;
    const total = d.chances.reduce((a, b) => a + b, 0), best = d.regret?.cause ? d.regret.best : 0;
    if (always) line(`Always h = ${always}.`);
    else if (!total) line("The depth head was not asked.");
    else depths.forEach((h, c) => {
      const share = d.chances[c] / total, taken = h === d.h ? " taken" : "";
      box.append(make("span", { class: taken + (h === best ? " best" : "") }, `h = ${h}${h === best ? " ✓" : ""}`), make("i", { class: `d${h}`, style: { width: `${100 * share}%` } }), make("span", { class: taken }, `${Math.round(100 * share)} %`));
    });
    return box;
  }

  function strip(one, now, widest, width, chosen) {
    const box = make("div", { class: "strip", role: "group", "aria-label": "commitments" }), unit = width / Math.max(widest, 1);
    one.decisions.forEach((d, k) => {
      const label = `decision ${k + 1}: h = ${d.h}, ${d.executed} executed, distance ${said(d.before)} to ${said(d.after)}${d.kind ? `, ${WORDS[d.kind]}` : ""}${d.regret ? `; regret: ${price(d.regret)}` : ""}`;
      const worse = d.regret?.cause ? " worse" : "";
      const state = worse + (k < now ? " past" : k === now ? " here" : "");
      const block = make("button", { type: "button", class: `d${d.h}${state}`, style: { "--wide": d.h }, title: label, "aria-label": label, tabindex: -1 }, d.h * unit < 9 ? "" : String(d.h), make("b", {}, MARKS[d.kind]));
      block.addEventListener("click", () => chosen(k));
      box.append(block);
    });
    if (wide(one) < widest) box.append(make("span", { style: { flex: `${widest - wide(one)} 1 0` } }));
    return box;
  }

  function spark(one, now, most, steps, width, budgets) {
    const svg = make("svg", { class: "spark", viewBox: `0 0 ${width} 76`, role: "img", "aria-label": `distance after every decision: ${one.distances.map(said).join(", ")}` });
    const x = (k) => 30 + (width - 42) * k / Math.max(steps, 1), y = (d) => 60 - 50 * Math.max(d, 0) / Math.max(most, 1);
    for (const d of [0, most]) svg.append(make("line", { x1: 30, x2: width - 10, y1: y(d), y2: y(d), style: { stroke: "var(--rule)" } }), make("text", { x: 18, y: y(d) + 3, "text-anchor": "end" }, String(d)));
    for (const [name, budget] of Object.entries(budgets)) if (budget < steps) {
      svg.append(make("line", { x1: x(budget), x2: x(budget), y1: 8, y2: 60, style: { stroke: "var(--soft)", "stroke-dasharray": "2 3" } }), make("text", { x: x(budget), y: 74, "text-anchor": "middle" }, `${name} K = ${budget}`));
    }
    svg.append(make("text", { x: 4, y: 74 }, "distance"));
    const alive = one.distances.map((d, k) => [k, d]).filter(([, d]) => d >= 0);
    svg.append(make("polyline", { points: alive.map(([k, d]) => `${x(k)},${y(d)}`).join(" "), style: { fill: "none", stroke: "var(--ink)", "stroke-width": "1.6" } }));
    one.distances.forEach((d, k) => {
      const kind = k ? one.decisions[k - 1].kind : "";
      if (d === -1) svg.append(make("text", { x: x(k), y: 14, "text-anchor": "middle", style: { fill: "var(--bad)", "font-size": "13px" } }, "×"));
      else if (d >= 0) svg.append(make("circle", { cx: x(k), cy: y(d), r: kind ? 3.2 : 2, style: { fill: kind === "backward" ? "var(--bad)" : kind === "wasted" ? "var(--card)" : "var(--ink)", stroke: kind ? "var(--bad)" : "none", "stroke-width": "1.4" } }));
    });
    const k = Math.min(now, one.decisions.length), d = one.distances[k];
    svg.append(make("circle", { cx: x(k), cy: d < 0 ? 10 : y(d), r: 6, style: { fill: "none", stroke: "var(--first)", "stroke-width": "2.4" } }));
    return svg;
  }

  // What a pane holds, below its name or the choice of it.
  function build(pane, head) {
    const scene = make("div", { class: "scene" }, make("div"), make("div", { class: "side" }));
    pane.append(make("label", {}, head), scene, make("p", { class: "said" }), make("div"));
  }

  // The p-th of every episode that is shown.
  function show(pane, every, p, now, { puzzle, rows, cols, depths, budgets, steps, always, jump }) {
    const one = every[p], d = one.decisions[now.k], [, scene, said_, rest] = pane.children, [top, side] = scene.children;
    const width = Math.max(pane.clientWidth, 140), widest = Math.max(...every.map(wide)), most = Math.max(...every.flatMap((each) => each.distances));
    const cells = d ? d.boards[Math.min(now.sub, d.boards.length - 1)] : one.last;
    top.replaceChildren(puzzle ? DRAW.board(puzzle, rows, cols, cells) : make("p", { class: "missing" }, "This page cannot draw the puzzle."));
    status(said_, one, now.k, now.timer);
    side.replaceChildren(plan(d, now.sub), chances(d, depths, always));
    rest.replaceChildren(strip(one, now.k, widest, width, jump), most < 0 ? "" : spark(one, now.k, most, steps, width, budgets));
  }

  return { numbers, unpack, build, show };
})();
