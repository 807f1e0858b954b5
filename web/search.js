// Searching all events by name; n and p step through what was found, or through gaps where nothing is searched.

import { json } from "./api.js";
import { byId } from "./dom.js";
import { count } from "./format.js";
import { notify } from "./notice.js";
import { limits, moveTo, on, set, state } from "./state.js";

let asked = 0;

async function find() {
  const mine = ++asked,
    text = state.query;
  if (!text || !state.tracks) {
    set({ found: null });
    return null;
  }
  try {
    const found = await json("search", { q: text, mode: state.regex ? "regex" : "text", limit: 1 });
    if (mine === asked) set({ found });
  } catch (problem) {
    if (mine === asked) set({ found: { id: null, total: 0, problem: problem.message } });
  }
  return state.found;
}

function tell() {
  const found = state.found,
    several = Boolean(found?.total);
  byId("found").textContent = !found
    ? ""
    : found.problem
      ? found.problem
      : found.total === 0
        ? "no event"
        : `${count(found.total)} ${found.total === 1 ? "event" : "events"}`;
  byId("found").title = byId("found").textContent;
  byId("found").classList.toggle("none", Boolean(found) && found.total === 0);
  byId("match-next").hidden = byId("match-prev").hidden = !several;
}

/** Where to go on from: what is selected, else the edge of the screen. */
function origin(forward) {
  if (state.place) return state.place.start_ps;
  return forward ? (state.from ?? limits().from) - 1 : (state.to ?? limits().to);
}

export async function stepMatch(forward) {
  if (!state.found?.total) return;
  const base = { id: state.found.id, limit: 1 };
  try {
    const next = await json("search", { ...base, at: Math.round(origin(forward)), dir: forward ? "next" : "prev" });
    const match =
      next.matches[0] ??
      (await json("search", forward ? base : { ...base, at: Math.round(limits().to) + 1, dir: "prev" })).matches[0];
    if (match) moveTo(match.place); // around the end
  } catch (problem) {
    notify(problem.message);
  }
}

/** The next gap of the device that is looked at; of the first one if none is. */
export async function stepGap(forward) {
  const tracks = state.tracks?.tracks ?? [];
  const device = tracks.find((track) => track.id === state.selection?.track)?.device;
  const track = tracks.find(
    (each) =>
      each.kind === "gaps" && each.items > 0 && (device === null || device === undefined || each.device === device),
  );
  if (!track) return;
  const onTrack = state.place?.track === track.id;
  const at =
    onTrack || state.place
      ? state.place.start_ps
      : forward
        ? (state.from ?? limits().from) - 1
        : (state.to ?? limits().to);
  const { place } = await json("next", { track: track.id, at: Math.round(at), dir: forward ? "next" : "prev" });
  if (place) moveTo(place);
}

export const step = (forward) => (state.found?.total ? stepMatch(forward) : stepGap(forward));

/** Searches for a text as if it were typed, and goes to its first event. */
export async function searchFor(text, regex = false) {
  set({ query: text, regex, selection: null, tab: "timeline" });
  await find();
  stepMatch(true);
}

export function startSearch() {
  const input = byId("query"),
    regex = byId("regex");
  let timer = null;
  const typed = () => {
    clearTimeout(timer);
    set({ query: input.value, regex: regex.checked });
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(typed, 250);
  });
  regex.addEventListener("change", typed);
  byId("search").addEventListener("submit", async (event) => {
    event.preventDefault();
    typed();
    await find();
    if (state.found?.total) {
      set({ tab: "timeline" });
      stepMatch(true);
    }
  });
  byId("match-next").addEventListener("click", () => stepMatch(true));
  byId("match-prev").addEventListener("click", () => stepMatch(false));
  on("query regex", () => {
    if (document.activeElement !== input) input.value = state.query;
    regex.checked = state.regex;
  });
  on("query regex tracks", find);
  on("found", tell);
  input.value = state.query;
  regex.checked = state.regex;
}
