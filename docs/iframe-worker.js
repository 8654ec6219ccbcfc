/* Pages that are opened as files have no workers, and without one there is no search: a hidden frame stands in. */
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame.contentWindow;
      const inside = this.frame.document;
      inside.open();
      inside.write(`<!doctype html><body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, src) => before.then(() => new Promise((loaded) => {
          document.body.append(Object.assign(document.createElement("script"), { src, onload: loaded }));
        })), Promise.resolve());
      <\/script><script src="${url}"><\/script>`);
      inside.close();
      this.loaded = new Promise((loaded) => { this.frame.onload = loaded; });
      addEventListener("message", ({ source, data }) => {
        if (source === this.frame) this.dispatchEvent(new MessageEvent("message", { data }));
      });
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }
  };
}
