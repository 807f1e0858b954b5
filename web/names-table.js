// Device time by the scopes of the program, as a tree that folds; a flat list once it is sorted or filtered.

import { jsonWhenReady } from "./api.js";
import { column, shareColumn } from "./columns.js";
import { el } from "./dom.js";
import { count } from "./format.js";
import { searchFor } from "./search.js";
import { table } from "./table.js";

export async function names(box) {
  const answer = await jsonWhenReady("table/names"),
    whole = answer.device_ps || 1,
    folded = new Set();
  const parents = new Set(answer.scopes.map((row) => row.scope.slice(0, Math.max(0, row.scope.lastIndexOf("/")))));
  const isHidden = (row) => {
    for (let at = row.scope.lastIndexOf("/"); at > 0; at = row.scope.lastIndexOf("/", at - 1))
      if (folded.has(row.scope.slice(0, at))) return true;
    return false;
  };
  const cell = (row, flat) => {
    const last = row.scope.slice(row.scope.lastIndexOf("/") + 1),
      depth = row.scope.split("/").length - 1,
      open = !folded.has(row.scope);
    if (flat) return row.scope;
    return el(
      "span",
      { class: "tree", style: { paddingLeft: `${depth * 1.1}rem` } },
      parents.has(row.scope) && !row.rest
        ? el("button", {
            class: "fold",
            type: "button",
            "aria-expanded": String(open),
            "aria-label": `${open ? "Fold" : "Unfold"} ${row.scope}`,
            text: open ? "▾" : "▸",
            on: {
              click: () => {
                if (open) folded.add(row.scope);
                else folded.delete(row.scope);
                view.again();
              },
            },
          })
        : el("span", { class: "fold" }),
      row.rest ? last : el("button", { class: "link", type: "button", title: "Search it on the timeline", text: last }),
    );
  };
  const view = table({
    name: "names",
    label: "device time by scope",
    hidden: isHidden,
    go: (row) => searchFor(row.scope.split("/").pop()),
    links: (row) => !row.rest,
    empty: "No device time in any scope.",
    columns: [
      column("scope", "text", (r) => r.scope, { cell }),
      column("time", "time", (r) => r.ps, { key: "ps" }),
      column("self", "time", (r) => r.self_ps, { key: "self_ps" }),
      shareColumn("of work", (r) => r.ps / whole),
      column("ops run", "count", (r) => r.ops, { key: "ops" }),
    ],
  });
  const list = (title, all) =>
    all.length === 0
      ? null
      : el(
          "details",
          {},
          el("summary", { text: `${title} (${count(all.length)})` }),
          el("p", { text: all.join(", ") }),
        );
  box.replaceChildren(
    ...[
      ...answer.words.map((text) => el("p", { class: "soft", text })),
      list("Scopes of the host that name no work of a device", answer.host_only_scopes),
      list("Scopes on devices that the host never entered", answer.device_only_scopes),
      view.box,
    ].filter(Boolean),
  );
  view.fill([
    ...answer.scopes,
    ...(answer.unnamed_ps > 0
      ? [{ scope: "(in no scope)", ps: answer.unnamed_ps, self_ps: answer.unnamed_ps, ops: null, rest: true }]
      : []),
  ]);
}
