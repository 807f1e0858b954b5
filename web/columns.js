// What the tables share: their columns, and small things in their cells.

import { el } from "./dom.js";
import { share } from "./format.js";
import { state } from "./state.js";

export const COUNTERS = ["compiles", "executes", "reads", "uploads", "syncs"];

/** A column of table(). */
export const column = (title, kind, value, more = {}) => ({ title, kind, value, ...more });

export const severalHosts = () => state.meta.hosts.length > 1;

export const words = (key) => (key ?? "").replaceAll("_", " ");

/** "denoise 3" */
export const stepLabel = (step) => (step ? `${step.name ?? ""}${step.num === null ? "" : ` ${step.num}`}` : "");

/** A text with a bar before it, as long as a part of the longest. */
export function meter(part, text) {
  const width = `${Math.max(0, Math.min(100, 100 * part))}%`;
  const bar = el("span", { class: "lane" }, el("span", { class: "meter", style: { width } }));
  return el("span", { class: "with-meter" }, bar, el("span", { text }));
}

/** A column of shares; `of` says of what. */
export const shareColumn = (of, value, whole = 1) =>
  column(of, "share", value, { key: "share", cell: (row) => meter(value(row) / whole, share(value(row))) });
