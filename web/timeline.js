// The timeline: what is on the screen, drawn from the last answer of the server, while the next is on its way.

import { el } from "./dom.js";
import { NO_NAME, STYLE } from "./frames.js";
import { count, time } from "./format.js";
import { fillLabels } from "./labels.js";
import { arrange, rowAt, rowsBetween, rulerTrack } from "./layout.js";
import { minimap } from "./minimap.js";
import { paintOverlay } from "./overlay.js";
import { hit, paintBands } from "./paint.js";
import { followPointer } from "./pointer.js";
import { paintRuler, RULER, stepAt } from "./ruler.js";
import { last, loadScreen } from "./screens.js";
import { goTo, limits, on, set, state } from "./state.js";
import { mix, onTheme, palette } from "./theme.js";
import * as viewport from "./viewport.js";

const parts = {}; // elements
let layout = null,
  view = null,
  marked = null,
  scheduled = false,
  colours = null;

// ---- colours

function canvasColours() {
  if (colours) return colours;
  const base = palette(state.meta.kinds),
    shade = (share) => state.meta.kinds.slice(13).map((_, k) => mix(base.kinds[k + 13], base.page, share));
  const tile = el("canvas", { width: 6, height: 6 }),
    ctx = tile.getContext("2d");
  ctx.strokeStyle = base.page;
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  for (const k of [-6, 0, 6]) {
    ctx.moveTo(k, 6);
    ctx.lineTo(k + 6, 0);
  }
  ctx.stroke();
  colours = {
    ...base,
    greys: [1, 0.86, 0.74, 0.62].map(shade),
    stripes: ctx.createPattern(tile, "repeat"),
    byKey: Object.fromEntries(state.meta.kinds.map((kind, k) => [kind.key, base.kinds[k]])),
  };
  return colours;
}

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
  if (!item) return;
  const style = last.frame.style[item.index],
    name = last.frame.name[item.index],
    merged = style & STYLE.merged;
  const kind = state.meta.kinds[STYLE.kind(style)],
    length = last.frame.w[item.index] * last.frame.cell;
  const cut = style & (STYLE.left | STYLE.right);
  parts.tip.replaceChildren(
    el("b", {
      text: merged
        ? `${count(last.frame.count[item.index])} short events`
        : name === NO_NAME
          ? (kind?.key ?? "")
          : last.frame.names[name],
    }),
    el("span", {
      text: merged
        ? `${time(last.frame.busy[item.index] * last.frame.cell)} in all`
        : `${cut ? "more than " : length < last.frame.cell ? "about " : ""}${time(Math.round(length))}`,
    }),
    el("span", { text: kind ? kind.key.replaceAll("_", " ") : "" }),
  );
  parts.tip.hidden = false;
  const right = x > view.width / 2;
  Object.assign(parts.tip.style, {
    left: right ? "" : `${x + 14}px`,
    right: right ? `${view.width - x + 14}px` : "",
    top: `${Math.min(y + 14, parts.scroll.clientHeight - 60)}px`,
  });
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

export function timeline(details) {
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
  parts.nothing = el("p", {
    class: "empty",
    hidden: true,
    text: "There are no events in this capture: nothing ran while it was traced, or the profiler recorded nothing. Health says what is in it.",
  });
  parts.canvasBox = el("div", { class: "canvas-box" }, parts.canvas, parts.tip);
  parts.stage = el("div", { class: "stage" }, parts.nothing, parts.labels, parts.canvasBox);
  parts.scroll = el("div", { class: "scroll" }, parts.stage);
  const tool = (text, title, run) =>
    el("button", { type: "button", title, "aria-label": title, text, on: { click: run } });
  parts.box = el(
    "div",
    { class: "timeline" },
    el(
      "div",
      { class: "head" },
      el(
        "div",
        { class: "tools" },
        tool("+", "Zoom in (W)", () => zoomBy(1 / 1.5)),
        tool("−", "Zoom out (S)", () => zoomBy(1.5)),
        tool("All", "Show everything (0)", showAll),
        tool("Σ", "Sums of what is on the screen (T)", () => {
          const s = screen();
          if (s) set({ selection: { from: s.from, to: s.to } });
        }),
      ),
      minimap({ frame: true }),
    ),
    el("div", { class: "head" }, el("div", { class: "steps-label", text: "steps" }), parts.ruler),
    parts.scroll,
    details,
  );
  followPointer(parts.canvas, pointer);
  parts.ruler.addEventListener("click", (event) => {
    const track = rulerTrack(state.tracks),
      box = parts.ruler.getBoundingClientRect();
    const item = stepAt(last.frame, view, track, event.clientX - box.left, event.clientY - box.top);
    if (item !== null) set({ selection: { track: track.id, item } });
  });
  parts.scroll.addEventListener("scroll", () => {
    hideTip();
    load();
    redraw();
  });
  new ResizeObserver(() => {
    fitState();
    load();
    redraw();
  }).observe(parts.scroll);
  on("tracks folded", arrangeAgain);
  on("from to tab", fitState);
  on("found", () => {
    load();
    redraw();
  });
  on("selection detail", redraw);
  on("place", reveal);
  onTheme(() => {
    colours = null;
    redraw();
  });
  return parts.box;
}
