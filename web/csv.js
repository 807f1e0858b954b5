// Rows as text: for files (RFC 4180, the raw numbers) and for the clipboard (as they are shown).

import { el } from "./dom.js";

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** columns: [{key, value(row)}]. */
export function toCsv(columns, rows) {
  const lines = [columns.map((column) => column.key), ...rows.map((row) => columns.map((column) => column.value(row)))];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** columns: [{title, show(row)}]; with tabs, as spreadsheets take it. */
export function toText(columns, rows) {
  const lines = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => column.show(row))),
  ];
  return lines.map((cells) => cells.map((cell) => String(cell).replace(/[\t\r\n]/g, " ")).join("\t")).join("\n");
}

export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
