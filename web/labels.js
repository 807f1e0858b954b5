// The names at the left of the timeline: headings of groups, which fold, and tracks.

import { el } from "./dom.js";
import { count } from "./format.js";
import { set, state } from "./state.js";

function toggle(index, folded) {
  set({ folded: new Map(state.folded).set(index, !folded) });
}

function heading({ group, index, y, folded }, hosts) {
  const where = hosts > 1 ? ` of ${group.host}` : "",
    inside = folded ? `, ${count(group.tracks.length)} tracks` : "";
  return el(
    "button",
    {
      class: "group",
      type: "button",
      style: { top: `${y}px` },
      "aria-expanded": String(!folded),
      title: `${group.name}${where}`,
      on: { click: () => toggle(index, folded) },
    },
    el("span", { class: "fold", "aria-hidden": "true", text: folded ? "▸" : "▾" }),
    `${group.name}${where}${inside}`,
  );
}

function trackLabel({ track, y, row, rows }) {
  return el("div", {
    class: `track ${track.kind}`,
    style: { top: `${y}px`, height: `${row * rows}px` },
    title: `${track.name}: ${count(track.items)} items`,
    text: track.name,
  });
}

/** Replaces the labels by those of a layout. */
export function fillLabels(box, layout) {
  const focused = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(
    ...layout.groups.map((group) => heading(group, state.meta.hosts.length)),
    ...layout.bands.map(trackLabel),
  );
  if (focused >= 0) box.children[focused]?.focus();
}
