// Drawing rows of items on a canvas.  Rectangles first, all of one colour together; then the few names that fit.
//
// Gaps have the full colour of their cause and everything else is pale or grey, so that waiting is what one sees.

import { NO_NAME, STYLE, itemAt } from "./frames.js";
import { ROW, GAP_ROW } from "./layout.js";

const FONT = "11px system-ui, sans-serif",
  GAP_FONT = "600 12px system-ui, sans-serif";
const CHARACTER = 5.8,
  LEAST_NAME = 26,
  CAUSES = 13,
  NARROW = 4, // pixels
  HASH = 0xff00; // in a style: for shades, which nobody sees in narrow items
const TRIGGER_KEYS = [null, "value_request", "wait", "compile"];

/** Pixels of the screen for pixels of a frame: x * scale + shift. */
function scaleOf(frame, view) {
  return { scale: frame.cell / view.cell, shift: (frame.from - view.from) / view.cell };
}

/** The item of a row before the first that begins right of a pixel of the frame: only it can reach over that. */
function firstFrom(frame, [first, count], x) {
  let low = first,
    high = first + count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frame.x[middle] < x) low = middle + 1;
    else high = middle;
  }
  return Math.max(first, low - 1);
}

/** Items of one band that are on the screen, as call(i, x, w, y, depth). */
function eachItem(frame, view, band, call) {
  const { scale, shift } = scaleOf(frame, view);
  for (let depth = 0; depth < band.rows; depth++) {
    const row = frame.rows.get(`${band.track.id}.${depth}`);
    if (!row) continue;
    const y = band.y + depth * band.row,
      stop = row[0] + row[1];
    for (let i = firstFrom(frame, row, -shift / scale); i < stop; i++) {
      const x = frame.x[i] * scale + shift;
      if (x > view.width) break;
      const w = frame.w[i] * scale;
      if (x + w >= 0) call(i, x, w < 1 ? 1 : w, y, depth);
    }
  }
}

function colourOf(colours, style, isGap) {
  const kind = STYLE.kind(style);
  if (isGap) return colours.kinds[kind] ?? colours.unknown;
  if (kind < CAUSES) return colours.pale[kind];
  return colours.greys[STYLE.hash(style) & 3][kind - CAUSES] ?? colours.work;
}

/** Rectangles by colour, in memory that is used again for every band and frame: panning makes no garbage. */
const batches = new Map();

function batchOf(colour) {
  let batch = batches.get(colour);
  if (!batch) batches.set(colour, (batch = { rects: new Float32Array(1024), used: 0 }));
  if (batch.used + 4 > batch.rects.length) {
    const grown = new Float32Array(2 * batch.rects.length);
    grown.set(batch.rects);
    batch.rects = grown;
  }
  return batch;
}

function addRect(colour, x, y, w, h) {
  const batch = batchOf(colour),
    at = batch.used;
  batch.rects[at] = x;
  batch.rects[at + 1] = y;
  batch.rects[at + 2] = w;
  batch.rects[at + 3] = h;
  batch.used += 4;
}

function drawRects(ctx) {
  for (const [colour, batch] of batches) {
    if (batch.used === 0) continue;
    ctx.fillStyle = colour;
    const { rects, used } = batch;
    for (let k = 0; k < used; k += 4) ctx.fillRect(rects[k], rects[k + 1], rects[k + 2], rects[k + 3]);
    batch.used = 0;
  }
}

/** The rectangle that is being drawn: neighbours of one colour and height become one. */
const run = { colour: "", x: 0, end: 0, row: 0, blank: 0, h: 0 };

function endRun() {
  if (run.end > run.x) addRect(run.colour, run.x, run.row + run.blank, run.end - run.x, run.h);
  run.x = run.end = 0;
}

/** A narrow item fills whole pixels of its row, below `blank`; of several in one pixel the first is seen. */
function addNarrow(colour, x, w, row, blank, h) {
  const left = Math.floor(x);
  const end = left + Math.max(1, Math.round(w));
  const beside = row === run.row && left <= run.end;
  if (beside && colour === run.colour && blank === run.blank) {
    if (end > run.end) run.end = end;
    return;
  }
  const from = beside ? Math.max(left, run.end) : left;
  if (from >= end) return;
  endRun();
  Object.assign(run, { colour, x: from, end, row, blank, h });
}

/** The part of a row that a block of short events leaves blank: the emptier it is, the lower. */
function blankOf(style, w, busy, height) {
  return style & STYLE.merged && w <= 1.5 ? Math.round(height * Math.max(0, 0.5 - Math.ceil(4 * busy) / 8)) : 0;
}

