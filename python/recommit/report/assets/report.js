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

  function tips() {
    const tip = find("tip");
    const show = (holder) => {
      const box = holder.getBoundingClientRect();
      tip.textContent = holder.dataset.tip;
      tip.hidden = false;
      const left = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 8);
      const above = box.top - tip.offsetHeight - 8;
      tip.style.left = `${left}px`;
      tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
    };
    for (const title of document.querySelectorAll("svg.figure g > title")) {
      const holder = title.parentElement;
      holder.dataset.tip = title.textContent;
      title.remove(); // the browser would show it a second time
      for (const event of ["pointerenter", "focus"]) holder.addEventListener(event, () => show(holder));
      for (const event of ["pointerleave", "blur"]) holder.addEventListener(event, () => { tip.hidden = true; });
    }
    addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  }

  themes();
  tips();
  VIEWER(JSON.parse(find("packed").textContent));
})();
