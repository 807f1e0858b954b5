// What lies below the pointer, in a few words.

import { el } from "./dom.js";
import { count, time } from "./format.js";
import { NO_NAME, STYLE } from "./frames.js";
import { state } from "./state.js";

/** The length of one item, as well as the frame knows it. */
function length(frame, index) {
  const style = frame.style[index];
  const ps = frame.w[index] * frame.cell;
  const how = style & (STYLE.left | STYLE.right) ? "more than " : ps < frame.cell ? "about " : "";
  return how + time(Math.round(ps));
}

/** Fills the tip with an item of a frame, and shows it beside the pointer, on the side that has room. */
export function showTip(tip, frame, index, { x, y, width, height }) {
  const merged = frame.style[index] & STYLE.merged;
  const kind = state.meta.kinds[STYLE.kind(frame.style[index])]?.key ?? "";
  const name = frame.name[index] === NO_NAME ? kind : frame.names[frame.name[index]];
  tip.replaceChildren(
    el("b", { text: merged ? `${count(frame.count[index])} short events` : name }),
    el("span", { text: merged ? `${time(frame.busy[index] * frame.cell)} in all` : length(frame, index) }),
    el("span", { text: kind.replaceAll("_", " ") }),
  );
  tip.hidden = false;
  const right = x > width / 2;
  Object.assign(tip.style, {
    left: right ? "" : `${x + 14}px`,
    right: right ? `${width - x + 14}px` : "",
    top: `${Math.min(y + 14, height - 60)}px`,
  });
}
