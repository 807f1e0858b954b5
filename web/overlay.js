// What lies over the tracks: the selected item, its span through all rows, the way from launch to work, the trigger.

import { middleOf } from "./layout.js";
import { pixelAt } from "./viewport.js";

function outline(ctx, view, layout, place, colour) {
  const band = layout.bandOf.get(place.track);
  if (!band || band.rows === 0) return;
  const x = pixelAt(view, place.start_ps),
    w = Math.max(3, place.dur_ps / view.cell);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.strokeRect(
    Math.max(-3, x),
    band.y + place.depth * band.row,
    Math.min(view.width + 6, x + w) - Math.max(-3, x),
    band.row - (band.track.kind === "gaps" ? 4 : 1),
  );
}

/** A curve from the end of one place to the start of another, with a point at its end. */
function arrow(ctx, view, layout, from, to, colour, dashed) {
  const y0 = middleOf(layout, from.track, from.depth),
    y1 = middleOf(layout, to.track, to.depth);
  if (y0 === null || y1 === null) return;
  const clamp = (x) => Math.min(view.width + 50, Math.max(-50, x));
  const x0 = clamp(pixelAt(view, from.start_ps + Math.min(from.dur_ps, Math.max(0, to.start_ps - from.start_ps))));
  const x1 = clamp(pixelAt(view, to.start_ps)),
    bend = Math.max(24, Math.abs(x1 - x0) / 2);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.setLineDash(dashed ? [4, 3] : []);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 7, y1 - 4);
  ctx.lineTo(x1 - 7, y1 + 4);
  ctx.fill();
}

function shade(ctx, view, from, to, top, height, colour) {
  const x = Math.max(-2, pixelAt(view, from)),
    stop = Math.min(view.width + 2, pixelAt(view, to));
  ctx.globalAlpha = 0.1;
  ctx.fillStyle = colour;
  ctx.fillRect(x, top, Math.max(1, stop - x), height);
  ctx.globalAlpha = 0.7;
  ctx.fillRect(x, top, 1, height);
  ctx.fillRect(stop, top, 1, height);
  ctx.globalAlpha = 1;
}

/** marks: times at which a faint line goes through all rows. */
export function paintOverlay(ctx, { layout, view, top, height, colours, marks, selection, place, detail }) {
  ctx.fillStyle = colours.line;
  for (const at of marks) ctx.fillRect(Math.round(pixelAt(view, at)), top, 1, height);
  if (selection && "from" in selection) shade(ctx, view, selection.from, selection.to, top, height, colours.accent);
  if (!place) return;
  if (detail?.gap)
    shade(
      ctx,
      view,
      place.start_ps,
      place.start_ps + place.dur_ps,
      top,
      height,
      colours.kinds[0] && (colours.byKey[detail.gap.cause] ?? colours.unknown),
    );
  for (const flow of detail?.flows ?? []) {
    if (flow.from && flow.to) arrow(ctx, view, layout, flow.from, flow.to, colours.accent, flow.kind !== "launch");
  }
  if (detail?.trigger_place) {
    outline(ctx, view, layout, detail.trigger_place, colours.text);
    arrow(ctx, view, layout, detail.trigger_place, place, colours.text, true);
  }
  outline(ctx, view, layout, place, colours.accent);
}
