(() => {
  "use strict";
  const find = (id) => document.getElementById(id);

  function remembered(key, value) {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* a page from a disk may have no storage */ }
    return null;
  }

  function themes() {
    const names = { "": "as the system", light: "light", dark: "dark" }, order = ["", "light", "dark"];
    const button = find("theme");
    let now = remembered("recommit-theme") || "";
    const show = () => {
      if (now) document.documentElement.dataset.theme = now;
      else delete document.documentElement.dataset.theme;
      button.textContent = `Colours: ${names[now] || names[""]}`;
    };
    button.addEventListener("click", () => {
      now = order[(order.indexOf(now) + 1) % order.length];
      remembered("recommit-theme", now);
      show();
    });
    show();
  }

  themes();
  VIEWER(JSON.parse(find("packed").textContent));
})();
