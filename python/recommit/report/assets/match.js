// A policy at its own depths, on the left, beside the same plans at a fixed depth. What was not played yet is asked of
// the server that the page came from, if there is one.
const VIEWER = (() => {
  "use strict";
  const { make } = DRAW;
  const find = (id) => document.getElementById(id);

  async function ask(name, values) {
    const response = await fetch(name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) });
    const said = await response.json();
    if (!response.ok) throw new Error(said.error);
    return said;
  }

  function match(data) {
    const root = find("viewer"), puzzle = PUZZLES[data.task], levels = new Map(), deepest = Math.max(8, ...data.depths);
    root.hidden = false;
    data.levels.forEach((level, place) => levels.set(level.number ?? place, level));
    const now = { number: [...levels.keys()][0], level: null, fixed: 4, lanes: [], k: 0, sub: 0, timer: 0, question: 0 };
    const shown = () => now.lanes;

    const wire = (cells) => ({ rows: now.level.rows, cols: now.level.cols, state: cells.map((code) => code.toString(16).padStart(2, "0")).join("") });
    const start = (level) => PANE.numbers(level.state, 2, 16);
    const unpack = (packed, cells) => PANE.unpack(packed, { ...data, ...now.level, puzzle, start: cells });
    const seen = (lane) => lane.decisions.filter((d) => !d.hand).length;
    const elsewhere = `recommit play --agent ${data.policy}`;

    // Something that takes a moment; an answer that nobody waits for any more is left alone.
    async function waiting(work) {
      const mine = ++now.question;
      tell("The policy plays …", true);
      try {
        const answer = await work();
        if (mine !== now.question) return undefined;
        tell("");
        return answer;
      } catch (error) {
        if (mine === now.question) tell(error.message);
        return undefined;
      }
    }

    function tell(text, busy = false) {
      find("said").textContent = text;
      find("said").hidden = !text;
      root.setAttribute("aria-busy", busy);
    }

    async function episode(level, depth) {
      level.played ??= {};
      level.played[depth] ??= await ask("episode", { ...wire(start(level)), left: data.budget, depth });
      return level.played[depth];
    }

    // Both episodes of a level from its start, of which the board is seen at once.
    async function open(level) {
      const cells = start(level), nothing = { h: "", x: "", d: [-2], solved: false };
      now.level = level;
      now.lanes = [unpack(nothing, cells), unpack(nothing, cells)];
      find("title").textContent = level.title;
      go(0);
      const both = await waiting(async () => [await episode(level, 0), await episode(level, now.fixed)]);
      if (!both) return;
      now.lanes = both.map((packed) => unpack(packed, cells));
      go(0);
    }

    async function choose(number) {
      const level = await waiting(async () => {
        if (!levels.has(number) && !data.asks) throw new Error(`There are the levels 0 to ${levels.size - 1}.`);
        if (!levels.has(number)) levels.set(number, await ask("level", { number }));
        return levels.get(number);
      });
      if (level) now.number = number;
      find("number").value = now.number;
      if (level) open(level);
    }

    async function paste() {
      const level = await waiting(async () => {
        if (!data.asks) throw new Error(`This page holds its own levels alone; ${elsewhere} plays any.`);
        return ask("level", { text: find("text").value });
      });
      if (level) open(level);
    }

    async function fix(depth) {
      now.fixed = depth;
      root.querySelectorAll(".pane select")[0].value = depth;
      const level = now.level, packed = await waiting(() => episode(level, depth));
      if (!packed) return;
      now.lanes[1] = unpack(packed, start(level));
      go(Math.min(now.k, longest()));
    }

    const lane = (first, decisions, last, more = {}) => ({ decisions, last, distances: [first, ...decisions.map((d) => d.after)], spent: decisions.at(-1)?.spent || 0, solved: puzzle.solved(last), ...more });

    // The left episode up to where it is now; of a commitment under way, what was executed of it.
    function cut({ decisions, distances, last }) {
      const kept = decisions.slice(0, now.k), d = decisions[now.k], done = d ? Math.min(now.sub, d.executed) : 0;
      if (done) {
        const boards = d.boards.slice(0, done + 1);
        kept.push({ ...d, executed: done, boards, spent: d.spent - d.executed + done, after: -2, kind: "", regret: null });
        measure(kept.at(-1));
      }
      return lane(distances[0], kept, done ? kept.at(-1).boards.at(-1) : d ? d.boards[0] : last, { hand: true });
    }

    function move(action) {
      if (!now.lanes.length || root.getAttribute("aria-busy") === "true") return;
      const own = now.lanes[0].hand && now.k >= now.lanes[0].decisions.length ? now.lanes[0] : cut(now.lanes[0]);
      if (own.solved) return;
      const after = puzzle.move(own.last, now.level.rows, now.level.cols, action);
      now.lanes[0] = after === own.last ? own : moved(own, action, after);
      go(now.lanes[0].decisions.length);
    }

    // One more action by hand, in the same block as those just before.
    function moved(own, action, after) {
      const last = own.decisions.at(-1), more = last?.hand ? last : { hand: true, plan: [], boards: [own.last], before: own.distances.at(-1), chances: [], regret: null };
      const plan = [...more.plan, action], many = plan.length;
      const d = { ...more, plan, actions: plan, boards: [...more.boards, after], h: many, executed: many, spent: own.spent + 1, after: -2, kind: "" };
      measure(d);
      return lane(own.distances[0], [...own.decisions.slice(0, own.decisions.length - Boolean(last?.hand)), d], after, { hand: true });
    }

    // The exact distance where a block ends that the policy did not end, as soon as it is known.
    async function measure(d) {
      if (!data.asks) return;
      try {
        d.after = (await ask("distance", wire(d.boards.at(-1)))).distance;
      } catch (error) {
        tell(error.message);
        return;
      }
      const own = now.lanes[0], next = own.decisions[own.decisions.indexOf(d) + 1];
      if (!own.decisions.includes(d)) return; // there were more moves meanwhile
      if (next) next.before = d.after;
      d.kind = PANE.effect(d.before, d.after);
      now.lanes[0] = { ...own, distances: [own.distances[0], ...own.decisions.map((each) => each.after)] };
      draw();
    }

    // The policy observes the board that is there, with the observations that are left.
    async function on() {
      const own = now.lanes[0], left = data.budget - seen(own);
      if (!own?.hand || own.solved) return;
      if (left < 1) { tell(`No observations are left of ${data.budget}.`); return; }
      const packed = await waiting(async () => {
        if (!data.asks) throw new Error(`This page holds what was played; ${elsewhere} goes on from any state.`);
        return ask("episode", { ...wire(own.last), left, depth: 0 });
      });
      if (!packed) return;
      const rest = unpack(packed, own.last), many = own.decisions.length;
      rest.decisions.forEach((d) => { d.spent += own.spent; });
      if (many) own.decisions[many - 1].after = packed.d[0];
      now.lanes[0] = lane(many ? own.distances[0] : packed.d[0], [...own.decisions, ...rest.decisions], rest.last);
      go(many);
      play();
    }

    function draw() {
      if (!now.level) return;
      const steps = slide();
      root.querySelectorAll(".pane").forEach((pane, p) => {
        const one = now.lanes[p], said = pane.querySelector(".said"), k = Math.min(now.k, one.decisions.length);
        PANE.show(pane, now.lanes, p, now, { ...data, ...now.level, puzzle, steps, jump, budgets: {}, always: p ? now.fixed : 0 });
        if (one.hand && !one.decisions[k]) said.replaceChildren(...yours(one));
        else if (!one.decisions.length && !one.solved) said.textContent = "";
        if (one.distances[k] === -1) said.append(make("strong", { class: "dead" }, "Deadlocked: no actions whatever solve it from here."));
      });
      find("on").disabled = !now.lanes[0].hand || now.lanes[0].solved;
    }

    function yours(one) {
      const left = `${data.budget - seen(one)} of ${data.budget} observations are left.`, far = one.distances.at(-1);
      return [make("b", {}, one.solved ? "Solved by hand." : "Your move."), ` ${left}${far >= 0 ? ` Distance ${far}.` : ""}`];
    }

    function build() {
      const [left, right] = root.querySelectorAll(".pane"), pick = make("select", { "aria-label": "Fixed depth" });
      for (let h = 1; h <= deepest; h++) pick.append(make("option", { value: h }, `always ${h} action${h > 1 ? "s" : ""}`));
      pick.value = now.fixed;
      pick.addEventListener("change", () => fix(Number(pick.value)));
      PANE.build(left, make("b", {}, "its own depths"));
      PANE.build(right, pick);
      find("number").addEventListener("change", (event) => choose(Number(event.target.value)));
      find("previous").addEventListener("click", () => choose(now.number - 1));
      find("next").addEventListener("click", () => choose(now.number + 1));
      root.querySelectorAll("[data-action]").forEach((button) => button.addEventListener("click", () => move(Number(button.dataset.action))));
      find("on").addEventListener("click", on);
      find("take").addEventListener("click", paste);
    }

    const { go, step, back, jump, play, longest, slide, keys } = PLAYBACK(root, now, { shown, draw });
    const arrows = Object.fromEntries(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].map((key, action) => [key, () => move(action)]));
    const depths = Object.fromEntries([..."123456789"].slice(0, deepest).map((digit) => [digit, () => fix(Number(digit))]));
    keys({ ...arrows, ...depths, " ": play, s: step, b: back, n: () => choose(now.number + 1), p: () => choose(now.number - 1), g: on }, {});
    build();
    choose(now.number);
  }

  return match;
})();
