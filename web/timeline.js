// The timeline: what is on the screen, drawn from the last answer of the server, while the next is on its way.

import { canvasColours, forgetColours } from "./colours.js";
import { el } from "./dom.js";
import { fillLabels } from "./labels.js";
import { arrange, rowAt, rowsBetween, rulerTrack } from "./layout.js";
import { minimap } from "./minimap.js";
import { paintOverlay } from "./overlay.js";
import { hit, paintBands } from "./paint.js";
import { followPointer } from "./pointer.js";
import { paintRuler, RULER, stepAt } from "./ruler.js";
import { last, loadScreen } from "./screens.js";
import { goTo, limits, on, set, state } from "./state.js";
import { onTheme } from "./theme.js";
import { showTip } from "./tip.js";
import * as viewport from "./viewport.js";

const NOTHING =
  "There are no events in this capture: nothing ran while it was traced, or the profiler recorded nothing. " +
  "Health says what is in it.";

const parts = {}; // elements
let layout = null,
  view = null,
  marked = null, // the span that is being marked
  scheduled = false;

// ---- drawing

function prepare(canvas, width, height) {
  const ratio = devicePixelRatio || 1,
    ctx = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

function draw() {
  scheduled = false;
  if (!view || !layout || parts.scroll.clientHeight === 0) return;
  const top = parts.scroll.scrollTop,
    height = parts.scroll.clientHeight,
    all = canvasColours();
  const ruler = prepare(parts.ruler, view.width, RULER),
    ctx = prepare(parts.canvas, view.width, height);
  const marks = paintRuler(ruler, {
    frame: last.frame,
    view,
    colours: all,
    track: rulerTrack(state.tracks),
    place: state.place,
  });
  if (!last.frame) return;
  ctx.translate(0, -top);
  paintBands(ctx, {
    layout,
    frame: last.frame,
    view,
    top,
    height,
    colours: all,
    searching: Boolean(state.found?.total),
  });
  paintOverlay(ctx, {
    layout,
    view,
    top,
    height,
    colours: all,
    marks,
    selection: marked ?? state.selection,
    place: state.place,
    detail: state.detail,
  });
}

export function redraw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
}

function screenNow() {
  const height = parts.scroll.clientHeight;
  return view && layout && height > 0 ? { view, layout, top: parts.scroll.scrollTop, height } : null;
}

function load() {
  loadScreen(screenNow, () => {
    parts.box.dataset.frame = last.count;
    redraw();
  });
}

// ---- changing the view

function show(next, quietly) {
  view = next;
  if (!quietly) set({ from: view.from, to: viewport.end(view) });
  hideTip();
  load();
  redraw();
}

export const zoomBy = (factor, x = view?.width / 2) => view && show(viewport.zoom(view, factor, x, limits()));
export const panBy = (share) => view && show(viewport.pan(view, share * view.width, limits()));
export const showAll = () => set({ from: null, to: null });

/** The span on the screen, and the rows of it. */
export function screen() {
  return (
    view && {
      from: Math.max(view.from, limits().from),
      to: Math.min(viewport.end(view), limits().to),
      tracks: rowsBetween(layout, parts.scroll.scrollTop, parts.scroll.scrollTop + parts.scroll.clientHeight),
    }
  );
}

function fitState() {
  const width = parts.canvasBox.clientWidth;
  if (!state.tracks || width < 20 || state.tab !== "timeline") return;
  if (view && view.width === width && state.from === view.from && state.to === viewport.end(view)) return;
  const { from, to } = state.from === null ? limits() : state;
  show(viewport.keepInside(viewport.fit(from, to, width), limits()), state.from === null);
}

function arrangeAgain() {
  if (!state.tracks) return;
  layout = arrange(state.tracks);
  parts.stage.style.height = `${layout.height}px`;
  fillLabels(parts.labels, layout);
  parts.nothing.hidden = layout.groups.length > 0;
  fitState();
  load();
  redraw();
}

/** Scrolls so that the selected row can be seen; unfolds its group. */
function reveal() {
  const band = state.place && layout?.bandOf.get(state.place.track);
  if (!band) {
    redraw();
    return;
  }
  if (band.rows === 0) set({ folded: new Map(state.folded).set(band.group, false) });
  const shown = layout.bandOf.get(state.place.track),
    y = shown.y + state.place.depth * shown.row,
    box = parts.scroll;
  if (y < box.scrollTop || y + shown.row > box.scrollTop + box.clientHeight)
    box.scrollTop = Math.max(0, y - box.clientHeight / 3);
  redraw();
}

