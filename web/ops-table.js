// Device time by operation, scope, category, module or source line.

import { jsonWhenReady } from "./api.js";
import { column, shareColumn } from "./columns.js";
import { el } from "./dom.js";
import { time } from "./format.js";
import { notify } from "./notice.js";
import { searchFor } from "./search.js";
import { table } from "./table.js";

/** A name as an expression that finds it and nothing longer. */
const exactly = (name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

export async function ops(box) {
  const BY = ["op", "scope", "category", "module", "source"],
    hold = el("div", { class: "fill" }),
    answers = new Map();
  const by = el(
    "select",
    { "aria-label": "Group by", on: { change: () => show(true).catch((problem) => notify(problem.message)) } },
    ...BY.map((value) => el("option", { value, text: value })),
  );
  async function show(changed = false) {
    const key = by.value;
    if (!answers.has(key)) answers.set(key, await jsonWhenReady("table/ops", { by: key }));
    const answer = answers.get(key),
      most = answer.rows[0]?.share || 1;
    const searchable = key === "op" || key === "module" || key === "scope";
    const view = table({
      name: `ops-by-${key}`,
      label: `device time by ${key}`,
      tools: [el("label", {}, "by ", by)],
      links: (row) => searchable && Boolean(row.key),
      go: (row) => (key === "op" ? searchFor(exactly(row.key), true) : searchFor(row.key.split("/").pop())),
      empty: "The capture shows no device work, so there is nothing to sum.",
      columns: [
        column(key, "text", (r) => r.key || "(without a name)", { key: "key" }),
        column("self", "time", (r) => r.self_ps, { key: "self_ps" }),
        shareColumn("of work", (r) => r.share, most),
        column("total", "time", (r) => r.total_ps, { key: "total_ps", minor: true }),
        column("times", "count", (r) => r.count, { key: "count" }),
      ],
    });
    hold.replaceChildren(
      el("p", {
        class: "soft",
        text: `${time(answer.total_ps)} of device work. Self: without what runs inside; the self times add up to all of it.`,
      }),
      view.box,
    );
    view.fill(answer.rows);
    if (changed) by.focus({ preventScroll: true }); // it was moved into the new table
  }
  box.replaceChildren(hold);
  await show();
}
