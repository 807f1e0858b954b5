// The colours of the canvas: those of the style sheet, and what is made of them.

import { el } from "./dom.js";
import { state } from "./state.js";
import { mix, palette } from "./theme.js";

const CAUSES = 13; // the first kinds
const SHADES = [1, 0.86, 0.74, 0.62]; // of grey, so that neighbours of different names differ

let made = null;

/** Lines in the colour of the page, over what a device waited before its first work or after its last. */
function stripes(colour) {
  const tile = el("canvas", { width: 6, height: 6 });
  const ctx = tile.getContext("2d");
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  for (const x of [-6, 0, 6]) {
    ctx.moveTo(x, 6);
    ctx.lineTo(x + 6, 0);
  }
  ctx.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** palette(), and greys[shade][kind - CAUSES], stripes, byKey. */
export function canvasColours() {
  if (made) return made;
  const { kinds } = state.meta;
  const base = palette(kinds);
  const greys = SHADES.map((share) => base.kinds.slice(CAUSES).map((colour) => mix(colour, base.page, share)));
  const byKey = Object.fromEntries(kinds.map((kind, k) => [kind.key, base.kinds[k]]));
  made = { ...base, greys, byKey, stripes: stripes(base.page) };
  return made;
}

export function forgetColours() {
  made = null;
}
