// The tabs with tables.  Each is made when it is first looked at; what its server's answer cannot show it says.

import { json, jsonWhenReady } from "./api.js";
import { el, swatch } from "./dom.js";
import { count, share, things, time } from "./format.js";
import { notify } from "./notice.js";
import { searchFor } from "./search.js";
import { goTo, on, state } from "./state.js";
import { strip } from "./strip.js";
import { table } from "./table.js";

const words = (key) => (key ?? "").replaceAll("_", " ");
const label = (step) => (step ? `${step.name ?? ""}${step.num === null ? "" : ` ${step.num}`}` : "");
const severalHosts = () => state.meta.hosts.length > 1;
const column = (title, kind, value, more = {}) => ({ title, kind, value, ...more });
const COUNTERS = ["compiles", "executes", "reads", "uploads", "syncs"];

/** A name as an expression that finds it and nothing longer. */
const exactly = (name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

function meter(part, text) {
  return el("span", { class: "with-meter" }, el("span", { class: "meter", style: { width: `${Math.max(0, Math.min(100, 100 * part))}%` } }), el("span", { text }));
}

const shareColumn = (value) => column("share", "share", value, { cell: (row) => meter(value(row), share(value(row))) });

function warnings(all) {
  return all?.length ? el("ul", { class: "warnings" }, ...all.map((text) => el("li", { text }))) : null;
}

// ---- steps

export async function steps(box) {
  const answer = await jsonWhenReady("table/steps"), { tracks } = await jsonWhenReady("tracks");
  const seen = new Map(); // steps of a host so far: its track has them in the same order
  for (const step of answer.steps) {
    const k = seen.get(step.host) ?? 0, track = tracks.find((each) => each.kind === "steps" && each.host === step.host);
    seen.set(step.host, k + 1);
    step.place = track ? { track: track.id, item: k, depth: 0, start_ps: step.start_ps, dur_ps: step.dur_ps } : null;
  }
  const names = new Map();
  answer.steps.forEach((step) => { const key = severalHosts() ? `${step.name} of ${step.host}` : step.name; names.set(key, [...(names.get(key) ?? []), step]); });
  const source = { module: "Inferred: no step is marked in the capture, so each run of the main program counts as one.", device: "From the line Steps of the devices." }[answer.source];
  const view = table({ name: "steps", label: "steps", go: (step) => goTo(step.place, 0.1), links: (step) => Boolean(step.place),
    empty: answer.reason ?? "No step is marked in this capture. Annotate the loop: StepTraceAnnotation in JAX, StepTrace in torch_xla.",
    columns: [column("step", "text", label), ...(severalHosts() ? [column("host", "text", (s) => s.host)] : []), column("start", "time", (s) => s.start_ps, { key: "start_ps" }),
              column("length", "time", (s) => s.dur_ps, { key: "dur_ps", cell: (s) => meter(s.dur_ps / longest, time(s.dur_ps)) }), column("busy", "time", (s) => s.busy_ps, { key: "busy_ps" }),
              ...COUNTERS.map((name) => column(name, "count", (s) => s[name], { minor: true })), column("whole", "text", (s) => (s.complete ? "" : "cut"), { minor: true })] });
  const longest = Math.max(1, ...answer.steps.map((step) => step.dur_ps));
  box.replaceChildren(...[source ? el("p", { class: "soft", text: source }) : null,
    ...[...names].sort((a, b) => b[1].length - a[1].length).slice(0, 4).map(([name, some]) => strip(name, some, (step) => step.place && goTo(step.place, 0.1))), view.box].filter(Boolean));
  view.fill(answer.steps);
}

// ---- gaps

export async function gaps(box) {
  const PAGE = 1000, choice = (name, options) => el("select", { "aria-label": name, on: { change: () => load(true) } }, ...options.map(([value, text]) => el("option", { value, text })));
  const devices = state.summary.devices.map((device, k) => [String(k), severalHosts() ? `${device.name} of ${device.host}` : device.name]).filter(([k]) => state.summary.idle[k]?.total_ps > 0);
  const device = choice("Device", [["", "all devices"], ...devices]);
  const cause = choice("Cause", [["", "all causes"], ...state.meta.kinds.slice(0, 12).map((kind) => [kind.key, words(kind.key)])]);
  const sort = choice("Order of the server", [["length", "longest"], ["start", "first"]]);
  const more = el("button", { type: "button", text: "Load more", hidden: true, on: { click: () => load(false) } }), sum = el("span", { class: "soft" });
  const view = table({ name: "gaps", label: "gaps", go: (row) => goTo(row.place), tools: [device, cause, el("label", {}, "load the ", sort), more, sum], saveAll: "data/table/gaps?format=csv",
    empty: "No gap of this kind: between their first and last work the devices did not wait so.",
    columns: [column("cause", "text", (r) => r.gap.cause, { cell: (r) => el("span", {}, swatch(r.gap.cause), el("button", { class: "link", type: "button", text: words(r.gap.cause) })) }),
              column("length", "time", (r) => r.gap.dur_ps, { key: "dur_ps", cell: (r) => meter(r.gap.dur_ps / longest, time(r.gap.dur_ps)) }), column("start", "time", (r) => r.gap.start_ps, { key: "start_ps" }),
              column("device", "text", (r) => r.gap.device), ...(severalHosts() ? [column("host", "text", (r) => r.gap.host)] : []), column("in", "text", (r) => r.gap.scope, { key: "scope" }),
              column("after", "text", (r) => (r.gap.where === "lead_in" ? "the session start" : r.gap.where === "tail" ? "the last work" : r.gap.trigger === "none" || !r.gap.trigger ? "" : `${words(r.gap.trigger)}${r.gap.trigger_scope ? ` in ${r.gap.trigger_scope}` : ""}`), { key: "trigger" }),
              column("step", "text", (r) => label(r.gap.step), { minor: true }), column("why", "text", (r) => r.words, { key: "words", minor: true })] });
  let rows = [], longest = 1;
  async function load(anew) {
    if (anew) rows = [];
    const page = await json("table/gaps", { sort: sort.value, device: device.value, cause: cause.value, limit: PAGE, skip: rows.length });
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

// ---- operations

export async function ops(box) {
  const BY = ["op", "scope", "category", "module", "source"], hold = el("div", { class: "fill" }), answers = new Map();
  const by = el("select", { "aria-label": "Group by", on: { change: () => show().catch((problem) => notify(problem.message)) } }, ...BY.map((value) => el("option", { value, text: value })));
  async function show() {
    const key = by.value;
    if (!answers.has(key)) answers.set(key, await jsonWhenReady("table/ops", { by: key }));
    const answer = answers.get(key), most = answer.rows[0]?.share || 1;
    const searchable = key === "op" || key === "module" || key === "scope";
    const view = table({ name: `ops-by-${key}`, label: `device time by ${key}`, tools: [el("label", {}, "by ", by)], links: (row) => searchable && Boolean(row.key),
      go: (row) => (key === "op" ? searchFor(exactly(row.key), true) : searchFor(row.key.split("/").pop())),
      empty: "The capture shows no device work, so there is nothing to sum.",
      columns: [column(key, "text", (r) => r.key || "(without a name)", { key: "key" }), column("self", "time", (r) => r.self_ps, { key: "self_ps" }),
                column("share", "share", (r) => r.share, { cell: (r) => meter(r.share / most, share(r.share)) }), column("total", "time", (r) => r.total_ps, { key: "total_ps", minor: true }), column("times", "count", (r) => r.count, { key: "count" })] });
    hold.replaceChildren(el("p", { class: "soft", text: `${time(answer.total_ps)} of device work. Self: without what runs inside; the self times add up to all of it.` }), view.box);
    view.fill(answer.rows);
    by.focus({ preventScroll: true });
  }
  box.replaceChildren(hold);
  await show();
}

// ---- names

const GATES = { on: "Names are on.", off: "Names are off: the host has scopes that never reach the device. Set XLA_HLO_DEBUG=1 before the program starts (torch_xla) and capture again.", unknown: "" };

export async function names(box) {
  const answer = await jsonWhenReady("table/names"), whole = answer.device_ps || 1, folded = new Set();
  const parents = new Set(answer.scopes.map((row) => row.scope.slice(0, Math.max(0, row.scope.lastIndexOf("/")))));
  const isHidden = (row) => { for (let at = row.scope.lastIndexOf("/"); at > 0; at = row.scope.lastIndexOf("/", at - 1)) if (folded.has(row.scope.slice(0, at))) return true; return false; };
  const cell = (row, flat) => {
    const last = row.scope.slice(row.scope.lastIndexOf("/") + 1), depth = row.scope.split("/").length - 1, open = !folded.has(row.scope);
    if (flat) return row.scope;
    return el("span", { class: "tree", style: { paddingLeft: `${depth * 1.1}rem` } },
      parents.has(row.scope) && !row.rest ? el("button", { class: "fold", type: "button", "aria-expanded": String(open), "aria-label": `${open ? "Fold" : "Unfold"} ${row.scope}`, text: open ? "▾" : "▸",
        on: { click: () => { if (open) folded.add(row.scope); else folded.delete(row.scope); view.again(); } } }) : el("span", { class: "fold" }),
      row.rest ? last : el("button", { class: "link", type: "button", title: "Search it on the timeline", text: last }));
  };
  const view = table({ name: "names", label: "device time by scope", hidden: isHidden, go: (row) => searchFor(row.scope.split("/").pop()), links: (row) => !row.rest,
    empty: "The capture shows no device work, so there is nothing to name.",
    columns: [column("scope", "text", (r) => r.scope, { cell }), column("time", "time", (r) => r.ps, { key: "ps" }), column("self", "time", (r) => r.self_ps, { key: "self_ps" }),
              shareColumn((r) => r.ps / whole), column("ops run", "count", (r) => r.ops, { key: "ops" })] });
  const list = (title, all) => (all.length === 0 ? null : el("details", {}, el("summary", { text: `${title} (${count(all.length)})` }), el("p", { text: all.join(", ") })));
  box.replaceChildren(...[el("p", { class: "soft", text: `${share(answer.named_ps / whole)} of the device time (${time(answer.device_ps)}) lies in a scope of the program. ${GATES[answer.gate] ?? ""}` }),
    list("Scopes of the host that name no work of a device", answer.host_only_scopes), list("Scopes on devices that the host never entered", answer.device_only_scopes), view.box].filter(Boolean));
  view.fill([...answer.scopes, ...(answer.unnamed_ps > 0 ? [{ scope: "(in no scope)", ps: answer.unnamed_ps, self_ps: answer.unnamed_ps, ops: null, rest: true }] : [])]);
}

