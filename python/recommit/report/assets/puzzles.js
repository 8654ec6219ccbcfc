// One object per puzzle, from the files of the folder puzzles: `move` has the rules of the core (an action that is
// blocked changes nothing), `solved` says whether a board is a goal, `draw` draws a board with the pen of draw.js.
const PUZZLES = {};
const GRID = (() => {
  "use strict";
  const UP_DOWN_LEFT_RIGHT = [[-1, 0], [1, 0], [0, -1], [0, 1]];

  function beside(at, rows, cols, action, far) {
    const [down, right] = UP_DOWN_LEFT_RIGHT[action];
    const row = Math.floor(at / cols) + far * down, col = (at % cols) + far * right;
    return row < 0 || row >= rows || col < 0 || col >= cols ? -1 : row * cols + col;
  }

  return { beside };
})();
