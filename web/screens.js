// The server's last answer for the timeline, and when it is time for the next one.
//
// One answer covers three screens in time and in height, so that panning asks seldom.  Until a new zoom has its answer,
// the old one is drawn stretched.  A screen is {view, layout, top, height}.

import { binary, latest } from "./api.js";
import { decodeWindow } from "./frames.js";
import { rowsBetween, rulerTrack } from "./layout.js";
import { notify } from "./notice.js";
import { state } from "./state.js";
import { covers, margins } from "./viewport.js";

const MOST_ROWS = 300; // of 1024, so that the address stays short

/** frame: what decodeWindow made; count: answers so far. */
export const last = { frame: null, of: null, count: 0 };

const match = () => state.found?.id ?? null;

/** What to ask for. */
function wanted({ view, layout, top, height }) {
  const ruler = rulerTrack(state.tracks);
  const rows = rowsBetween(layout, top - height, top + 2 * height, MOST_ROWS);
  const tracks = [ruler ? `${ruler.id}:0-0` : "", rows].filter(Boolean).join(",");
  return { tracks, top: top - height, bottom: top + 2 * height, match: match(), layout, span: margins(view) };
}

/** True if the answer does not serve this screen, or, with `early`, soon will not. */
function isStale({ view, layout, top, height }, early) {
  const { frame, of } = last;
  if (!frame || of.layout !== layout || of.match !== match()) return true;
  const room = early ? height / 3 : 0;
  const above = Math.max(0, top - room);
  const below = Math.min(layout.height, top + height + room);
  return !covers(frame, of.span.width, view, early ? view.width / 3 : 0) || above < of.top || below > of.bottom;
}

/** Asks if it is needed.  screen() gives what is shown when the turn comes, null for nothing; then done() is called. */
export const loadScreen = latest(async (screen, done) => {
  const now = screen();
  if (!now || !isStale(now, true)) return;
  const want = wanted(now);
  const { from, cell, width } = want.span;
  if (!want.tracks) {
    Object.assign(last, { frame: null, of: null });
    done();
    return;
  }
  try {
    const span = { from, to: from + cell * width, width };
    const answer = await binary("window", { ...span, tracks: want.tracks, match: want.match });
    Object.assign(last, { frame: decodeWindow(answer), of: want, count: last.count + 1 });
  } catch (problem) {
    notify(problem.message);
  }
  done();
});
