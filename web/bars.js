// Where the window of each device went: a bar for each, busy and idle by cause, in shares of the window.

import { el, quoted, swatch } from "./dom.js";
import { share, time } from "./format.js";
import { set, state } from "./state.js";

const MOST = 16;
const EDGE = { lead_in: "before the first work", tail: "after the last work" };

const words = (key) => key.replaceAll("_", " ");

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

const windowOf = (shown) => shown.reduce((sum, [, ps]) => sum + ps, 0) || 1;

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
    name = words(key);
  const props = {
    class: `piece k-${key}`,
    title: `${name}: ${time(ps)}, ${share(part)} of the window`,
    "data-labels": `${name} ${share(part)}\n${share(part)}\n`,
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

const ruler = document.createElement("canvas").getContext("2d");

/** Gives each piece the longest of its labels that lies in it whole. */
function label(bars) {
  const all = bars.flatMap((bar) => [...bar.children]).map((node) => [node, node.clientWidth]);
  if (all.length > 0) ruler.font = getComputedStyle(all[0][0]).font;
  for (const [node, width] of all) {
    const fits = (text) => text === "" || ruler.measureText(text).width + 4 <= width;
    node.textContent = node.dataset.labels.split("\n").find(fits);
  }
}

const resized = new ResizeObserver((entries) => label(entries.map((entry) => entry.target)));

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
    shown = pieces(idle, order),
    window = windowOf(shown);
  const bar = el(
    "div",
    { class: "bar", role: "group", "aria-label": `${device.name}: busy, and idle by cause` },
    ...shown.map((each) => piece(each, window, idle)),
  );
  resized.observe(bar);
  const numbers = `busy ${share(device.busy_ps / window)} of ${time(window)}, idle ${time(device.idle_ps)}`;
  return el(
    "div",
    { class: "device", title: `${device.model ?? ""} ${numbers}${edges(idle)}`.trim() },
    el("b", { text: `${device.name}${several ? ` of ${device.host}` : ""}` }),
    el("span", { class: "soft numbers" }, ...quoted(numbers), el("span", { class: "edges" }, ...quoted(edges(idle)))),
    bar,
  );
}

/** What the colours mean, of causes that are at least 0.1 % of a window, and what the shares are parts of. */
function key(working, order) {
  const used = new Set();
  for (const idle of working) {
    const shown = pieces(idle, order),
      window = windowOf(shown);
    shown.filter(([, ps]) => ps > window / 1000).forEach(([name]) => used.add(name));
  }
  const meaning = (name) => state.meta.kinds.find((kind) => kind.key === name)?.words;
  const entry = (name) => el("li", { title: meaning(name) ?? "The device worked" }, swatch(name), words(name));
  return el(
    "ul",
    { class: "key" },
    ...["busy", "copies", ...order].filter((name) => used.has(name)).map(entry),
    el("li", { class: "soft", text: "Shares are of the window, from the first work to the last." }),
  );
}

/** The bars of devices with work, and their key. */
export function deviceBars(summary, working) {
  const order = orderOf(summary);
  return el(
    "section",
    { "aria-label": "Busy, and idle by cause" },
    el(
      "div",
      { class: working.length > 2 ? "devices many" : "devices" },
      ...working.slice(0, MOST).map((idle) => deviceBar(summary, idle, order)),
    ),
    working.length > MOST ? el("p", { class: "soft", text: `and ${working.length - MOST} more devices` }) : null,
    key(working, order),
  );
}
