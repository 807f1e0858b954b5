// A table that sorts, filters, copies and saves, and whose rows lead to the timeline.
//
// Only the rows on the screen are elements: a table of 100,000 rows costs no more than one of 50.  All rows have one
// height for that.
//
// A column is {title, kind, value(row)}; kind is text, time, count, share or rate, and says how the value is shown.
// Optional: key (its name in CSV), cell(row): an element instead of the text, minor: left out on narrow screens.

import { el } from "./dom.js";
import { count, rate, share, things, time } from "./format.js";
import { notify } from "./notice.js";

const HEIGHT = 28,
  EXTRA = 12;
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

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(columns, rows) {
  return [columns.map((column) => column.key), ...rows.map((row) => columns.map((column) => column.value(row)))]
    .map((cells) => `${cells.map(csvCell).join(",")}\r\n`)
    .join("");
}

function toText(columns, rows) {
  return [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => SHOW[column.kind](column.value(row)))),
  ]
    .map((cells) => cells.map((cell) => String(cell).replace(/[\t\r\n]/g, " ")).join("\t"))
    .join("\n");
}

export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** name: of the CSV file; go(row): shows it on the timeline, or null where a row has no place there; links(row): false
 *  for rows without one; sort: [column, downwards] at first, null for the order of the rows; hidden(row): rows of a tree
 *  that are folded; tools: further elements beside the filter; empty: what to say without rows; saveAll: an address. */
export function table({
  name,
  label,
  columns,
  go = null,
  links = () => true,
  sort = null,
  hidden = null,
  tools = [],
  empty,
  saveAll = null,
}) {
  let rows = [],
    shown = [],
    order = sort;
  columns.forEach((column) => {
    column.key ??= column.title.replaceAll(" ", "_");
  });
  const filter = el("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": `Filter ${label}`,
    on: { input: () => arrange() },
  });
  const told = el("output", { class: "soft" });
  const body = el("tbody"),
    head = el("tr"),
    scroller = el("div", { class: "rows", tabindex: 0, role: "group", "aria-label": label });
  const grid = el("table", { "aria-label": label }, el("thead", {}, head), body);
  const box = el(
    "div",
    { class: "table-view" },
    el(
      "div",
      { class: "tools" },
      filter,
      ...tools,
      told,
      el("span", { class: "space" }),
      el("button", {
        type: "button",
        text: "Copy",
        title: "Copy the rows that are shown, with tabs between the columns",
        on: { click: copy },
      }),
      el("button", {
        type: "button",
        text: "Save CSV",
        title: "Save the rows that are shown; times in ps",
        on: { click: () => save(`${name}.csv`, toCsv(columns, shown)) },
      }),
      saveAll ? el("a", { class: "button", href: saveAll, download: `${name}.csv`, text: "Save all" }) : null,
    ),
    scroller,
  );
  scroller.append(grid);

  function headings() {
    head.replaceChildren(
      ...columns.map((column, k) => {
        const mine = order?.[0] === k,
          down = mine && order[1];
        return el(
          "th",
          {
            scope: "col",
            class: `${column.kind === "text" ? "" : "n"}${column.minor ? " minor" : ""}`,
            "aria-sort": mine ? (down ? "descending" : "ascending") : "none",
          },
          el(
            "button",
            {
              type: "button",
              title: "Sort",
              on: {
                click: () => {
                  order = mine ? [k, !down] : [k, column.kind !== "text"];
                  arrange();
                },
              },
            },
            column.title,
            mine ? (down ? " ▾" : " ▴") : "",
          ),
        );
      }),
    );
  }

  function arrange() {
    const text = filter.value.trim().toLowerCase();
    shown = rows.filter(
      (row) =>
        !text ||
        columns.some(
          (column) =>
            column.kind === "text" &&
            String(column.value(row) ?? "")
              .toLowerCase()
              .includes(text),
        ),
    );
    if (!text && !order && hidden) shown = shown.filter((row) => !hidden(row));
    if (order) {
      const { value } = columns[order[0]],
        sign = order[1] ? -1 : 1;
      shown = [...shown].sort((a, b) => sign * compare(value(a), value(b)));
    }
    told.textContent =
      shown.length === rows.length
        ? things(rows.length, "row")
        : `${count(shown.length)} of ${things(rows.length, "row")}`;
    headings();
    draw(true);
  }

  function line(row) {
    const linked = go && links(row);
    const cells = columns.map((column, k) => {
      const text = SHOW[column.kind](column.value(row)),
        content = column.cell?.(row, Boolean(order) || filter.value !== "") ?? text;
      const inner =
        k === 0 && linked && typeof content === "string"
          ? el("button", {
              class: "link",
              type: "button",
              title: "Show it on the timeline",
              text: content || "(without a name)",
            })
          : content;
      return el(
        "td",
        {
          class: `${column.kind === "text" ? "" : "n"}${column.minor ? " minor" : ""}`,
          title: column.kind === "text" ? String(column.value(row) ?? "") : null,
        },
        inner,
      );
    });
    return el(
      "tr",
      {
        class: linked ? "linked" : "",
        on: linked
          ? {
              click: (event) => {
                if (!event.target.closest("button:not(.link)") && !String(getSelection())) go(row);
              },
            }
          : {},
      },
      ...cells,
    );
  }

  let drawn = "";
  function draw(again) {
    const first = Math.max(0, Math.floor(scroller.scrollTop / HEIGHT) - EXTRA);
    const stop = Math.min(shown.length, first + Math.ceil((scroller.clientHeight || 600) / HEIGHT) + 2 * EXTRA);
    if (!again && drawn === `${first}-${stop}`) return;
    drawn = `${first}-${stop}`;
    const space = (lines) =>
      lines > 0
        ? el(
            "tr",
            { class: "space", "aria-hidden": "true" },
            el("td", { colspan: columns.length, style: { height: `${lines * HEIGHT}px` } }),
          )
        : null;
    body.replaceChildren(
      ...[space(first), ...shown.slice(first, stop).map(line), space(shown.length - stop)].filter(Boolean),
    );
    if (shown.length === 0)
      body.append(
        el(
          "tr",
          {},
          el("td", {
            class: "empty",
            colspan: columns.length,
            text: rows.length === 0 ? empty : "No row has this text: empty the filter to see all.",
          }),
        ),
      );
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(toText(columns, shown));
      told.textContent = `${things(shown.length, "row")} copied`;
    } catch {
      notify("The browser does not let this page copy. Save the table as CSV instead.");
    }
  }

  scroller.addEventListener("scroll", () => draw(false));
  new ResizeObserver(() => draw(false)).observe(scroller);
  return {
    box,
    fill: (all) => {
      rows = all;
      arrange();
    },
    again: arrange,
  };
}
