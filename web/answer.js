// The first view: the answer in a sentence, where the time of each device went, the largest findings, what to do.

import { deviceBars } from "./bars.js";
import { el, quoted } from "./dom.js";
import { count, share, things, time } from "./format.js";
import { minimap } from "./minimap.js";
import { goTo, on, state } from "./state.js";

/** What the share of a finding is a part of: there is idle time within windows alone, not before and after them. */
function whole({ where }) {
  if (where === "inside") return "of the idle time";
  return state.summary.idle.filter((idle) => idle.total_ps > 0).length > 1
    ? "of the devices' sessions"
    : "of the session";
}

/** "14 ms in 3 gaps, the longest 9 ms" */
const lengths = (each) =>
  `${time(each.ps)} in ${things(each.gaps, "gap")}${each.gaps > 1 ? `, the longest ${time(each.longest_ps)}` : ""}`;

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
      el("span", { class: "share" }, share(each.share), el("span", { class: "of", text: ` ${whole(each)}` })),
      el(
        "span",
        {},
        el("span", { class: "words" }, ...quoted(each.words)),
        el("span", { class: "soft" }, ...quoted(`${lengths(each)}. Show ▸`)),
      ),
    ),
  );
}

function adviceItem(each) {
  return el(
    "li",
    {},
    el("b", {}, ...quoted(each.text)),
    each.share === null ? "" : el("span", { class: "soft" }, ...quoted(` ${share(each.share)} of the run`)),
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
  const working = summary.idle.filter((idle) => idle.total_ps > 0);
  box.replaceChildren(
    ...[
      el("p", { class: "verdict" }, ...quoted(summary.verdict)),
      el("p", { class: "soft", text: facts() }),
      working.length === 0
        ? nothing()
        : deviceBars(summary, working),
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
