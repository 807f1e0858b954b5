// The page: waits until the server has read the capture, shows the answer as soon as there is one, then the rest.

import { json } from "./api.js";
import { answer } from "./answer.js";
import { detailsPanel } from "./details.js";
import { byId, el, quoted } from "./dom.js";
import { share } from "./format.js";
import { counters } from "./counters-table.js";
import { gaps } from "./gaps-table.js";
import { health } from "./health-table.js";
import { names } from "./names-table.js";
import { ops } from "./ops-table.js";
import { steps } from "./steps-table.js";
import { startKeys } from "./keys.js";
import { notify, quiet } from "./notice.js";
import { startSearch } from "./search.js";
import { on, set, state } from "./state.js";
import { startTheme } from "./theme.js";
import { screen, timeline } from "./timeline.js";
import { follow } from "./url.js";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function goToTrack(track) {
  const { from_ps: from, to_ps: to } = state.meta;
  set({ tab: "timeline", from, to });
  json("next", { track: track.id, at: track.first_ps - 1, dir: "next" }).then(
    ({ place }) => place && set({ selection: { track: place.track, item: place.item } }),
    (problem) => notify(problem.message),
  );
}

// A tab is made when it is first looked at; the first two are there from the start.
const TABS = [
  { id: "answer", title: "Answer", make: (box) => box.append(answer()), early: true },
  { id: "timeline", title: "Timeline", make: (box) => box.append(timeline(detailsPanel(screen))), early: true },
  { id: "steps", title: "Steps", make: steps },
  { id: "gaps", title: "Gaps", make: gaps },
  { id: "ops", title: "Operations", make: ops },
  { id: "names", title: "Names", make: names },
  { id: "counters", title: "Counters", make: counters },
  { id: "health", title: "Health", make: (box) => health(box, goToTrack) },
];

function makeTabs() {
  const turn = (event, k) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = TABS[(k + by + TABS.length) % TABS.length];
    set({ tab: next.id });
    next.button.focus();
  };
  TABS.forEach((tab, k) => {
    tab.box = el("section", {
      id: `view-${tab.id}`,
      role: "tabpanel",
      "aria-labelledby": `tab-${tab.id}`,
      class: "view",
      hidden: true,
    });
    tab.button = el("button", {
      id: `tab-${tab.id}`,
      role: "tab",
      type: "button",
      "aria-controls": tab.box.id,
      text: tab.title,
      on: { click: () => set({ tab: tab.id }), keydown: (event) => turn(event, k) },
    });
    byId("tabs").append(tab.button);
    byId("views").append(tab.box);
    if (tab.early) tab.make(tab.box);
  });
  on("tab summary", showTab);
  showTab();
}

function showTab() {
  for (const tab of TABS) {
    const chosen = tab.id === state.tab;
    tab.button.setAttribute("aria-selected", String(chosen));
    tab.button.tabIndex = chosen ? 0 : -1;
    tab.box.hidden = !chosen;
    if (chosen) tab.button.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (chosen && !tab.early && !tab.made && state.summary) fillTab(tab);
  }
}

async function fillTab(tab) {
  tab.made = true;
  tab.box.replaceChildren(el("p", { class: "soft", text: "One moment .." }));
  try {
    await tab.make(tab.box);
  } catch (problem) {
    tab.made = false; // a later look asks again
    tab.box.replaceChildren(el("p", { class: "empty" }, ...quoted(problem.message)));
  }
  tab.box.dataset.ready = "";
}

const DOING = {
  reading: "Reading the capture",
  analysing: "Looking for gaps and their causes",
  indexing: "Preparing the timeline",
};

function title(meta) {
  const name = meta.run ?? meta.path.split("/").filter(Boolean).pop() ?? "capture";
  byId("name").textContent = name;
  byId("name").title = meta.path;
  document.title = `${name} - xlaprof`;
}

/** Asks how far the server is until it has read all. */
async function waitUntilReady() {
  for (;;) {
    const meta = await json("meta");
    if (meta.state === "failed") throw new Error(meta.error);
    if (state.meta === null && (meta.state === "indexing" || meta.state === "ready")) {
      set({ meta });
      title(meta);
      set({ summary: await json("summary") });
      document.body.dataset.answer = "";
    }
    if (meta.state === "ready") {
      set({ meta });
      return;
    }
    notify(`${DOING[meta.state] ?? meta.state}, ${share(meta.done)}`, { progress: meta.done });
    await pause(50);
  }
}

async function start() {
  startTheme();
  follow(TABS.map((tab) => tab.id));
  makeTabs();
  startSearch();
  startKeys();
  try {
    await waitUntilReady();
    set({ tracks: await json("tracks") });
    quiet();
    if (state.meta.partial)
      notify(
        `The capture was read in part: ${state.meta.hosts
          .filter((host) => host.problem)
          .map((host) => `${host.path}: ${host.problem}`)
          .join("; ")}`,
      );
  } catch (problem) {
    quiet();
    const message =
      problem.status === 403
        ? "This address is not the one that `xlaprof view` printed: its token is missing or of another run. Open the address that it printed last."
        : problem.status === 0 && !state.tracks
          ? "The server ended before it had read the capture. The terminal in which `xlaprof view` ran says why."
          : problem.message;
    TABS[0].box.replaceChildren(
      el(
        "div",
        { class: "answer" },
        el("p", { class: "verdict", text: "The capture cannot be shown" }),
        el("p", { class: "empty" }, ...quoted(message)),
      ),
    );
    document.body.dataset.failed = "";
    set({ tab: TABS[0].id });
  }
  document.body.dataset.ready = "";
}

start();
