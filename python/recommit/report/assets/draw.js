// Elements and boards; the colours of the boards are those of the pictures that a policy sees.
const DRAW = (() => {
  "use strict";
  // Text is set as text and attributes as attributes: nothing of the data is ever parsed as HTML.
  function make(name, attributes = {}, ...children) {
    const drawn = ["svg", "rect", "circle", "line", "polyline", "path", "text", "g", "title"].includes(name);
    const element = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "style") for (const [word, v] of Object.entries(value)) element.style.setProperty(word, v);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  // A fill is a colour, or the name of one of the page's.
  const filled = (fill) => (fill.startsWith("--") ? `var(${fill})` : fill);

  // What a puzzle draws a board with: cells are ten units wide.
  function pen(rows, cols) {
    const svg = make("svg", { class: "board", viewBox: `0 0 ${10 * cols} ${10 * rows}`, role: "img" });
    return {
      svg,
      add: (name, attributes, ...children) => svg.append(make(name, attributes, ...children)),
      rect: (x, y, w, h, fill, more = {}) => svg.append(make("rect", { x, y, width: w, height: h, style: { fill: filled(fill) }, ...more })),
      disc: (x, y, r, fill, more = {}) => svg.append(make("circle", { cx: x, cy: y, r, style: { fill: filled(fill) }, ...more })),
      says: (text) => svg.setAttribute("aria-label", text),
    };
  }

  function board(puzzle, rows, cols, cells) {
    const drawn = pen(rows, cols);
    puzzle.draw(drawn, rows, cols, cells);
    return drawn.svg;
  }

  return { make, board };
})();
