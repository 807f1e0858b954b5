// The first view: the answer in a sentence, where the time of each device went, the largest findings, what to do.

import { el, swatch } from "./dom.js";
import { count, share, things, time } from "./format.js";
import { minimap } from "./minimap.js";
import { goTo, on, set, state } from "./state.js";

const words = (key) => key.replaceAll("_", " ");
const EDGE = { lead_in: "before the first work", tail: "after the last work" };

/** Text in which `names` stand in a font of their own. */
function quoted(text) {
  return text.split("`").map((part, k) => (k % 2 ? el("code", { text: part }) : part));
}

/** What lies within the window of a device, causes in the order of all devices. */
function pieces(idle, order) {
  const sums = new Map();
  idle.causes
    .filter((each) => each.where === "inside")
    .forEach((each) => sums.set(each.cause, (sums.get(each.cause) ?? 0) + each.ps));
  return [
    ["busy", idle.busy_ps],
    ["copies", idle.copy_ps],
    ...order.map((cause) => [cause, sums.get(cause) ?? 0]),
  ].filter(([, ps]) => ps > 0);
}

function orderOf(summary) {
  const sums = new Map();
  summary.idle.forEach((idle) =>
    idle.causes
      .filter((each) => each.where === "inside")
      .forEach((each) => sums.set(each.cause, (sums.get(each.cause) ?? 0) + each.ps)),
  );
  return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
}

function piece([key, ps], total, idle) {
  const part = ps / total,
    name = words(key),
    text = part > 0.16 ? `${name} ${share(part)}` : part > 0.075 ? share(part) : "";
  const props = {
    class: `piece k-${key}`,
    title: `${name}: ${time(ps)}, ${share(part)}`,
    text,
    style: { flexGrow: String(part), flexBasis: "0" },
  };
  return key === "busy" || key === "copies"
    ? el("span", props)
    : el("button", {
        ...props,
        type: "button",
        "aria-label": props.title,
        on: { click: () => set({ tab: "gaps", gapFilter: { device: idle.device, cause: key } }) },
      });
}

function edges(idle) {
  return [...idle.causes]
    .sort((a, b) => a.where.localeCompare(b.where))
    .filter((each) => each.where !== "inside" && each.ps > 0)
    .map((each) => `, ${time(each.ps)} ${EDGE[each.where]}`)
    .join("");
}

function deviceBar(summary, idle, order) {
  const device = summary.devices[idle.device],
    several = state.meta.hosts.length > 1,
    shown = pieces(idle, order);
  const window = shown.reduce((sum, [, ps]) => sum + ps, 0);
  const bar = el(
    "div",
    { class: "bar", role: "group", "aria-label": `${device.name}: busy, and idle by cause` },
    ...shown.map((each) => piece(each, window, idle)),
  );
  const numbers = `busy ${share(device.busy_ps / (window || 1))} of ${time(window)}, idle ${time(device.idle_ps)}`;
  return el(
    "div",
    { class: "device", title: `${device.model ?? ""} ${numbers}${edges(idle)}`.trim() },
    el("b", { text: `${device.name}${several ? ` of ${device.host}` : ""}` }),
    el("span", { class: "soft numbers" }, numbers, el("span", { class: "edges", text: edges(idle) })),
    bar,
  );
}

/** What the colours mean: causes that are at least 0.1 % of a window. */
function key(working, order) {
  const used = new Set();
  for (const idle of working) {
    const shown = pieces(idle, order);
    const window = shown.reduce((sum, [, ps]) => sum + ps, 0);
    shown.filter(([, ps]) => ps > window / 1000).forEach(([name]) => used.add(name));
  }
  const meaning = (name) => state.meta.kinds.find((kind) => kind.key === name)?.words;
  const entry = (name) => el("li", { title: meaning(name) ?? "The device worked" }, swatch(name), words(name));
  return el("ul", { class: "key" }, ...["busy", "copies", ...order].filter((name) => used.has(name)).map(entry));
}

