// Where the tracks stand, from top to bottom: groups with a heading, in each its tracks, in each track its rows.
//
// A track of gaps is taller than the others: why a device waited is what this page is for.

import { state } from "./state.js";

export const HEAD = 24,
  ROW = 16,
  GAP_ROW = 30,
  SPACE = 6;

/** The track whose items are the ruler: the steps of the first host that has some. */
export function rulerTrack(tracks) {
  return tracks?.tracks.find((track) => track.kind === "steps" && track.items > 0) ?? null;
}

export function isFolded(index) {
  return state.folded.get(index) ?? state.tracks.groups[index].folded;
}

/** {groups: [{group, index, y, folded}], bands: [{track, y, row, rows, group}], height} */
export function arrange(tracks) {
  const byId = new Map(tracks.tracks.map((track) => [track.id, track])),
    ruler = rulerTrack(tracks);
  const made = { groups: [], bands: [], height: 0, bandOf: new Map() };
  let y = 0;
  tracks.groups.forEach((group, index) => {
    const members = group.tracks
      .map((id) => byId.get(id))
      .filter((track) => track && track !== ruler && track.depth > 0);
    if (members.length === 0) return;
    const folded = isFolded(index);
    made.groups.push({ group, index, y, folded });
    y += HEAD;
    for (const track of members) {
      const row = track.kind === "gaps" ? GAP_ROW : ROW;
      const band = { track, y, row, rows: folded ? 0 : track.depth, group: index };
      made.bandOf.set(track.id, band);
      if (folded) continue;
      made.bands.push(band);
      y += row * track.depth + SPACE;
    }
  });
  made.height = y + SPACE;
  return made;
}

/** The rows that stand between two heights, in the server's form: "4:0-7,5". */
export function rowsBetween(layout, top, bottom, most = 1000) {
  const words = [];
  let left = most;
  for (const { track, y, row, rows } of layout.bands) {
    const first = Math.max(0, Math.floor((top - y) / row)),
      last = Math.min(rows - 1, Math.floor((bottom - y) / row));
    if (first > last || left <= 0) continue;
    const stop = Math.min(last, first + left - 1);
    words.push(`${track.id}:${first}-${stop}`);
    left -= stop - first + 1;
  }
  return words.join(",");
}

/** {track, depth} at a height, null between tracks. */
export function rowAt(layout, y) {
  const band = layout.bands.find((b) => y >= b.y && y < b.y + b.row * b.rows);
  return band ? { track: band.track, depth: Math.floor((y - band.y) / band.row) } : null;
}

/** The middle of a row of a track; of a folded group that of its heading. */
export function middleOf(layout, track, depth) {
  const band = layout.bandOf.get(track);
  if (!band) return null;
  return band.rows === 0
    ? layout.groups.find((g) => g.index === band.group).y + HEAD / 2
    : band.y + (depth + 0.5) * band.row;
}
