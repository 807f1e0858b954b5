// All of the time in a strip: for each pixel how much of it the devices waited, and why.  The part that the timeline
// shows is a frame in it; clicking or dragging moves that.

import { binary } from "./api.js";
import { el } from "./dom.js";
import { decodeMinimap } from "./frames.js";
import { limits, on, set, state } from "./state.js";
import { onTheme, palette } from "./theme.js";

const HEIGHT = 44;

function paint(ctx, map, width, colours) {
  ctx.clearRect(0, 0, width, HEIGHT);
  const scale = width / map.width;
  for (let pixel = 0; pixel < map.width; pixel++) {
    let y = HEIGHT;
    for (let cause = 0; cause < map.causes.length; cause++) {
      const tall = map.causes[cause][pixel] * HEIGHT;
      if (tall <= 0) continue;
      y -= tall;
      ctx.fillStyle = colours.kinds[cause];
      ctx.fillRect(pixel * scale, y, scale + 0.3, tall);
    }
    const busy = map.busy[pixel] * HEIGHT;
    if (busy > 0) {
      ctx.fillStyle = colours.work;
      ctx.fillRect(pixel * scale, y - busy, scale + 0.3, busy);
    }
  }
}

/** An element that shows it; with `frame` also what the timeline shows. */
export function minimap({ frame }) {
  const canvas = el("canvas", { role: "img", "aria-label": "Busy, and idle by cause, over the whole time" });
  const shown = el("div", { class: "shown", hidden: !frame });
  const box = el("div", { class: "minimap" }, canvas, shown);
  let map = null;

  const draw = () => {
    if (!map || !state.meta || box.clientWidth === 0) return;
    const ratio = devicePixelRatio || 1,
      width = box.clientWidth;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    paint(ctx, map, width, palette(state.meta.kinds));
    place();
  };
  const place = () => {
    if (!frame || state.from === null) {
      shown.hidden = true;
      return;
    }
    const { from, to } = limits(),
      scale = 100 / (to - from);
    const left = Math.max(0, (state.from - from) * scale),
      right = Math.min(100, (state.to - from) * scale);
    shown.hidden = left <= 0.01 && right >= 99.99;
    Object.assign(shown.style, { left: `${left}%`, width: `${Math.max(0.2, right - left)}%` });
  };
  const load = async () => {
    const width = Math.min(2048, Math.floor(box.clientWidth));
    if (width < 8 || !state.summary) return;
    const { from, to } = limits();
    map = decodeMinimap(await binary("minimap", { from, to, width }));
    draw();
  };

  const move = (event) => {
    const { from, to } = limits(),
      at = from + ((event.clientX - box.getBoundingClientRect().left) / box.clientWidth) * (to - from);
    const span =
      state.from === null || state.to - state.from > (to - from) * 0.9 ? (to - from) / 10 : state.to - state.from;
    set({ tab: "timeline", from: at - span / 2, to: at + span / 2 });
  };
  box.addEventListener("pointerdown", (event) => {
    box.setPointerCapture(event.pointerId);
    move(event);
  });
  box.addEventListener("pointermove", (event) => {
    if (event.buttons && frame) move(event);
  });
  new ResizeObserver(load).observe(box);
  on("summary", load);
  on("from to", place);
  onTheme(draw);
  return box;
}