/** All rectangles of a band. */
function fills(ctx, frame, view, band, colours, searching) {
  const isGap = band.track.kind === "gaps";
  const height = band.row - (isGap ? 4 : 1);
  eachItem(frame, view, band, (i, x, w, y) => {
    const style = frame.style[i];
    const colour = (wide) => (searching ? colours.line : colourOf(colours, wide ? style : style & ~HASH, false));
    if (isGap) {
      addNarrow(colourOf(colours, style, true), x, w, y, 0, height); // whole pixels keep the full colour
    } else if (w >= NARROW) {
      endRun();
      addRect(colour(true), x, y, w - 0.6, height);
    } else {
      const blank = blankOf(style, w, frame.busy[i], height);
      addNarrow(colour(false), x, w, y, blank, height - blank);
    }
  });
  endRun();
  drawRects(ctx);
}

/** What was searched, over everything else: no match hides behind its neighbours. */
function matches(ctx, frame, view, band, colours) {
  ctx.fillStyle = colours.accent;
  eachItem(frame, view, band, (i, x, w, y) => {
    if (frame.style[i] & STYLE.match) ctx.fillRect(Math.floor(x), y, Math.max(2, w), band.row - 1);
  });
}

function shorten(name, room) {
  const most = Math.floor(room / CHARACTER);
  return name.length <= most ? name : most < 4 ? "" : `${name.slice(0, most - 1)}…`;
}

const inWords = (cause) => cause.replace("_", " "); // "in_program: fwd"

function names(ctx, frame, view, band, colours, searching) {
  const isGap = band.track.kind === "gaps";
  ctx.font = isGap ? GAP_FONT : FONT;
  eachItem(frame, view, band, (i, x, w, y) => {
    if (w < LEAST_NAME || frame.name[i] === NO_NAME) return;
    const left = Math.max(0, x),
      room = Math.min(view.width, x + w) - left - 8;
    const full = frame.names[frame.name[i]];
    const name = isGap ? shorten(full.replace(/^[a-z]+_/, inWords), room / 1.22) : shorten(full, room);
    if (!name) return;
    const kind = STYLE.kind(frame.style[i]);
    const marked = searching && frame.style[i] & STYLE.match;
    const at = left + (isGap ? 9 : 4);
    if (isGap && STYLE.where(frame.style[i]) !== 0) {
      ctx.fillStyle = colours.kinds[kind]; // stripes are no ground to read on
      ctx.fillRect(at - 3, y + 4, ctx.measureText(name).width + 6, GAP_ROW - 12);
    }
    ctx.fillStyle = isGap ? (colours.ink[kind] ?? colours.page) : marked ? colours.page : colours.text;
    ctx.fillText(name, at, y + (isGap ? GAP_ROW / 2 + 2 : ROW - 4.5));
  });
}

/** What made the host late: a mark in its colour at the left end of a gap. Lead-ins and tails are striped. */
function gapMarks(ctx, frame, view, band, colours) {
  eachItem(frame, view, band, (i, x, w, y) => {
    const style = frame.style[i],
      trigger = TRIGGER_KEYS[STYLE.trigger(style)];
    if (STYLE.where(style) !== 0 && w > 2) {
      ctx.fillStyle = colours.stripes;
      ctx.fillRect(x, y, w, GAP_ROW - 4);
    }
    if (trigger && w > 12 && x > -6) {
      ctx.fillStyle = colours.page;
      ctx.fillRect(x, y, 6, GAP_ROW - 4);
      ctx.fillStyle = colours.byKey[trigger];
      ctx.fillRect(x, y, 4.5, GAP_ROW - 4);
    }
  });
}

/** The bands that are on the screen. */
export function paintBands(ctx, { layout, frame, view, top, height, colours, searching }) {
  for (const band of layout.bands) {
    if (band.y > top + height || band.y + band.row * band.rows < top) continue;
    if (band.track.kind === "gaps") {
      ctx.fillStyle = colours.panel;
      ctx.fillRect(0, band.y, view.width, GAP_ROW - 4);
    }
    fills(ctx, frame, view, band, colours, searching);
    if (band.track.kind === "gaps") gapMarks(ctx, frame, view, band, colours);
    else if (searching) matches(ctx, frame, view, band, colours);
    names(ctx, frame, view, band, colours, searching);
  }
}

/** The item under a point of the layout, as {index, track, depth}; null if there is none. */
export function hit(frame, view, row, x) {
  const { scale, shift } = scaleOf(frame, view);
  const index = itemAt(frame, row.track.id, row.depth, (x - shift) / scale, 3 / scale);
  return index < 0 ? null : { index, track: row.track, depth: row.depth };
}
