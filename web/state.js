// What the page shows, in one place.  Parts of the page change it with set() and hear of changes with on(); none of
// them calls another.

export const state = {
  meta: null, // what is open
  summary: null, // the answer
  tracks: null, // what the timeline has
  tab: "answer",
  from: null,
  to: null, // the time on the screen, in ps; null: everything
  selection: null, // {track, item}, or {from, to} for a span
  place: null, // of the selected item, once it is known
  detail: null, // all about the selected item
  query: "",
  regex: false,
  found: null, // the answer to the query
  gapFilter: null, // {device, cause}: the gaps that a click on the answer asks for
  folded: new Map(), // by the index of a group: true or false, where the user changed it
};

const listeners = new Map();

/** Calls listen() after any of the keys changed. */
export function on(keys, listen) {
  for (const key of keys.split(" ")) {
    if (!listeners.has(key)) listeners.set(key, new Set());
    listeners.get(key).add(listen);
  }
}

export function set(change) {
  const calls = new Set();
  for (const [key, value] of Object.entries(change)) {
    if (state[key] === value) continue;
    state[key] = value;
    listeners.get(key)?.forEach((listen) => calls.add(listen));
  }
  calls.forEach((listen) => listen());
}

export const limits = () => ({
  from: state.meta?.from_ps ?? 0,
  to: Math.max(state.meta?.to_ps ?? 0, (state.meta?.from_ps ?? 0) + 1),
});

/** Shows a place on the timeline, with some of what is around it, and selects it. */
export function goTo(place, around = 0.35) {
  const room = Math.max(place.dur_ps, 1000) * around;
  set({
    tab: "timeline",
    from: place.start_ps - room,
    to: place.start_ps + Math.max(place.dur_ps, 1000) + room,
    selection: { track: place.track, item: place.item },
  });
}

/** Brings a place into sight without changing how much is shown, unless it is far too small or large for that. */
export function moveTo(place) {
  const { from, to } = { ...limits(), ...(state.from === null ? {} : { from: state.from, to: state.to }) };
  const span = to - from;
  if (place.dur_ps > span || place.dur_ps < span / 400) {
    goTo(place, 1.5);
    return;
  }
  const inside = place.start_ps >= from && place.start_ps + place.dur_ps <= to;
  const start = inside ? from : place.start_ps + place.dur_ps / 2 - span / 2;
  set({ tab: "timeline", from: start, to: start + span, selection: { track: place.track, item: place.item } });
}
