// Counters, and what cut the program into pieces.

import { jsonWhenReady } from "./api.js";
import { column, COUNTERS } from "./columns.js";
import { el } from "./dom.js";
import { count, rate } from "./format.js";
import { searchFor } from "./search.js";
import { table } from "./table.js";

const MEANING = {
  compiles: "programs built",
  executes: "programs started",
  reads: "values fetched from a device",
  uploads: "data sent to it",
  syncs: "torch_xla.sync or the like",
};
const CUTS = { step_end: "end of step", sync: "sync", read: "value read", eager: "operation of its own" };

/** What the metrics report says of a counter. */
function reported({ report }, name) {
  const differs = report.differs.includes(name);
  return el(
    "span",
    { class: differs ? "report differs" : "report soft" },
    `report ${count(report[name])}, ${differs ? "differs" : "agrees"}`,
  );
}

/** Which report the counters are held against, and how the two compare. */
function comparison({ report }) {
  const fallbacks = Object.entries(report.cpu_fallbacks).map(([name, times]) => `${name} ${count(times)}`);
  return el(
    "section",
    {},
    el("h2", { text: "Held against the metrics report" }),
    el("p", { class: "soft", text: report.path }),
    ...report.words.map((text) => el("p", { text })),
    fallbacks.length === 0
      ? null
      : el("p", { text: `Operations that ran on the CPU, each after a read: ${fallbacks.join(", ")}` }),
  );
}

/** " (3 programs per denoise step)" */
function programs({ programs_per_step: each, main_step: step }) {
  const number = rate(each);
  return each > 0 ? ` (${number} program${number === "1" ? "" : "s"} per ${step} step)` : "";
}

export async function counters(box) {
  const answer = await jsonWhenReady("table/counters");
  const tile = (name) =>
    el(
      "div",
      { class: "tile" },
      el("b", { text: count(answer[name]) }),
      el("span", { text: name }),
      el("span", {
        class: "soft",
        text: name in answer.per_step ? `${rate(answer.per_step[name])} a step, mean of all ${answer.steps}` : MEANING[name],
      }),
      answer.report ? reported(answer, name) : null,
    );
  const scopes = table({
    name: "counters",
    label: "counters by scope",
    go: (row) => searchFor(row.scope),
    links: (row) => Boolean(row.scope),
    empty: "No compile, execute, read, upload or sync was recorded.",
    columns: [
      column("scope", "text", (r) => r.scope ?? "(in no scope or step)", { key: "scope" }),
      ...COUNTERS.map((name) => column(name, "count", (r) => r[name])),
    ],
  });
  const cuts = answer.cut_points ?? [];
  box.replaceChildren(
    ...[
      el("div", { class: "tiles" }, ...COUNTERS.map(tile)),
      answer.report ? comparison(answer) : null,
      cuts.length === 0
        ? null
        : el(
            "section",
            {},
            el("h2", {
              text: `Cut points: what ended a program and sent it to the device${programs(answer)}`,
            }),
            el(
              "ul",
              { class: "cuts" },
              ...cuts
                .slice(0, 12)
                .map((cut) =>
                  el(
                    "li",
                    {},
                    el("b", { text: count(cut.count) }),
                    ` ${CUTS[cut.kind] ?? cut.kind}${cut.scope ? `${cut.kind === "step_end" ? " " : " in "}${cut.scope}` : ""}`,
                    cut.per_step > 0 ? el("span", { class: "soft", text: `, ${rate(cut.per_step)} per ${answer.main_step} step` }) : null,
                  ),
                ),
            ),
          ),
      el("h2", { text: "By scope (a scope counts what is not in a scope inside it)" }),
      scopes.box,
    ].filter(Boolean),
  );
  scopes.fill(answer.by_scope ?? []);
}
