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

  function board(task, rows, cols, cells) {
    const svg = make("svg", { class: "board", viewBox: `0 0 ${10 * cols} ${10 * rows}`, role: "img" });
    const rect = (x, y, w, h, fill, more = {}) => svg.append(make("rect", { x, y, width: w, height: h, style: { fill: `var(${fill})` }, ...more }));
    const disc = (x, y, r, fill, more = {}) => svg.append(make("circle", { cx: x, cy: y, r, style: { fill: fill && `var(${fill})` }, ...more }));
    if (task === "sliding") {
      rect(0, 0, 10 * cols, 10 * rows, "--board", { rx: 1 });
      cells.forEach((code, at) => {
        const x = 10 * (at % cols) + .4, y = 10 * Math.floor(at / cols) + .4;
        rect(x, y, 9.2, 9.2, code ? "--tile-edge" : "--hole", { rx: 1.2 });
        if (!code) return;
        rect(x, y, 9.2, 8.6, "--tile", { rx: 1.2 });
        svg.append(make("text", { x: x + 4.6, y: y + 6.3, "text-anchor": "middle", "font-size": code > 9 ? 4.6 : 5.6, "font-weight": 700,
          "font-family": "system-ui, sans-serif", style: { fill: "var(--tile-ink)" } }, String(code)));
      });
      svg.setAttribute("aria-label", `tiles row by row, 0 is the blank: ${cells.join(" ")}`);
      return svg;
    }
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
        svg.append(make("path", { d: mark, transform: `translate(${x} ${y})`, style: { fill: "none", stroke: code === 4 ? "#fff" : `var(${frame})`, "stroke-width": "1" } }));
      }
      if (code === 5 || code === 6) {
        rect(x + 2.4, y + 5, 5.2, 3.7, "--body", { rx: 1.7 });
        disc(x + 5, y + 3.8, 2.2, "--face");
        rect(x + 2.8, y + 1.3, 4.4, 1.6, "--body", { rx: .7 });
      }
    });
    svg.setAttribute("aria-label", `${rows} by ${cols} cells, ${counted[1]} of ${counted[0] + counted[1]} boxes on goals`);
    return svg;
  }

  return { make, board };
})();
