// The axis of time, and the steps below it.

import { STYLE, NO_NAME, itemAt } from "./frames.js";
import { place as formatPlace } from "./format.js";
import { end, pixelAt, ticks } from "./viewport.js";

export const RULER = 40;
const TICKS = 20,
  ROOM = 110;

/** Draws both; returns the times of the ends of steps that are far enough apart to be marked. */
export function paintRuler(ctx, { frame, view, colours, track, place }) {
  ctx.font = "11px system-ui, sans-serif";
  const { step, marks } = ticks(view, ROOM);
  for (const at of marks) {
    const x = Math.round(pixelAt(view, at));
    ctx.fillStyle = colours.line;
    ctx.fillRect(x, 4, 1, TICKS - 4);
    ctx.fillStyle = colours.soft;
    const text = formatPlace(at, step);
    if (x + 8 + text.length * 6.5 < view.width) ctx.fillText(text, x + 4, 13);
  }
  return track && frame ? steps(ctx, frame, view, colours, track, place) : [];
}

/** The name of a step, or its number alone where there is no room for more. */
function stepName(ctx, name, x, w, width) {
  const left = Math.max(0, x);
  const most = Math.floor((Math.min(width, x + w) - left - 6) / 6.1);
  const number = name.split(" ").pop();
  ctx.fillText(name.length <= most ? name : number.length <= most ? number : "", left + 4, RULER - 8);
}

function steps(ctx, frame, view, colours, track, place) {
  const row = frame.rows.get(`${track.id}.0`);
  const scale = frame.cell / view.cell;
  const shift = (frame.from - view.from) / view.cell;
  const edges = [];
  if (!row) return edges;
  let drawn = 0; // up to this pixel: of many steps in one pixel the first is drawn
  for (let i = row[0]; i < row[0] + row[1]; i++) {
    const x = frame.x[i] * scale + shift;
    const w = Math.max(1, frame.w[i] * scale);
    if (x > view.width) break;
    if (x + w < drawn + 0.5) continue;
    drawn = x + w;
    ctx.fillStyle = colours.work;
    ctx.fillRect(x, TICKS, Math.max(1, w - 1), RULER - TICKS - 2);
    if (w > 8) edges.push(view.from + x * view.cell);
    if (w < 12 || frame.name[i] === NO_NAME || frame.style[i] & STYLE.merged) continue;
    ctx.fillStyle = colours.text;
    stepName(ctx, frame.names[frame.name[i]], x, w, view.width);
  }
  if (place && place.track === track.id && place.start_ps < end(view)) {
    ctx.strokeStyle = colours.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(pixelAt(view, place.start_ps), TICKS, Math.max(3, place.dur_ps / view.cell), RULER - TICKS - 2);
  }
  return edges;
}

/** The step at a point of the ruler: its item, or null. */
export function stepAt(frame, view, track, x, y) {
  if (!track || !frame || y < TICKS) return null;
  const scale = frame.cell / view.cell,
    shift = (frame.from - view.from) / view.cell;
  const index = itemAt(frame, track.id, 0, (x - shift) / scale, 2 / scale);
  return index < 0 ? null : frame.item[index];
}
