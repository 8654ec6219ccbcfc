PUZZLES.sokoban = (() => {
  "use strict";
  const FLOOR = 0, WALL = 1, GOAL = 2, BOX = 3, BOX_ON_GOAL = 4, PLAYER = 5, PLAYER_ON_GOAL = 6;
  const onGoal = (code) => code === GOAL || code === BOX_ON_GOAL || code === PLAYER_ON_GOAL;
  const isBox = (code) => code === BOX || code === BOX_ON_GOAL;

  function move(cells, rows, cols, action) {
    const at = cells.findIndex((code) => code === PLAYER || code === PLAYER_ON_GOAL);
    const to = GRID.beside(at, rows, cols, action, 1);
    if (to < 0 || cells[to] === WALL) return cells;
    const moved = cells.slice();
    if (isBox(cells[to])) {
      const beyond = GRID.beside(at, rows, cols, action, 2);
      if (beyond < 0 || cells[beyond] === WALL || isBox(cells[beyond])) return cells;
      moved[beyond] = onGoal(cells[beyond]) ? BOX_ON_GOAL : BOX;
    }
    moved[to] = onGoal(cells[to]) ? PLAYER_ON_GOAL : PLAYER;
    moved[at] = onGoal(cells[at]) ? GOAL : FLOOR;
    return moved;
  }

  const solved = (cells) => !cells.includes(BOX);

  function draw({ add, rect, disc, says }, rows, cols, cells) {
    const counted = [0, 0];
    cells.forEach((code, at) => {
      const x = 10 * (at % cols), y = 10 * Math.floor(at / cols);
      rect(x, y, 10.05, 10.05, code === 1 ? "--wall" : "--floor");
      if (code === 1) {
        for (const [a, b, w, h] of [[0, 4.7, 10, .5], [0, 9.6, 10, .5], [4.7, 0, .5, 4.7], [9.5, 4.7, .5, 5]]) rect(x + a, y + b, w, h, "--joint");
        return;
      }
      rect(x + 9.8, y, .25, 10, "--grid");
      rect(x, y + 9.8, 10, .25, "--grid");
      if (code === 2 || code === 6) {
        disc(x + 5, y + 5, code === 6 ? 4.2 : 2.9, "", { style: { fill: "none", stroke: "var(--goal)", "stroke-width": "1" } });
        if (code === 2) disc(x + 5, y + 5, 1.1, "--goal");
      }
      if (code === 3 || code === 4) {
        counted[code - 3] += 1;
        const mark = code === 4 ? "M2.9 5.2 4.4 6.8 7.2 3.2" : "M2.4 2.4 7.6 7.6M7.6 2.4 2.4 7.6";
        const frame = code === 4 ? "--done-frame" : "--frame";
        rect(x + .9, y + .9, 8.2, 8.2, frame, { rx: .6 });
        rect(x + 1.8, y + 1.8, 6.4, 6.4, code === 4 ? "--done" : "--crate");
        add("path", { d: mark, transform: `translate(${x} ${y})`, style: { fill: "none", stroke: code === 4 ? "#fff" : `var(${frame})`, "stroke-width": "1" } });
      }
      if (code === 5 || code === 6) {
        rect(x + 2.4, y + 5, 5.2, 3.7, "--body", { rx: 1.7 });
        disc(x + 5, y + 3.8, 2.2, "--face");
        rect(x + 2.8, y + 1.3, 4.4, 1.6, "--body", { rx: .7 });
      }
    });
    says(`${rows} by ${cols} cells, ${counted[1]} of ${counted[0] + counted[1]} boxes on goals`);
  }

  return { move, solved, draw };
})();
