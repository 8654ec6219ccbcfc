// How episodes beside each other are gone through, one commitment at a time: with buttons, with keys, or by themselves.
// `now` says where: k commitments are over, and sub actions of the next one; `shown` gives the episodes.
const PLAYBACK = (() => {
  "use strict";
  const find = (id) => document.getElementById(id);

  function playback(root, now, { shown, draw, note = () => {} }) {
    const longest = () => Math.max(...shown().map((one) => one.decisions.length));
    const longestAt = (k) => Math.max(...shown().map((one) => one.decisions[k]?.executed || 0));
    const step = () => go(now.k + 1), back = () => go(now.sub ? now.k : now.k - 1);

    function go(k, sub = 0) {
      pause();
      now.k = k;
      now.sub = sub;
      draw();
      note();
    }

    // A block of the strip was clicked, which is drawn anew.
    function jump(k) {
      go(k);
      root.focus({ preventScroll: true });
    }

    function pause() {
      clearTimeout(now.timer);
      now.timer = 0;
      find("play").textContent = "Play";
    }

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

    // The slider, and where it stands.
    function slide() {
      const steps = longest(), slider = find("turn");
      now.k = Math.min(Math.max(now.k, 0), steps);
      slider.max = steps;
      slider.value = now.k;
      slider.setAttribute("aria-valuetext", find("turn-said").textContent = `${now.k} of ${steps}`);
      return steps;
    }

    // What keys do; the `focused` scroll a page or are typed, so that they count only where the viewer has the focus.
    function keys(orders, focused) {
      function obey(event, known) {
        if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(known, event.key)) return;
        event.preventDefault();
        known[event.key]();
      }
      root.addEventListener("keydown", (event) => {
        const own = ["SELECT", "INPUT", "TEXTAREA"].includes(event.target.tagName), press = [" ", "Enter"].includes(event.key);
        if (own || (press && ["BUTTON", "SUMMARY"].includes(event.target.tagName))) return;
        obey(event, { ...orders, ...focused });
      });
      // Nothing has the focus, and the viewer is on the screen: its keys work without a click.
      document.addEventListener("keydown", (event) => {
        const box = root.getBoundingClientRect(), seen = box.bottom > 120 && box.top < innerHeight - 120;
        if (seen && [document.body, document.documentElement].includes(event.target)) obey(event, orders);
      });
    }

    find("play").addEventListener("click", play);
    find("back").addEventListener("click", back);
    find("step").addEventListener("click", step);
    find("turn").addEventListener("input", (event) => go(Number(event.target.value)));
    addEventListener("resize", draw);
    return { go, step, back, jump, pause, play, longest, slide, keys };
  }

  return playback;
})();
