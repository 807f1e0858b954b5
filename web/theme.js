// Light or dark, and the colours of the style sheet as the canvas needs them.

import { byId } from "./dom.js";

const listeners = new Set();
let colours = null;

/** The colours of kinds and of the page, as "rgb(..)"; asked for again after the theme changed. */
export function palette(kinds) {
  if (colours) return colours;
  const probe = document.createElement("span");
  document.body.append(probe);
  const find = (name, otherwise) => {
    probe.style.color = "";
    probe.style.color = `var(--${name}, var(--${otherwise}))`;
    return getComputedStyle(probe).color;
  };
  colours = { kinds: kinds.map((kind) => find(kind.key, "work")) };
  for (const name of ["page", "panel", "line", "text", "soft", "accent", "work", "work-edge", "unknown"]) {
    colours[name] = find(name, "text");
  }
  colours.ink = colours.kinds.map(inkOn);
  colours.pale = colours.kinds.map((colour) => mix(colour, colours.page, 0.38));
  probe.remove();
  return colours;
}

function parts(colour) {
  return colour
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);
}

export function mix(one, two, share) {
  const [a, b] = [parts(one), parts(two)];
  return `rgb(${a.map((v, i) => Math.round(v * share + b[i] * (1 - share))).join(" ")})`;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn(colour) {
  const [r, g, b] = parts(colour).map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#000000" : "#ffffff";
}

export function onTheme(listen) {
  listeners.add(listen);
}

function changed() {
  colours = null;
  listeners.forEach((listen) => listen());
}

/** The theme that was chosen before; browsers may forbid to keep it. */
const kept = {
  get: () => {
    try {
      return localStorage.getItem("xlaprof-theme");
    } catch {
      return null;
    }
  },
  set: (theme) => {
    try {
      localStorage.setItem("xlaprof-theme", theme);
    } catch {
      // then the choice lasts as long as the page
    }
  },
};

export function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    const now = theme ?? (dark.matches ? "dark" : "light");
    byId("theme").setAttribute("aria-label", now === "dark" ? "Use light colours" : "Use dark colours");
    changed();
    return now;
  };
  let now = apply(kept.get());
  byId("theme").addEventListener("click", () => {
    now = apply(now === "dark" ? "light" : "dark");
    kept.set(now);
  });
  dark.addEventListener("change", () => {
    now = apply(kept.get());
  });
}
