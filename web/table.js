// A table that sorts, filters, copies and saves, and whose rows lead to the timeline.
//
// Only the rows on the screen are elements: a table of 100,000 rows costs no more than one of 50.  All rows have one
// height for that.

import { save, toCsv, toText } from "./csv.js";
import { el } from "./dom.js";
import { count, rate, share, things, time } from "./format.js";
import { notify } from "./notice.js";

const HEIGHT = 28;
const EXTRA = 12; // rows above and below the screen
const SHOW = {
  text: (v) => v ?? "",
  time,
  count,
  rate,
  share: (v) => (v === null || v === undefined ? "-" : share(v)),
};

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function classOf(column) {
  return [column.kind === "text" ? "" : "n", column.minor ? "minor" : ""].join(" ").trim();
}

function button(text, title, run) {
  return el("button", { type: "button", text, title, on: { click: run } });
}

class Table {
  constructor(options) {
    Object.assign(this, { go: null, links: () => true, hidden: null, tools: [], saveAll: null }, options);
    this.rows = [];
    this.shown = [];
    this.order = null; // [column, downwards]; null: as the rows come
    this.drawn = "";
    for (const column of this.columns) {
      column.key ??= column.title.replaceAll(" ", "_");
      column.show = (row) => SHOW[column.kind](column.value(row));
    }
    this.build();
  }

  build() {
    const { label, name } = this;
    const typed = { input: () => this.again() };
    this.filter = el("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${label}`, on: typed });
    this.told = el("output", { class: "soft" });
    this.head = el("tr");
    this.body = el("tbody");
    const grid = el("table", { "aria-label": label }, el("thead", {}, this.head), this.body);
    this.scroller = el("div", { class: "rows", tabindex: 0, role: "group", "aria-label": label }, grid);
    const all =
      this.saveAll && el("a", { class: "button", href: this.saveAll, download: `${name}.csv`, text: "Save all" });
    this.box = el(
      "div",
      { class: "table-view" },
      el(
        "div",
        { class: "tools" },
        this.filter,
        ...this.tools,
        this.told,
        el("span", { class: "space" }),
        button("Copy", "Copy the rows that are shown, with tabs between the columns", () => this.copy()),
        button("Save CSV", "Save the rows that are shown; times in ps", () => {
          save(`${name}.csv`, toCsv(this.columns, this.shown));
        }),
        all,
      ),
      this.scroller,
    );
    this.scroller.addEventListener("scroll", () => this.draw(false));
    new ResizeObserver(() => this.draw(false)).observe(this.scroller);
  }

  fill(rows) {
    this.rows = rows;
    this.again();
  }

  /** Chooses and orders the rows that are shown. */
  again() {
    const text = this.filter.value.trim().toLowerCase();
    const texts = this.columns.filter((column) => column.kind === "text");
    const holds = (row, column) =>
      String(column.value(row) ?? "")
        .toLowerCase()
        .includes(text);
    this.flat = text !== "" || this.order !== null;
    this.shown = text ? this.rows.filter((row) => texts.some((column) => holds(row, column))) : this.rows;
    if (!this.flat && this.hidden) this.shown = this.shown.filter((row) => !this.hidden(row));
    if (this.order) {
      const { value } = this.columns[this.order[0]];
      const sign = this.order[1] ? -1 : 1;
      this.shown = [...this.shown].sort((a, b) => sign * compare(value(a), value(b)));
    }
    const all = things(this.rows.length, "row");
    this.told.textContent = this.shown.length === this.rows.length ? all : `${count(this.shown.length)} of ${all}`;
    this.headings();
    this.draw(true);
  }

  headings() {
    const focused = [...this.head.children].findIndex((th) => th.contains(document.activeElement));
    const heading = (column, k) => {
      const down = this.order?.[0] === k ? this.order[1] : null;
      const sorted = down === null ? "none" : down ? "descending" : "ascending";
      const mark = { none: "", descending: " ▾", ascending: " ▴" }[sorted];
      const turn = () => {
        this.order = down === null ? [k, column.kind !== "text"] : [k, !down];
        this.again();
      };
      const cell = { scope: "col", class: classOf(column), "aria-sort": sorted };
      return el("th", cell, button(column.title + mark, "Sort", turn));
    };
    this.head.replaceChildren(...this.columns.map(heading), el("th", { class: "filler", "aria-hidden": "true" }));
    this.head.children[focused]?.firstChild?.focus();
  }

  line(row) {
    const linked = Boolean(this.go) && this.links(row);
    const cells = this.columns.map((column, k) => {
      const text = column.show(row);
      let inner = column.cell?.(row, this.flat) ?? text;
      if (k === 0 && linked && typeof inner === "string") {
        inner = el("button", { class: "link", type: "button", title: "Show it on the timeline", text: inner });
      }
      return el("td", { class: classOf(column), title: column.kind === "text" ? text : null }, inner);
    });
    const click = (event) => {
      const other = event.target.closest("button:not(.link)");
      if (!other && String(getSelection()) === "") this.go(row);
    };
    return el("tr", linked ? { class: "linked", on: { click } } : {}, ...cells, el("td", { class: "filler" }));
  }

  /** Makes elements of the rows on the screen; all of them anew with `again`. */
  draw(again) {
    const { shown, scroller, columns, body } = this;
    const first = Math.max(0, Math.floor(scroller.scrollTop / HEIGHT) - EXTRA);
    const onScreen = Math.ceil((scroller.clientHeight || 600) / HEIGHT);
    const stop = Math.min(shown.length, first + onScreen + 2 * EXTRA);
    if (!again && this.drawn === `${first}-${stop}`) return;
    this.drawn = `${first}-${stop}`;
    const space = (lines) => {
      const style = { height: `${lines * HEIGHT}px` };
      return lines > 0
        ? [el("tr", { class: "space", "aria-hidden": "true" }, el("td", { colspan: columns.length, style }))]
        : [];
    };
    const lines = shown.slice(first, stop).map((row) => this.line(row));
    body.replaceChildren(...space(first), ...lines, ...space(shown.length - stop));
    if (shown.length === 0) {
      const why = this.rows.length === 0 ? this.empty : "No row has this text: empty the filter to see all.";
      body.append(el("tr", {}, el("td", { class: "empty", colspan: columns.length + 1, text: why })));
    }
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(toText(this.columns, this.shown));
      this.told.textContent = `${things(this.shown.length, "row")} copied`;
    } catch {
      notify("The browser does not let this page copy. Save the table as CSV instead.");
    }
  }
}

/** A table: {box: its element, fill(rows), again()}.
 *
 *  columns: [{title, kind, value(row)}], where kind is text, time, count, share or rate, and says how a value is shown;
 *  optional: key (the name in CSV), cell(row, flat): an element instead of the text, minor: left out on narrow screens.
 *  name: of the CSV file; label: what it shows; empty: what to say without rows.  Optional: go(row): shows it on the
 *  timeline; links(row): false for rows without a place there; hidden(row): rows of a tree that are folded, heeded while
 *  nothing is sorted or filtered; tools: elements beside the filter; saveAll: the address of a CSV of all rows. */
export function table(options) {
  return new Table(options);
}
