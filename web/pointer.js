// Mouse, pen and fingers on the timeline: drag to pan, two fingers or the wheel to zoom, a click to select; dragging
// with Shift marks a span.  Calls of `to`: pan(dx, dy), zoom(factor, x), click(x, y), double(x, y), mark(x0, x1, done), hover(x, y).

const STILL = 4, // pixels within which a press is a click
  STILL_FINGER = 10; // a finger is never quite still

export function followPointer(canvas, to) {
  const down = new Map(); // pointers that are pressed, by id
  let start = null,
    marking = false;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const distance = () => {
    const [a, b] = [...down.values()];
    return { apart: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    start = { ...at(event), moved: down.size > 1 }; // two fingers select nothing
    marking = event.shiftKey;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event),
      before = down.get(event.pointerId);
    if (!before) {
      to.hover(now.x, now.y);
      return;
    }
    if (down.size === 2) {
      const old = distance();
      down.set(event.pointerId, now);
      const fresh = distance();
      to.zoom(old.apart / fresh.apart, fresh.middle);
      to.pan(old.middle - fresh.middle, 0);
      start.moved = true;
      return;
    }
    const still = event.pointerType === "touch" ? STILL_FINGER : STILL;
    start.moved ||= Math.abs(now.x - start.x) + Math.abs(now.y - start.y) > still;
    if (!start.moved) return;
    to.hover(null);
    if (marking) {
      to.mark(Math.min(start.x, now.x), Math.max(start.x, now.x), false);
      return;
    }
    const dx = Math.round(before.x - now.x); // whole pixels, so that blocks stay as they are
    to.pan(dx, before.y - now.y);
    down.set(event.pointerId, { x: before.x - dx, y: now.y });
  });
  const up = (event) => {
    if (!down.delete(event.pointerId) || event.type !== "pointerup") return;
    const { x } = at(event);
    if (!start.moved) to.click(start.x, start.y);
    else if (marking) to.mark(Math.min(start.x, x), Math.max(start.x, x), true);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => to.hover(null));
  canvas.addEventListener("dblclick", (event) => to.double(at(event).x, at(event).y));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1,
        dx = event.deltaX * unit,
        dy = event.deltaY * unit;
      if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) to.pan(Math.round(dx || dy), 0);
      else to.zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.0025), at(event).x);
    },
    { passive: false },
  );
}
