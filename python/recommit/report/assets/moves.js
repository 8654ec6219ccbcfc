// The rules of the puzzles, as the core has them: an action that is blocked changes nothing.
const MOVES = (() => {
  "use strict";
  const UP_DOWN_LEFT_RIGHT = [[-1, 0], [1, 0], [0, -1], [0, 1]];
  const FLOOR = 0, WALL = 1, GOAL = 2, BOX = 3, BOX_ON_GOAL = 4, PLAYER = 5, PLAYER_ON_GOAL = 6;
  const onGoal = (code) => code === GOAL || code === BOX_ON_GOAL || code === PLAYER_ON_GOAL;
  const isBox = (code) => code === BOX || code === BOX_ON_GOAL;

  function beside(at, rows, cols, action, far) {
    const [down, right] = UP_DOWN_LEFT_RIGHT[action];
    const row = Math.floor(at / cols) + far * down, col = (at % cols) + far * right;
    return row < 0 || row >= rows || col < 0 || col >= cols ? -1 : row * cols + col;
  }

  function sliding(cells, rows, cols, action) {
    const blank = cells.indexOf(0), other = beside(blank, rows, cols, action, 1);
    if (other < 0) return cells;
    const moved = cells.slice();
    moved[blank] = cells[other];
    moved[other] = 0;
    return moved;
  }

  function sokoban(cells, rows, cols, action) {
    const at = cells.findIndex((code) => code === PLAYER || code === PLAYER_ON_GOAL);
    const to = beside(at, rows, cols, action, 1);
    if (to < 0 || cells[to] === WALL) return cells;
    const moved = cells.slice();
    if (isBox(cells[to])) {
      const beyond = beside(at, rows, cols, action, 2);
      if (beyond < 0 || cells[beyond] === WALL || isBox(cells[beyond])) return cells;
      moved[beyond] = onGoal(cells[beyond]) ? BOX_ON_GOAL : BOX;
    }
    moved[to] = onGoal(cells[to]) ? PLAYER_ON_GOAL : PLAYER;
    moved[at] = onGoal(cells[at]) ? GOAL : FLOOR;
    return moved;
  }

  return { sliding, sokoban };
})();
