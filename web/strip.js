// Steps side by side: a column for each, as tall as the step is long; the lower part is the device work it launched.
// Where there are more steps than pixels, a column is the longest of some that follow each other.

import { el, svg } from "./dom.js";
import { things, time } from "./format.js";

const MOST = 300,
  HEIGHT = 72;

function columnsOf(steps) {
  const n = Math.min(MOST, steps.length),
    made = [];
  for (let k = 0; k < n; k++) {
    const some = steps.slice(Math.floor((k * steps.length) / n), Math.floor(((k + 1) * steps.length) / n));
    made.push(some.reduce((longest, step) => (step.dur_ps > longest.dur_ps ? step : longest)));
  }
  return made;
}

/** go(step) is called for the one that is clicked. */
export function strip(title, steps, go) {
  const columns = columnsOf(steps),
    longest = Math.max(1, ...columns.map((step) => step.dur_ps)),
    room = Math.min(8, 100 / columns.length);
  const bar = (step, k) => {
    const height = (100 * step.dur_ps) / longest,
      busy = (100 * Math.min(step.busy_ps ?? 0, step.dur_ps)) / longest;
    const rect = (kind, tall) =>
      svg("rect", {
        class: kind,
        x: `${k * room}%`,
        width: `${room * 0.86}%`,
        y: `${100 - tall}%`,
        height: `${tall}%`,
      });
    return svg(
      "g",
      { on: { click: () => go(step) } },
      svg("title", {
        text: `${step.name}${step.num === null ? "" : ` ${step.num}`}: ${time(step.dur_ps)}, busy ${time(step.busy_ps)}${step.complete ? "" : ", cut by the session"}`,
      }),
      svg("rect", { class: "all", x: `${k * room}%`, width: `${room}%`, y: 0, height: "100%" }),
      rect(step.complete ? "step" : "step cut", height),
      rect("busy", busy),
    );
  };
  return el(
    "figure",
    { class: "strip" },
    el(
      "figcaption",
      {},
      el("b", { text: title }),
      el("span", {
        class: "soft",
        text: ` ${things(steps.length, "step")}, the longest ${time(longest)}; lower part: device work that the step launched`,
      }),
    ),
    svg("svg", { height: HEIGHT, role: "img", "aria-label": `Lengths of the steps ${title}` }, ...columns.map(bar)),
  );
}
