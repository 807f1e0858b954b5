// The keys.  One table, from which the list behind `?` is made, too.

import { json } from "./api.js";
import { byId, el } from "./dom.js";
import { moveTo, goTo, set, state } from "./state.js";
import { step, stepGap } from "./search.js";
import { panBy, showAll, sumScreen, zoomBy } from "./timeline.js";

function fitSelection() {
  if (state.place) goTo(state.place);
  else if (state.selection && "from" in state.selection) set({ from: state.selection.from, to: state.selection.to });
}

async function beside(dir) {
  if (!state.place) return;
  const { place } = await json("next", { track: state.place.track, at: state.place.start_ps, dir });
  if (place) moveTo(place);
}

function outwards() {
  const parent = state.detail?.parents?.[0];
  if (parent) moveTo(parent.place);
}

/** The next tab, or the one before. */
function turnTab(by) {
  const tabs = [...document.querySelectorAll("#tabs [role=tab]")],
    now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  tabs[(now + by + tabs.length) % tabs.length].click();
}

const TIMELINE = "on the timeline",
  EVERYWHERE = "everywhere";
const KEYS = [
  ["w", "Zoom in", TIMELINE, () => zoomBy(1 / 1.4)],
  ["s", "Zoom out", TIMELINE, () => zoomBy(1.4)],
  ["a", "Pan to the left", TIMELINE, () => panBy(-0.12)],
  ["d", "Pan to the right", TIMELINE, () => panBy(0.12)],
  ["0", "Show everything", TIMELINE, showAll],
  ["f", "Fit the selection", TIMELINE, fitSelection],
  ["ArrowRight", "The next event of the same track", TIMELINE, () => beside("next")],
  ["ArrowLeft", "The event before it", TIMELINE, () => beside("prev")],
  ["u", "The event around the selected one", TIMELINE, outwards],
  ["t", "Sums of what is on the screen", TIMELINE, sumScreen],
  ["n", "The next match of the search; the next gap where nothing is searched", EVERYWHERE, () => step(true)],
  ["p", "The one before", EVERYWHERE, () => step(false)],
  ["]", "The next gap", EVERYWHERE, () => stepGap(true)],
  ["[", "The gap before", EVERYWHERE, () => stepGap(false)],
  ["/", "Search all events", EVERYWHERE, () => byId("query").focus()],
  [".", "The next tab", EVERYWHERE, () => turnTab(1)],
  [",", "The tab before", EVERYWHERE, () => turnTab(-1)],
  [
    "Escape",
    "Let go of the selection, or of the search",
    EVERYWHERE,
    () => set(state.selection ? { selection: null } : { query: "", found: null }),
  ],
  ["?", "This list", EVERYWHERE, () => byId("keys").showModal()],
];
const NAMES = { ArrowRight: "→", ArrowLeft: "←", Escape: "Esc" };
const MOUSE = [
  ["wheel", "Zoom; with Shift pan"],
  ["drag", "Pan"],
  ["Shift drag", "Select a span, for its sums"],
  ["click", "Select an event or a gap"],
  ["double click", "Fit it"],
];

function fillHelp() {
  const list = (rows) =>
    el(
      "dl",
      { class: "key-list" },
      ...rows.flatMap(([key, text]) => [el("dt", {}, el("kbd", { text: NAMES[key] ?? key })), el("dd", { text })]),
    );
  byId("keys").replaceChildren(
    el("h2", { id: "keys-title", text: "Keys" }),
    el(
      "div",
      { class: "columns" },
      el(
        "section",
        {},
        el("h3", { text: "On the timeline" }),
        list(KEYS.filter(([, , where]) => where === TIMELINE)),
        list(MOUSE),
      ),
      el("section", {}, el("h3", { text: "Everywhere" }), list(KEYS.filter(([, , where]) => where === EVERYWHERE))),
    ),
    el("form", { method: "dialog" }, el("button", { text: "Close" })),
  );
}

export function startKeys() {
  fillHelp();
  byId("help").addEventListener("click", () => byId("keys").showModal());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    const target = event.target,
      typing = target.matches?.("input:not([type=checkbox]), select, textarea");
    if (typing) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = KEYS.find(([name, , where]) => name === key && (where === EVERYWHERE || state.tab === "timeline"));
    if (!found || (key.startsWith("Arrow") && target.closest?.("[role=tablist]"))) return;
    event.preventDefault();
    Promise.resolve(found[3]()).catch(() => {});
  });
}
