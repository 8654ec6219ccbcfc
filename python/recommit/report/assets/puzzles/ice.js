PUZZLES.ice = (() => {
  "use strict";
  const ICE = 0, ROCK = 1, GOAL = 2, PLAYER = 3, PLAYER_ON_GOAL = 4;
  const onGoal = (code) => code === GOAL || code === PLAYER_ON_GOAL;
  const hasPlayer = (code) => code === PLAYER || code === PLAYER_ON_GOAL;

  function move(cells, rows, cols, action) {
    const at = cells.findIndex(hasPlayer);
    let to = at;
    for (let next = at; next >= 0 && cells[next] !== ROCK; next = GRID.beside(to, rows, cols, action, 1)) to = next;
    if (to === at) return cells;
    const moved = cells.slice();
    moved[at] = onGoal(cells[at]) ? GOAL : ICE;
    moved[to] = onGoal(cells[to]) ? PLAYER_ON_GOAL : PLAYER;
    return moved;
  }

  const solved = (cells) => cells.includes(PLAYER_ON_GOAL);

  const COLORS = {
    ice: "light-dark(#d8ecf8, #1a2c3e)", line: "light-dark(#c4deee, #22374c)", rock: "light-dark(#526076, #464e5c)",
    face: "light-dark(#7a8aa0, #687282)", flag: "light-dark(#dc3042, #ff5468)", pole: "light-dark(#544a46, #cebeb2)",
    coat: "light-dark(#222a42, #96acce)", belly: "#ffffff", beak: "light-dark(#f49820, #ffb040)", pupil: "#222a42",
  };

  function draw({ add, rect, disc, says }, rows, cols, cells) {
    const shape = (points, fill) => add("path", { d: points, style: { fill } });
    cells.forEach((code, at) => {
      const x = 10 * (at % cols), y = 10 * Math.floor(at / cols);
      rect(x, y, 10.05, 10.05, code === ROCK ? COLORS.rock : COLORS.ice);
      if (code === ROCK) {
        shape(`M${x + .9} ${y + 3.8}l2.1-2.9 4.2-.2 2 2.6-1.2 3.7-6.1.2z`, COLORS.face);
        return;
      }
      rect(x + 9.8, y, .25, 10, COLORS.line);
      rect(x, y + 9.8, 10, .25, COLORS.line);
      if (code === GOAL) {
        rect(x + 3.5, y + 1.5, .8, 7.2, COLORS.pole);
        shape(`M${x + 4.3} ${y + 1.3}l4.5 1.8-4.5 1.9z`, COLORS.flag);
      }
      if (!hasPlayer(code)) return;
      if (code === PLAYER_ON_GOAL) {
        rect(x + .6, y + .6, 8.6, 8.6, "none", { rx: 1.8, style: { fill: "none", stroke: COLORS.flag, "stroke-width": "1" } });
      }
      rect(x + 2.4, y + 1.1, 5.3, 7.7, COLORS.coat, { rx: 2.6 });
      disc(x + 5, y + 6.4, 1.9, COLORS.belly);
      for (const side of [-1, 1]) {
        disc(x + 5 + .85 * side, y + 3, .85, COLORS.belly);
        disc(x + 5 + .65 * side, y + 3.1, .4, COLORS.pupil);
      }
      shape(`M${x + 4.2} ${y + 3.9}h1.7l-.9 1z`, COLORS.beak);
    });
    const at = cells.findIndex(hasPlayer), goal = cells.findIndex(onGoal);
    const place = (cell) => `row ${Math.floor(cell / cols) + 1}, column ${cell % cols + 1}`;
    says(`${rows} by ${cols} cells, the player at ${place(at)}, the goal at ${place(goal)}`);
  }

  return { move, solved, draw };
})();
