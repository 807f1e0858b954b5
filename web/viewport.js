// Which time stands at which pixel.  A view is {from, cell, width}: the pixel x shows the time from + x * cell.
//
// A cell is a whole number of picoseconds, and `from` a multiple of it, as the server's cells are.  So a view that pans
// asks for the same cells again, and blocks stay as they are.  Functions return a new view and change none.

function aligned(from, cell, width) {
  return { from: Math.round(from / cell) * cell, cell, width };
}

export function end(view) {
  return view.from + view.cell * view.width;
}

export function timeAt(view, x) {
  return view.from + x * view.cell;
}

export function pixelAt(view, ps) {
  return (ps - view.from) / view.cell;
}

/** The view of this width that shows a span. */
export function fit(from, to, width) {
  const cell = Math.max(1, Math.ceil((to - from) / width));
  return aligned(from - (cell * width - (to - from)) / 2, cell, width);
}

/** A factor above 1 shows more; the time at pixel x stays there. */
export function zoom(view, factor, x, limits) {
  const most = Math.max(1, Math.ceil(((limits.to - limits.from) * 1.02) / view.width));
  let cell = Math.round(view.cell * factor);
  if (cell === view.cell) cell += factor > 1 ? 1 : -1; // a cell of few picoseconds would never change
  cell = Math.min(most, Math.max(1, cell));
  return keepInside(aligned(timeAt(view, x) - x * cell, cell, view.width), limits);
}

export function pan(view, pixels, limits) {
  return keepInside({ ...view, from: view.from + Math.round(pixels) * view.cell }, limits);
}

export function resize(view, width) {
  return { ...view, width };
}

/** Some of what there is stays on the screen. */
export function keepInside(view, limits) {
  const room = (view.cell * view.width) / 10;
  const low = limits.from - room,
    high = limits.to + room - view.cell * view.width;
  const from =
    high < low ? (limits.from + limits.to - view.cell * view.width) / 2 : Math.min(high, Math.max(low, view.from));
  return from === view.from ? view : aligned(from, view.cell, view.width);
}

/** The span to ask the server for, so that panning finds what it needs: a view with as much again on both sides. */
export function margins(view, most = 8192) {
  const extra = Math.max(0, Math.min(view.width, Math.floor((most - view.width) / 2)));
  return { from: view.from - extra * view.cell, cell: view.cell, width: view.width + 2 * extra };
}

export function covers(frame, frameWidth, view, slack = 0) {
  return (
    frame.cell === view.cell &&
    frame.from <= view.from - slack * view.cell &&
    frame.from + frameWidth * frame.cell >= end(view) + slack * view.cell
  );
}

/** Places for the marks of an axis: a step of 1, 2 or 5 times a power of ten, at least `room` pixels apart. */
export function ticks(view, room) {
  const least = view.cell * room,
    power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
  const marks = [];
  for (let at = Math.ceil(view.from / step) * step; at < end(view); at += step) marks.push(at);
  return { step, marks };
}
