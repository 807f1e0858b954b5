// All about what is selected: an event, a gap, or a span with its sums.

import { json } from "./api.js";
import { el, swatch } from "./dom.js";
import { count, place as formatPlace, share, time } from "./format.js";
import { notify } from "./notice.js";
import { goTo, on, set, state } from "./state.js";

const words = (key) => key.replaceAll("_", " ");

function row(label, ...content) {
  const shown = content.flat().filter((part) => part !== null && part !== undefined && part !== "");
  return shown.length === 0 ? null : [el("dt", { text: label }), el("dd", {}, ...shown)];
}

function link(text, place, title = "Show it on the timeline") {
  return place
    ? el("button", { class: "link", type: "button", title, text, on: { click: () => goTo(place, 1) } })
    : text;
}

function when(place) {
  return `${formatPlace(place.start_ps, Math.max(1, place.dur_ps / 100))}, ${time(place.dur_ps)} long`;
}

// ---- a gap

function partsBar(gap) {
  return el(
    "div",
    { class: "bar" },
    ...gap.parts.slice(0, 40).map((part) =>
      el("span", {
        class: `piece k-${part.cause}`,
        title: `${words(part.cause)}: ${time(part.ps)}`,
        style: { flexGrow: String(part.ps) },
      }),
    ),
  );
}

function part(each) {
  const where = [
    each.scope && `in ${each.scope}`,
    each.event && each.event !== each.scope && each.event,
    each.detail && `(${each.detail})`,
    each.maybe && "may be tracing",
  ];
  return el(
    "li",
    {},
    swatch(each.cause),
    el("b", { text: time(each.ps) }),
    ` ${words(each.cause)} `,
    el("span", { class: "soft", text: where.filter(Boolean).join(" ") }),
  );
}

function work(each) {
  return (
    each &&
    [
      each.op ?? "work without a name",
      each.scope ? ` in ${each.scope}` : each.program ? ` of program ${each.program}` : "",
    ].join("")
  );
}

/** An event that shows why, behind what is known of it already. */
function evidence(each, known = null) {
  const text = each && `${each.event}, ${time(each.dur_ps)}${each.thread ? `, thread ${each.thread}` : ""}`;
  return [
    known && text ? el("div", {}, known) : known,
    text,
    each?.frame ? el("div", { class: "soft", text: each.frame.replace(/^\$/, "") }) : null,
  ];
}

function trigger(item) {
  const { gap } = item;
  if (!gap.trigger || gap.trigger === "none") return null;
  const text = `${words(gap.trigger)}${gap.trigger_scope ? ` in ${gap.trigger_scope}` : ""}`;
  return link(text, item.trigger_place, "Show what made the host late");
}

function gapRows(item) {
  const { gap } = item;
  const shown = gap.parts.slice(0, 8),
    rest = gap.parts.slice(8),
    shows = (role) => gap.evidence.find((e) => e.role === role);
  return [
    el("p", { class: "gap-words" }, swatch(gap.cause), item.words),
    partsBar(gap),
    el(
      "ul",
      { class: "parts" },
      ...shown.map(part),
      rest.length
        ? el("li", {
            class: "soft",
            text: `and ${count(rest.length)} smaller parts, ${time(rest.reduce((sum, p) => sum + p.ps, 0))}`,
          })
        : null,
    ),
    el(
      "dl",
      {},
      row("trigger", evidence(shows("trigger"), trigger(item))),
      row("work before", work(gap.before)),
      row("work after", work(gap.after)),
      ...gap.evidence.filter((e) => e.role !== "trigger").map((e) => row(e.role, evidence(e))),
    ),
  ];
}

// ---- an event

function args(of) {
  const entries = Object.entries(of ?? {});
  return entries.length === 0
    ? null
    : el(
        "details",
        { open: entries.length <= 12 },
        el("summary", { text: `${count(entries.length)} argument${entries.length === 1 ? "" : "s"}` }),
        el(
          "dl",
          { class: "args" },
          ...entries.flatMap(([key, value]) => [
            el("dt", { text: key }),
            el("dd", { text: typeof value === "object" ? JSON.stringify(value) : String(value) }),
          ]),
        ),
      );
}

function neighbours(gaps) {
  const one = (label, gap) => gap && row(label, link(`${words(gap.cause)}, ${time(gap.place.dur_ps)}`, gap.place));
  return gaps ? [one("gap before", gaps.before), one("gap after", gaps.after)] : [];
}

/** Where the flows of an item go or come from. */
function flows(all, here) {
  const is = (place) => place?.track === here.track && place.item === here.item;
  return (all ?? []).slice(0, 8).map((flow) => {
    if (is(flow.from) && flow.to) return row("leads to", link(when(flow.to), flow.to));
    return flow.from && row(flow.kind === "hop" ? "asked by" : "launched by", link(when(flow.from), flow.from));
  });
}