function finding(each) {
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "finding",
        disabled: !each.place,
        title: "Show the longest of these gaps on the timeline",
        on: { click: () => goTo(each.place) },
      },
      el("span", { class: `mark k-${each.cause}` }),
      el("span", { class: "share", text: share(each.share) }),
      el(
        "span",
        {},
        el("span", { class: "words" }, ...quoted(each.words)),
        el("span", {
          class: "soft",
          text: `${time(each.ps)} in ${things(each.gaps, "gap")}${each.gaps > 1 ? `, the longest ${time(each.longest_ps)}` : ""}. Show ▸`,
        }),
      ),
    ),
  );
}

function adviceItem(each) {
  return el(
    "li",
    {},
    el("b", {}, ...quoted(each.text)),
    each.share === null ? "" : el("span", { class: "soft", text: ` ${share(each.share)} of the run` }),
    each.evidence ? el("div", { class: "soft" }, "Seen: ", ...quoted(each.evidence)) : null,
  );
}

function facts() {
  const { meta, summary } = state,
    working = summary.devices.filter((device) => device.window_ps);
  const known =
    summary.coverage.idle_ps > 0
      ? `, causes known for ${share(summary.coverage.explained_ps / summary.coverage.idle_ps)} of the idle time`
      : "";
  return `${things(working.length, "device")} with work, ${things(meta.hosts.length, "host")}, ${count(meta.events)} events, ${meta.session_ps === null ? "a span" : "a session"} of ${time(meta.session_ps ?? meta.to_ps - meta.from_ps)}${known}.`;
}

function nothing() {
  const { meta, summary } = state;
  const why =
    meta.events === 0
      ? "The capture holds no events at all. Was the program working while it was traced? `xlaprof info` and the tab Health list what is there."
      : summary.devices.length === 0
        ? "The capture shows only the host: no device is in it, so there is no waiting to explain. The threads of the host are on the timeline."
        : "Devices are named in the capture, but no work of them was recorded, so there is no waiting to explain. The tab Health says more.";
  return el("p", { class: "empty" }, ...quoted(why));
}

function problems() {
  const bad = state.meta.hosts.filter((host) => host.problem);
  const lines = [...new Set([...bad.map((host) => `${host.path}: ${host.problem}`), ...state.summary.warnings])];
  return lines.length === 0
    ? null
    : el(
        "section",
        { class: "warnings" },
        el("h2", { text: "To be kept in mind" }),
        el("ul", {}, ...lines.slice(0, 6).map((text) => el("li", { text }))),
        lines.length > 6 ? el("p", { class: "soft", text: `and ${lines.length - 6} more: see Health` }) : null,
      );
}

function fill(box, map) {
  const { summary } = state;
  if (!summary) return;
  const working = summary.idle.filter((idle) => idle.total_ps > 0),
    order = orderOf(summary),
    MOST = 16;
  box.replaceChildren(
    ...[
      el("p", { class: "verdict" }, ...quoted(summary.verdict)),
      el("p", { class: "soft", text: facts() }),
      working.length === 0
        ? nothing()
        : el(
            "section",
            { "aria-label": "Busy, and idle by cause" },
            el(
              "div",
              { class: working.length > 2 ? "devices many" : "devices" },
              ...working.slice(0, MOST).map((idle) => deviceBar(summary, idle, order)),
            ),
            working.length > MOST
              ? el("p", { class: "soft", text: `and ${working.length - MOST} more devices` })
              : null,
            key(working, order),
          ),
      summary.findings.length === 0
        ? null
        : el(
            "section",
            {},
            el("h2", { text: "Largest reasons" }),
            el("ol", { class: "findings" }, ...summary.findings.map(finding)),
          ),
      working.length === 0
        ? null
        : el(
            "section",
            {},
            el("h2", {
              text: working.length > 1 ? "When they waited, and why (mean of the devices)" : "When it waited, and why",
            }),
            map,
          ),
      summary.advice.length === 0
        ? null
        : el(
            "section",
            {},
            el("h2", { text: "What to do" }),
            el("ol", { class: "advice" }, ...summary.advice.map(adviceItem)),
          ),
      problems(),
    ].filter(Boolean),
  );
}

export function answer() {
  const box = el("div", { class: "answer" }),
    map = minimap({ frame: false });
  on("summary", () => fill(box, map));
  return box;
}
