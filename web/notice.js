// One line at the top of the page for what went wrong or is still going on.

import { byId, el, quoted } from "./dom.js";

export function notify(text, { progress = null } = {}) {
  const box = byId("notice");
  box.replaceChildren(
    el("span", {}, ...quoted(text)),
    progress === null
      ? el("button", {
          type: "button",
          "aria-label": "Close",
          text: "×",
          on: {
            click: () => {
              box.hidden = true;
            },
          },
        })
      : el("progress", { max: 1, value: progress, "aria-label": text }),
  );
  box.hidden = false;
}

export function quiet() {
  byId("notice").hidden = true;
}