// ---- pointing

function found(x, y) {
  const row = layout && last.frame && rowAt(layout, y + parts.scroll.scrollTop);
  return row ? hit(last.frame, view, row, x) : null;
}

function hideTip() {
  parts.tip.hidden = true;
}

function hover(x, y) {
  const item = x === null ? null : found(x, y);
  hideTip();
  parts.canvas.classList.toggle("over", Boolean(item));
  if (item) showTip(parts.tip, last.frame, item.index, { x, y, width: view.width, height: parts.scroll.clientHeight });
}

function click(x, y) {
  const item = found(x, y);
  set({ selection: item ? { track: item.track.id, item: last.frame.item[item.index] } : null });
  parts.canvas.focus({ preventScroll: true });
}

/** Only at its end a mark becomes the selection: the panel beside the timeline then takes some of the width. */
function mark(x0, x1, done) {
  const { from, to } = limits();
  const inside = (x) => Math.round(Math.min(to, Math.max(from, viewport.timeAt(view, x))));
  marked = { from: inside(x0), to: inside(x1) };
  if (done && marked.to > marked.from) set({ selection: marked });
  if (done) marked = null;
  redraw();
}

const pointer = {
  hover,
  click,
  mark,
  pan: (dx, dy) => {
    parts.scroll.scrollTop += dy;
    if (view && dx) show(viewport.pan(view, dx, limits()));
  },
  zoom: (factor, x) => view && show(viewport.zoom(view, factor, x, limits())),
  double: () => state.place && goTo(state.place),
};

// ---- the element

export function sumScreen() {
  const { from, to } = screen() ?? {};
  if (to > from) set({ selection: { from, to } });
}

function makeParts() {
  parts.ruler = el("canvas", { class: "ruler", "aria-hidden": "true" });
  parts.canvas = el("canvas", {
    class: "tracks",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": "Timeline. W and S zoom, A and D pan, N goes to the next gap, question mark lists all keys.",
  });
  parts.tip = el("div", { class: "tip", hidden: true });
  parts.labels = el("div", { class: "labels" });
  parts.nothing = el("p", { class: "empty", hidden: true, text: NOTHING });
  parts.canvasBox = el("div", { class: "canvas-box" }, parts.canvas, parts.tip);
  parts.stage = el("div", { class: "stage" }, parts.nothing, parts.labels, parts.canvasBox);
  parts.scroll = el("div", { class: "scroll" }, parts.stage);
}

function tools() {
  const tool = (text, title, run) =>
    el("button", { type: "button", title, "aria-label": title, text, on: { click: run } });
  return el(
    "div",
    { class: "tools" },
    tool("+", "Zoom in (W)", () => zoomBy(1 / 1.5)),
    tool("−", "Zoom out (S)", () => zoomBy(1.5)),
    tool("All", "Show everything (0)", showAll),
    tool("Σ", "Sums of what is on the screen (T)", sumScreen),
  );
}

function selectStep(event) {
  const track = rulerTrack(state.tracks);
  const { left, top } = parts.ruler.getBoundingClientRect();
  const item = stepAt(last.frame, view, track, event.clientX - left, event.clientY - top);
  if (item !== null) set({ selection: { track: track.id, item } });
}

function refresh() {
  load();
  redraw();
}

function listen() {
  followPointer(parts.canvas, pointer);
  parts.ruler.addEventListener("click", selectStep);
  parts.scroll.addEventListener("scroll", () => {
    hideTip();
    refresh();
  });
  new ResizeObserver(() => {
    fitState();
    refresh();
  }).observe(parts.scroll);
  on("tracks folded", arrangeAgain);
  on("from to tab", fitState);
  on("found", refresh);
  on("selection detail", redraw);
  on("place", reveal);
  onTheme(() => {
    forgetColours();
    redraw();
  });
}

/** The element; details: the panel that stands beside the tracks. */
export function timeline(details) {
  makeParts();
  const steps = el("div", { class: "steps-label", text: "steps" });
  parts.box = el(
    "div",
    { class: "timeline" },
    el("div", { class: "head" }, tools(), minimap({ frame: true })),
    el("div", { class: "head" }, steps, parts.ruler),
    parts.scroll,
    details,
  );
  listen();
  return parts.box;
}
