// Whether the capture can be trusted: warnings, what the report says of its health, files, planes and lines.

import { jsonWhenReady } from "./api.js";
import { column, severalHosts } from "./columns.js";
import { el } from "./dom.js";
import { bytes, things, time } from "./format.js";
import { state } from "./state.js";
import { table } from "./table.js";

function facts(entries) {
  return el(
    "dl",
    { class: "facts" },
    ...entries
      .filter(([, text]) => text !== null && text !== undefined && text !== "")
      .flatMap(([label, text]) => [el("dt", { text: label }), el("dd", { text })]),
  );
}

const FILES = { ok: "whole", empty: "empty", truncated: "cut off", damaged: "damaged", unreadable: "cannot be read" };

function lines(info) {
  return info.planes.flatMap((plane) =>
    plane.line_list.length === 0
      ? [{ plane, name: null, events: plane.events, untimed: 0, stray: 0, first_ps: null, last_ps: null }]
      : plane.line_list.map((line) => ({ plane, ...line })),
  );
}

/** The track that shows a line; lines of one name are told apart by their times. */
function trackOf(line) {
  return (
    state.tracks?.tracks.find(
      (track) => track.name === line.name && track.host === line.plane.host && track.first_ps === line.first_ps,
    ) ?? null
  );
}

export async function health(box, goToTrack) {
  const info = await jsonWhenReady("table/info"),
    { summary, meta } = state;
  await jsonWhenReady("tracks");
  const view = table({
    name: "lines",
    label: "planes and lines",
    go: (row) => goToTrack(trackOf(row)),
    links: (row) => Boolean(trackOf(row)),
    empty: "The capture holds no plane.",
    columns: [
      column("line", "text", (r) => r.name ?? "(no line)"),
      column("plane", "text", (r) => r.plane.name),
      ...(severalHosts() ? [column("host", "text", (r) => r.plane.host)] : []),
      column("events", "count", (r) => r.events),
      column("without time", "count", (r) => r.untimed, { minor: true }),
      column("stray", "count", (r) => r.stray, { minor: true }),
      column("first", "time", (r) => r.first_ps, { key: "first_ps", minor: true }),
      column("last", "time", (r) => r.last_ps, { key: "last_ps", minor: true }),
    ],
  });
  box.replaceChildren(
    ...[
      summary.warnings.length === 0
        ? el("p", { text: "No warnings." })
        : el("ul", { class: "warnings" }, ...summary.warnings.map((text) => el("li", { text }))),
      facts([
        ...summary.health.map((row) => [row.label, row.words]),
        ["run", meta.run],
        ["path", meta.path],
        ["session", meta.session_ps === null ? "not recorded" : time(meta.session_ps)],
        [
          "started",
          meta.start_unix_ns
            ? new Date(meta.start_unix_ns / 1e6).toISOString().replace("T", " ").replace("Z", " UTC")
            : null,
        ],
        ...info.files.map((file) => [
          `file of ${file.host}`,
          `${file.path}, ${bytes(file.bytes)}, ${FILES[file.status] ?? file.status}${file.problem ? `: ${file.problem}` : ""}`,
        ]),
      ]),
      el("h2", { text: `${things(info.planes.length, "plane")} with their lines` }),
      view.box,
    ].filter(Boolean),
  );
  view.fill(lines(info));
}