function eventRows(item) {
  return [
    el(
      "dl",
      {},
      ...[
        item.full_name && item.full_name !== item.name
          ? row("full name", el("details", {}, el("summary", { text: "show" }), el("code", { text: item.full_name })))
          : null,
        row("shown as", item.display_name),
        row("scope", item.scope),
        row(
          "step",
          item.step && link(`${item.step.name}${item.step.num === null ? "" : ` ${item.step.num}`}`, item.step.place),
        ),
        row("program", item.op?.program ?? item.op?.module),
        row("category", item.op?.category),
        row("source", item.source),
        row("Python", item.frame?.replace(/^\$/, "")),
        row("own time", item.self_ps !== null && item.self_ps !== item.place.dur_ps ? time(item.self_ps) : null),
        row("thread", item.line),
        row("plane", item.plane),
        row("event", item.event && link("on its thread", item.event)),
        ...neighbours(item.gaps),
        ...flows(item.flows, item.place),
        row(
          "inside of",
          ...(item.parents ?? []).slice(0, 6).map((parent) => el("div", {}, link(parent.name, parent.place))),
        ),
      ].filter(Boolean),
    ),
    args(item.args),
  ];
}

function itemPanel(item) {
  const kind = state.meta.kinds.find((each) => each.key === item.kind);
  const cause = item.gap?.cause ?? item.kind;
  return [
    el("h2", {}, item.gap ? `${time(item.place.dur_ps)} of waiting` : item.name),
    el(
      "p",
      { class: "soft" },
      item.has_time === false ? "Its time was not recorded." : `From ${when(item.place)}`,
      item.gap ? `, ${item.gap.device}` : "",
      item.gap?.step ? `, step ${item.gap.step.name}${item.gap.step.num === null ? "" : ` ${item.gap.step.num}`}` : "",
    ),
    item.gap ? null : el("p", { class: "soft" }, swatch(cause), kind?.words ?? words(item.kind ?? "")),
    ...(item.gap ? gapRows(item) : []),
    ...eventRows(item.gap ? { ...item, scope: item.gap.scope, gaps: null } : item),
  ];
}

// ---- a span

function sumsPanel(span, sums, tracks) {
  const most = sums.rows[0]?.total_ps || 1;
  return [
    el("h2", { text: `${time(span.to - span.from)} selected` }),
    el("p", {
      class: "soft",
      text: `From ${formatPlace(span.from, (span.to - span.from) / 100)}. ${count(sums.total)} items of ${count(sums.names)} names in the ${tracks} on the screen; times are cut to the span.`,
    }),
    sums.rows.length === 0 ? el("p", { text: "Nothing runs in this span in these rows." }) : null,
    el(
      "ol",
      { class: "sums" },
      ...sums.rows.map((each) =>
        el(
          "li",
          {},
          link(each.name || "(without a name)", each.longest, "Show the longest"),
          el("span", {
            class: "soft",
            text: ` ${share(each.total_ps / (span.to - span.from))} of the span, ${count(each.count)} times, mean ${time(each.mean_ps)}`,
          }),
          el("span", { class: "n", text: time(each.total_ps) }),
          el("span", { class: "meter", style: { width: `${(100 * each.total_ps) / most}%` } }),
        ),
      ),
    ),
  ];
}

// ---- the panel

/** screen(): what the timeline shows. */
export function detailsPanel(screen) {
  const body = el("div", { class: "body" });
  const box = el(
    "aside",
    { class: "details", "aria-label": "Selection", hidden: true },
    el("button", {
      class: "close",
      type: "button",
      "aria-label": "Close",
      title: "Close (Escape)",
      text: "×",
      on: { click: () => set({ selection: null }) },
    }),
    body,
  );
  let asked = 0;

  const load = async () => {
    const selection = state.selection,
      mine = ++asked;
    box.hidden = selection === null;
    if (selection === null) {
      set({ place: null, detail: null });
      return;
    }
    if (!state.tracks) return;
    try {
      if ("from" in selection) {
        set({ place: null, detail: null });
        const rows = screen()?.tracks;
        const sums = rows
          ? await json("sums", { from: Math.round(selection.from), to: Math.round(selection.to), tracks: rows })
          : { rows: [], total: 0, names: 0 };
        if (mine === asked) body.replaceChildren(...sumsPanel(selection, sums, "rows").flat().filter(Boolean));
        return;
      }
      const item = await json("item", selection);
      if (mine !== asked) return;
      body.replaceChildren(...itemPanel(item).flat().filter(Boolean));
      box.scrollTop = 0;
      set({ place: item.place, detail: item });
    } catch (problem) {
      if (mine === asked) body.replaceChildren(el("p", { text: problem.message }));
    }
  };
  on("selection tracks", () => load().catch((problem) => notify(problem.message)));
  return box;
}
