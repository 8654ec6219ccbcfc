PUZZLES.sliding = {
  move(cells, rows, cols, action) {
    const blank = cells.indexOf(0), other = GRID.beside(blank, rows, cols, action, 1);
    if (other < 0) return cells;
    const moved = cells.slice();
    moved[blank] = cells[other];
    moved[other] = 0;
    return moved;
  },

  solved(cells) {
    return cells.every((code, at) => code === (at + 1) % cells.length);
  },

  draw({ add, rect, says }, rows, cols, cells) {
    rect(0, 0, 10 * cols, 10 * rows, "--board", { rx: 1 });
    cells.forEach((code, at) => {
      const x = 10 * (at % cols) + .4, y = 10 * Math.floor(at / cols) + .4;
      rect(x, y, 9.2, 9.2, code ? "--tile-edge" : "--hole", { rx: 1.2 });
      if (!code) return;
      rect(x, y, 9.2, 8.6, "--tile", { rx: 1.2 });
      add("text", { x: x + 4.6, y: y + 6.3, "text-anchor": "middle", "font-size": code > 9 ? 4.6 : 5.6, "font-weight": 700,
        "font-family": "system-ui, sans-serif", style: { fill: "var(--tile-ink)" } }, String(code));
    });
    says(`tiles row by row, 0 is the blank: ${cells.join(" ")}`);
  },
};
