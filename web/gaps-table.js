// The gaps.  There can be hundreds of thousands, so they come in pages, the longest or the first of them first.

import { json } from "./api.js";
import { column, meter, severalHosts, stepLabel, words } from "./columns.js";
import { el, swatch } from "./dom.js";
import { count, things, time } from "./format.js";
import { notify } from "./notice.js";
import { goTo, on, state } from "./state.js";
import { table } from "./table.js";

export async function gaps(box) {
  const PAGE = 1000,
    choice = (name, options) =>
      el(
        "select",
        { "aria-label": name, on: { change: () => load(true) } },
        ...options.map(([value, text]) => el("option", { value, text })),
      );
  const devices = state.summary.devices
    .map((device, k) => [String(k), severalHosts() ? `${device.name} of ${device.host}` : device.name])
    .filter(([k]) => state.summary.idle[k]?.total_ps > 0);
  const device = choice("Device", [["", "all devices"], ...devices]);
  const cause = choice("Cause", [
    ["", "all causes"],
    ...state.meta.kinds.slice(0, 12).map((kind) => [kind.key, words(kind.key)]),
  ]);
  const sort = choice("Order of the server", [
    ["length", "longest"],
    ["start", "first"],
  ]);
  const more = el("button", { type: "button", text: "Load more", hidden: true, on: { click: () => load(false) } }),
    sum = el("span", { class: "soft" });
  const view = table({
    name: "gaps",
    label: "gaps",
    go: (row) => goTo(row.place),
    tools: [device, cause, el("label", {}, "load the ", sort), more, sum],
    saveAll: "data/table/gaps?format=csv",
    empty: state.summary.idle.some((idle) => idle.total_ps > 0)
      ? "No gap of this kind: the devices did not wait so."
      : "The capture shows no device work, so there is no waiting to list.",
    columns: [
      column("cause", "text", (r) => r.gap.cause, {
        cell: (r) =>
          el(
            "span",
            {},
            swatch(r.gap.cause),
            el("button", { class: "link", type: "button", text: words(r.gap.cause) }),
          ),
      }),
      column("length", "time", (r) => r.gap.dur_ps, {
        key: "dur_ps",
        cell: (r) => meter(r.gap.dur_ps / longest, time(r.gap.dur_ps)),
      }),
      column("start", "time", (r) => r.gap.start_ps, { key: "start_ps" }),
      column("device", "text", (r) => r.gap.device),
      ...(severalHosts() ? [column("host", "text", (r) => r.gap.host)] : []),
      column("in", "text", (r) => r.gap.scope, { key: "scope" }),
      column(
        "after",
        "text",
        (r) =>
          r.gap.where === "lead_in"
            ? "the session start"
            : r.gap.where === "tail"
              ? "the last work"
              : r.gap.trigger === "none" || !r.gap.trigger
                ? ""
                : `${words(r.gap.trigger)}${r.gap.trigger_scope ? ` in ${r.gap.trigger_scope}` : ""}`,
        { key: "trigger" },
      ),
      column("step", "text", (r) => stepLabel(r.gap.step), { minor: true }),
      column("why", "text", (r) => r.words, { key: "words", minor: true }),
    ],
  });
  let rows = [],
    longest = 1;
  async function load(anew) {
    if (anew) rows = [];
    const page = await json("table/gaps", {
      sort: sort.value,
      device: device.value,
      cause: cause.value,
      limit: PAGE,
      skip: rows.length,
    });
    rows = rows.concat(page.rows);
    longest = Math.max(1, ...rows.map((row) => row.gap.dur_ps));
    more.hidden = rows.length >= page.total;
    more.textContent = `Load ${count(Math.min(PAGE, page.total - rows.length))} more`;
    sum.textContent = `${things(page.total, "gap")}, ${time(page.total_ps)} in all`;
    view.fill(rows);
  }
  const filter = () => {
    if (!state.gapFilter) return;
    [device.value, cause.value] = [String(state.gapFilter.device ?? ""), state.gapFilter.cause];
    load(true).catch((problem) => notify(problem.message));
  };
  on("gapFilter", filter);
  box.replaceChildren(view.box);
  if (state.gapFilter) filter();
  else await load(true);
}
